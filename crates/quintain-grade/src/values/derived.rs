//! What follows from a result without being written in it: how many items it lists, the sums of its columns, and what two
//! fields of one record make together.

use std::collections::HashMap;

use quintain_evidence::lexicon;
use serde_json::{Map, Value};

use super::date;
use super::embedded_json::embedded;
use super::token::{Kind, Number, Token, tokens};
use super::units::{self, Unit};

/// How a number follows from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Derivation {
    /// The number of items, or of those that are alike.
    Count,
    /// The sum or mean of a column, also of the rows that are alike.
    Sum,
    /// What two fields of one record make: product, difference, share.
    Pair,
    /// The seconds between two moments of one record.
    Seconds,
}

/// Longer lists are summed without being grouped.
const MAX_GROUPED: usize = 20_000;
const MAX_FIELDS: usize = 24;
const MAX_GROUPS: usize = 64;
const MAX_PAIRED: usize = 10;

/// A record in one level: fields with their numbers, and with the texts by which rows are grouped.
#[derive(Debug, Clone, Default)]
pub struct Record {
    numbers: Vec<(String, f64)>,
    labels: Vec<(String, String)>,
    moments: Vec<f64>,
}

impl Record {
    pub fn new(value: &Value) -> Self {
        let mut record = Self::default();
        record.add(value, "", 0);
        record
    }

    fn add(&mut self, value: &Value, name: &str, depth: usize) {
        if self.numbers.len() + self.labels.len() >= MAX_FIELDS {
            return;
        }
        match value {
            Value::Number(number) => {
                let value = number.as_f64().unwrap_or_default().abs();
                self.moments.extend(date::from_unix(value).map(|_| value));
                self.numbers.push((name.to_owned(), value));
            }
            Value::String(text) => {
                if let Some(inner) = embedded(text).filter(|_| depth < 3) {
                    self.add(&inner, name, depth + 1);
                } else if let Some(number) = number(text) {
                    self.numbers.push((name.to_owned(), number.readings.first.value));
                } else {
                    self.moments.extend(seconds(text));
                    if text.len() <= 80 {
                        self.labels.push((name.to_owned(), text.clone()));
                    }
                }
            }
            Value::Bool(flag) => self.labels.push((name.to_owned(), flag.to_string())),
            Value::Object(fields) if depth < 3 => {
                for (key, value) in fields {
                    self.add(value, &format!("{name}/{key}"), depth + 1);
                }
            }
            Value::Object(_) | Value::Array(_) | Value::Null => {}
        }
    }
}

/// A text that is a number and nothing else, perhaps with a unit.
pub fn number(text: &str) -> Option<Number> {
    let text = text.trim();
    if text.len() > 24 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match tokens(text).as_slice() {
        [token] => match &token.kind {
            // What is left apart from the number and its unit are symbols.
            Kind::Number(number) if token.start <= 4 => Some(*number),
            _ => None,
        },
        _ => None,
    }
}

/// A number that begins a short text: `100 rows`.
pub fn quantity(text: &str) -> Option<Number> {
    const MAX_TOKENS: usize = 3;
    let text = text.trim();
    if text.len() > 40 || !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let found = tokens(text);
    let (first, rest) = found.split_first()?;
    let Kind::Number(number) = &first.kind else { return None };
    let is_only =
        rest.len() < MAX_TOKENS && !text[first.end..].bytes().any(|byte| byte.is_ascii_digit());
    is_only.then_some(*number)
}

/// The seconds since a fixed moment that a time stamp means.
fn seconds(text: &str) -> Option<f64> {
    let (day, time, _) = date::timestamp(text.trim())?;
    Some(f64::from(day.number()?) * 86_400.0 + f64::from(time.unwrap_or(0)) * 60.0)
}

/// What follows from a list.
pub fn of_array(items: &[Value], emit: &mut impl FnMut(Derivation, f64)) {
    emit(Derivation::Count, items.len() as f64);
    if items.len() < 2 {
        return;
    }
    // The lists of all items together: the members of all groups.
    let mut lists: HashMap<&str, usize> = HashMap::new();
    for (key, list) in items.iter().take(MAX_GROUPED).filter_map(Value::as_object).flatten() {
        if let (Some(list), true) = (list.as_array(), lists.len() < MAX_FIELDS) {
            *lists.entry(key.as_str()).or_default() += list.len();
        }
    }
    lists.into_values().for_each(|count| emit(Derivation::Count, count as f64));
    let records: Vec<Record> = items.iter().take(MAX_GROUPED).map(Record::new).collect();
    of_rows(&records.iter().collect::<Vec<_>>(), emit);
}

/// What follows from the rows of a list besides their number.
pub fn of_rows(rows: &[&Record], emit: &mut impl FnMut(Derivation, f64)) {
    let mut columns: HashMap<String, Column> = HashMap::new();
    let mut groups: HashMap<(String, String), usize> = HashMap::new();
    let mut sums: HashMap<(String, String, String), f64> = HashMap::new();
    let mut products: HashMap<(String, String), f64> = HashMap::new();
    for record in rows {
        for (index, (name, value)) in record.numbers.iter().enumerate() {
            columns.entry(name.clone()).or_default().add(*value);
            for (other, factor) in record.numbers.iter().skip(index + 1).take(MAX_PAIRED) {
                *products.entry((name.clone(), other.clone())).or_default() += value * factor;
            }
        }
        for (name, label) in &record.labels {
            // Labels that are different everywhere group nothing.
            if groups.len() < MAX_GROUPS * MAX_FIELDS
                || groups.contains_key(&(name.clone(), label.clone()))
            {
                *groups.entry((name.clone(), label.clone())).or_default() += 1;
                if sums.len() < MAX_GROUPS * MAX_FIELDS {
                    for (column, value) in record.numbers.iter().take(MAX_PAIRED) {
                        *sums.entry((name.clone(), label.clone(), column.clone())).or_default() +=
                            value;
                    }
                }
            }
        }
    }
    columns.values().for_each(|column| column.emit(emit));
    products.into_values().for_each(|sum| emit(Derivation::Sum, sum));
    for count in groups.values() {
        if *count > 1 {
            emit(Derivation::Count, *count as f64);
            emit(Derivation::Count, (rows.len() - count) as f64);
        }
    }
    let mut distinct: HashMap<&str, usize> = HashMap::new();
    groups.keys().for_each(|(name, _)| *distinct.entry(name.as_str()).or_default() += 1);
    distinct.into_values().for_each(|count| emit(Derivation::Count, count as f64));
    sums.into_values().for_each(|sum| emit(Derivation::Sum, sum));
}

#[derive(Default)]
struct Column {
    sum: f64,
    count: usize,
    least: f64,
    most: f64,
    /// The first values, whose distances people name.
    head: Vec<f64>,
    last: f64,
}

/// Rows that are compared one by one.
const MAX_COMPARED: usize = 12;
/// Rows of which one is divided by the other.
const MAX_DIVIDED: usize = 5;

impl Column {
    fn add(&mut self, value: f64) {
        if self.count == 0 {
            (self.least, self.most) = (value, value);
        }
        self.sum += value;
        self.count += 1;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        self.last = value;
        if self.head.len() < MAX_COMPARED {
            self.head.push(value);
        }
    }

    fn emit(&self, emit: &mut impl FnMut(Derivation, f64)) {
        if self.count < 2 {
            return;
        }
        emit(Derivation::Sum, self.sum);
        emit(Derivation::Sum, self.sum / self.count as f64);
        emit(Derivation::Pair, self.most - self.least);
        let shares = self.head.iter().chain([&self.last, &self.most]).map(|value| value / self.sum);
        shares.filter(|share| share.is_finite()).for_each(|share| emit(Derivation::Pair, share));
        for (index, a) in self.head.iter().enumerate() {
            for b in self.head[index + 1..].iter().chain([&self.last]) {
                distances(*a, *b).into_iter().for_each(|value| emit(Derivation::Pair, value));
                // In longer lists, some quotient is always near.
                let quotients = [a / b, b / a].into_iter().filter(|value| value.is_finite());
                let few = quotients.filter(|_| self.count <= MAX_DIVIDED);
                few.for_each(|value| emit(Derivation::Pair, value));
            }
        }
    }
}

/// The distance of two numbers, also as a share of either.
pub fn distances(a: f64, b: f64) -> impl IntoIterator<Item = f64> {
    let apart = (a - b).abs();
    [apart, apart / a, apart / b].into_iter().filter(|value| value.is_finite())
}

/// What follows from two fields of one record.
pub fn of_object(fields: &Map<String, Value>, emit: &mut impl FnMut(Derivation, f64)) {
    if fields.len() > MAX_FIELDS * 2 {
        return;
    }
    let mut numbers = Vec::new();
    let mut rates = Vec::new();
    let mut moments = Vec::new();
    for (key, value) in fields {
        match value {
            Value::Number(number) => {
                let value = number.as_f64().map(f64::abs);
                rates.extend(value.filter(|_| is_rate(key)));
                numbers.extend(value);
            }
            Value::String(text) => {
                numbers.extend(number(text).map(|number| number.readings.first.value));
                moments.extend(seconds(text));
            }
            Value::Object(inner) => {
                let times = ["dateTime", "date", "date_time", "datetime"];
                let text = times.iter().find_map(|key| inner.get(*key)?.as_str());
                moments.extend(text.and_then(seconds));
            }
            _ => {}
        }
    }
    if numbers.len() > 2 {
        emit(Derivation::Sum, numbers.iter().sum());
    }
    numbers.truncate(MAX_PAIRED);
    moments.truncate(MAX_PAIRED);
    for (index, a) in numbers.iter().enumerate() {
        for b in &numbers[index + 1..] {
            for value in
                [a * b, a + b, (a - b).abs(), a / b, b / a, (a - b).abs() / a, (a - b).abs() / b]
            {
                if value.is_finite() {
                    emit(Derivation::Pair, value);
                }
            }
        }
    }
    for rate in rates.into_iter().take(MAX_PAIRED) {
        let amounts = numbers.iter().flat_map(|amount| at_rate(*amount, rate));
        amounts.for_each(|value| emit(Derivation::Pair, value));
    }
    for (index, a) in moments.iter().enumerate() {
        moments[index + 1..].iter().for_each(|b| emit(Derivation::Seconds, (a - b).abs()));
    }
}

/// An amount with a rate added and taken off: 100 at 0.19, or at 19 (percent).
fn at_rate(amount: f64, rate: f64) -> impl Iterator<Item = f64> {
    let share = if rate < 1.0 { rate } else { rate / 100.0 };
    let values = [amount * (1.0 + share), amount * (1.0 - share), amount / (1.0 + share)];
    values.into_iter().chain((rate > 1.0).then_some(amount * share))
}

/// Whether a key names a share of something.
fn is_rate(key: &str) -> bool {
    let names = [
        "rate",
        "percent",
        "percentage",
        "pct",
        "tax",
        "vat",
        "discount",
        "interest",
        "margin",
        "share",
        "tip",
        "surcharge",
        "markup",
    ];
    lexicon::words(key).iter().any(|word| names.contains(&word.as_str()))
}

/// What follows from a text of several lines: their number, and the sums of columns if it is a table or a list.
pub fn of_text(text: &str, found: &[Token<'_>], emit: &mut impl FnMut(Derivation, f64)) {
    of_elements(text, emit);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    if lines.len() < 2 {
        return;
    }
    emit(Derivation::Count, lines.len() as f64);
    emit(Derivation::Count, (lines.len() - 1) as f64);
    let bullets = lines.iter().filter(|line| is_item(line)).count();
    if bullets > 1 {
        emit(Derivation::Count, bullets as f64);
    }
    of_table(&lines, emit);
    // The first and the last number of each line are columns, too.
    let (mut first, mut last) = (Column::default(), Column::default());
    let (mut line_end, mut pending): (usize, Option<f64>) = (0, None);
    for token in found {
        let Kind::Number(number) = &token.kind else { continue };
        let value = number.readings.first.value;
        if token.start >= line_end {
            pending.into_iter().for_each(|value| last.add(value));
            first.add(value);
            line_end = text[token.start..].find('\n').map_or(text.len(), |at| token.start + at);
        }
        pending = Some(value);
    }
    pending.into_iter().for_each(|value| last.add(value));
    [first, last].iter().for_each(|column| column.emit(emit));
}

/// How many elements of each name a text in XML has.
fn of_elements(text: &str, emit: &mut impl FnMut(Derivation, f64)) {
    if !text.trim_start().starts_with('<') {
        return;
    }
    let mut elements: HashMap<&str, usize> = HashMap::new();
    for part in text.split('<').skip(1).take(MAX_GROUPED) {
        let end = part.find(|c: char| !c.is_alphanumeric() && !"_:.-".contains(c));
        let name = &part[..end.unwrap_or(part.len())];
        if !name.is_empty() && (elements.len() < MAX_GROUPS || elements.contains_key(name)) {
            *elements.entry(name).or_default() += 1;
        }
    }
    elements.into_values().filter(|count| *count > 1).for_each(|count| {
        emit(Derivation::Count, count as f64);
    });
}

/// The columns of lines with separators.
fn of_table(lines: &[&str], emit: &mut impl FnMut(Derivation, f64)) {
    let mark = ['|', '\t', ';', ','].into_iter().find(|mark| {
        let rows = lines.iter().filter(|line| line.contains(*mark)).count();
        rows >= 2 && rows * 2 > lines.len()
    });
    let Some(mark) = mark else { return };
    let mut columns: Vec<Column> = Vec::new();
    let mut rows = 0;
    for line in lines.iter().take(MAX_GROUPED) {
        rows += usize::from(line.contains(mark) && !line.contains("---"));
        let cells = line.trim().trim_matches(mark).split(mark);
        for (index, cell) in cells.enumerate().take(MAX_FIELDS) {
            if columns.len() <= index {
                columns.push(Column::default());
            }
            if let Some(value) = number(cell.trim().trim_matches('"')) {
                columns[index].add(value.readings.first.value);
            }
        }
    }
    if rows > 1 {
        emit(Derivation::Count, rows as f64);
        emit(Derivation::Count, (rows - 1) as f64);
    }
    columns.iter().for_each(|column| column.emit(emit));
}

/// Whether a line is an item of a list.
pub fn is_item(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t', '>']);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = digits > 0 && digits < 4 && line[digits..].starts_with(['.', ')']);
    numbered
        || ["- ", "* ", "+ ", "• ", "– ", "✅", "☑", "✓"].iter().any(|mark| line.starts_with(mark))
}

/// The unit of a number in a field: its own, or that of the field's name.
pub fn unit_of(key: Option<&str>, number: &Number) -> Option<Unit> {
    number.unit.or_else(|| key.and_then(units::of_key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn array(value: &Value) -> Vec<(Derivation, f64)> {
        let mut found = Vec::new();
        of_array(value.as_array().unwrap(), &mut |how, value| found.push((how, value)));
        found
    }

    #[test]
    fn lists_have_counts_and_sums_also_by_group() {
        let found = array(&json!([
            {"state": "open", "price": 10.5, "quantity": 2},
            {"state": "open", "price": "4.25", "quantity": 1},
            {"state": "closed", "price": 1, "quantity": 5},
        ]));
        for expected in [
            (Derivation::Count, 3.0),
            (Derivation::Count, 2.0),
            (Derivation::Count, 1.0),
            (Derivation::Sum, 15.75),
            (Derivation::Sum, 14.75),
            (Derivation::Sum, 5.25),
            (Derivation::Sum, 30.25),
        ] {
            assert!(found.contains(&expected), "{expected:?} in {found:?}");
        }
    }

    #[test]
    fn the_lists_of_all_items_are_counted_together() {
        let found = array(&json!([{"members": ["a", "b"]}, {"members": ["c", "d", "e"]}]));
        assert!(found.contains(&(Derivation::Count, 5.0)));
    }

    #[test]
    fn tables_and_lists_in_text_have_columns() {
        let collect = |text: &str| {
            let mut found = Vec::new();
            of_text(text, &tokens(text), &mut |how, value| found.push((how, value)));
            found
        };
        assert!(collect("name,qty\nnut,4\nbolt,6").contains(&(Derivation::Sum, 10.0)));
        assert!(collect("- Tea: $4.50\n- Bun: $3.25").contains(&(Derivation::Sum, 7.75)));
        assert!(collect("a\nb\nc").contains(&(Derivation::Count, 3.0)));
        assert!(collect("one line").is_empty());
        assert!(collect("<r><i a=\"1\"/><i/><i/></r>").contains(&(Derivation::Count, 3.0)));
    }

    #[test]
    fn two_moments_of_a_record_have_a_distance() {
        let mut found = Vec::new();
        let event = json!({"start": "2026-05-03T10:00:00Z", "end": "2026-05-03T10:45:00Z"});
        of_object(event.as_object().unwrap(), &mut |how, value| found.push((how, value)));
        assert_eq!(found, [(Derivation::Seconds, 2700.0)]);
    }

    #[test]
    fn rates_are_added_and_taken_off() {
        let mut found = Vec::new();
        let invoice = json!({"net": 200.0, "vat_rate": 0.19, "pages": 3});
        of_object(invoice.as_object().unwrap(), &mut |_, value| found.push(value));
        let has = |value: f64| found.iter().any(|one| (one - value).abs() < 1e-9);
        assert!(has(238.0) && has(162.0) && !has(206.0));
    }

    #[test]
    fn few_rows_are_divided_and_have_shares() {
        let found = array(&json!([5, 7, 8]));
        assert!(
            found.contains(&(Derivation::Pair, 1.4)) && found.contains(&(Derivation::Pair, 0.4))
        );
        let long = array(&json!([1, 2, 3, 4, 5, 7]));
        assert!(!long.contains(&(Derivation::Pair, 1.4)));
    }
}
