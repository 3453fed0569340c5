//! All values of a trace, each with the first step at which the application could know it. Built once; checks ask it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher as _};

use quintain_evidence::trace::{Args, Call, CallOutcome, Role, Trace, TraceStep};
use serde_json::Value;

use super::date::{self, Day, Minutes};
use super::derived::{self, Derivation};
use super::shape;
use super::token::{Kind, Number, Token, Written, tokens};
use super::units::{self, Dimension, Unit};

/// More text is not read; checks that would miss it do not apply then.
const MAX_TEXT: usize = 24 << 20;
const MAX_DEPTH: usize = 100;
/// Results of one tool that are compared with each other.
const MAX_SERIES: usize = 32;
const NEVER: u32 = u32::MAX;

/// What is known in a trace, and since when.
pub struct Known {
    words: HashMap<u64, u32>,
    /// Sorted by table and value.
    numbers: Vec<Entry>,
    days: HashMap<i32, u32>,
    /// Month and day of every day.
    month_days: HashMap<(u8, u8), u32>,
    /// Days whose year is not given.
    yearless: HashMap<(u8, u8), u32>,
    /// Months that are named without a day; year 0 stands for any.
    months: HashMap<(i32, u8), u32>,
    /// Years that the user names by themselves.
    years: HashMap<i32, u32>,
    times: Vec<u32>,
    phone_ends: HashMap<u64, u32>,
    phones: HashMap<u64, u32>,
    relative_day: u32,
    relative_time: u32,
    zone: u32,
    /// Endings of files that the user names.
    endings: HashMap<u64, u32>,
    /// The longest list so far.
    longest: Vec<(u32, usize)>,
    /// Numbers of the user and of the developer.
    asked: Vec<(u32, f64)>,
    /// The step from which on values are missing here.
    cut_from: u32,
}

struct Entry {
    table: Table,
    value: f64,
    step: u32,
}

/// Numbers are looked for in one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Table {
    /// As written.
    Written,
    /// As written, without a unit.
    Bare,
    /// In the base unit.
    Measured(Dimension),
    Derived(Derivation),
}

/// How a number is looked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Search {
    /// Rounded numbers do not count: it is an id.
    pub exact: bool,
    /// The same amount in another unit counts.
    pub units: bool,
    /// Sums and means of columns count.
    pub sums: bool,
    /// Counts of listed items count.
    pub counts: bool,
    /// What two fields of a record make counts.
    pub pairs: bool,
    /// The text says that it is not exact: `about 1,200`.
    pub rough: bool,
}

impl Known {
    pub fn new(trace: &Trace) -> Self {
        let mut builder = Builder {
            relative_day: NEVER,
            relative_time: NEVER,
            zone: NEVER,
            cut_from: NEVER,
            times: vec![NEVER; 24 * 60],
            ..Builder::default()
        };
        for server in &trace.servers {
            for listing in &server.listings {
                for resource in listing.resources.iter().flatten() {
                    builder.step = u32::try_from(listing.from).unwrap_or(NEVER);
                    builder.json(resource.raw(), None, 0);
                }
            }
        }
        // What the application says counts once the user had the chance to object.
        let mut said: Vec<&str> = Vec::new();
        for (step, entry) in trace.steps.iter().enumerate() {
            builder.step = u32::try_from(step).unwrap_or(NEVER);
            match entry {
                TraceStep::Message(message) if message.role == Role::Assistant => {
                    said.push(&message.text);
                }
                TraceStep::Message(message) => {
                    builder.origin =
                        if message.role == Role::User { Origin::User } else { Origin::Developer };
                    builder.text(&message.text);
                    builder.origin = Origin::Data;
                    said.drain(..).for_each(|text| builder.text(text));
                }
                TraceStep::Call(call) => builder.call(call),
            }
        }
        builder.finish()
    }

    /// Whether all values before a step are here.
    pub fn is_whole(&self, before: usize) -> bool {
        self.cut_from as usize >= before
    }

    /// Whether a text was known, without regard to case.
    pub fn word(&self, text: &str, before: usize) -> bool {
        is_before(self.words.get(&hash(text)), before)
    }

    /// Whether a part of a name was known: as a whole, without its ending, or all its words.
    pub fn part(&self, text: &str, before: usize) -> bool {
        let text = shape::unescaped(text);
        if self.word(&text, before) {
            return true;
        }
        let stem = match shape::extension(&text) {
            Some(ending) => &text[..text.len() - ending.len() - 1],
            None => &*text,
        };
        let mut words =
            stem.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
        words.peek().is_some()
            && words.all(|word| {
                self.word(word, before)
                    || self.word(word.trim_start_matches('0'), before) && word.len() > 1
                    || word.len() == 1 && word.bytes().all(|byte| byte.is_ascii_alphabetic())
            })
    }

    pub fn number(&self, number: &Number, before: usize, search: Search) -> bool {
        let readings = number.readings;
        readings.iter().any(|reading| {
            let (value, mut place) = (reading.value, reading.place);
            if search.rough {
                place = rough_place(value, place);
            }
            // The less likely reading must be written somewhere.
            let is_first = reading == readings.first;
            let search = if is_first {
                search
            } else {
                Search { sums: false, counts: false, pairs: false, ..search }
            };
            self.value(value, place, number.unit, before, search)
        })
    }

    fn value(
        &self,
        value: f64,
        place: f64,
        unit: Option<Unit>,
        before: usize,
        search: Search,
    ) -> bool {
        let range = |factor: f64| {
            let (value, place) = (value * factor, if search.exact { 0.0 } else { place * factor });
            let slack = value.abs().max(1.0) * 1e-9;
            // Roughly means to one side or the other; otherwise the last place is rounded or cut off.
            let (below, above) =
                if search.rough { (place, place) } else { (place / 2.0, place * 0.999) };
            // Whole numbers are rounded, not cut off: 4.7 is not "4".
            let above = if search.rough || place < factor { above } else { place / 2.0 };
            (value - below - slack, value + above + slack)
        };
        let has = |table: Table, factor: f64| {
            let (low, high) = range(factor);
            self.is_in(table, low, high, before)
        };
        if has(Table::Written, 1.0) || place >= 1.0 && self.word(&format!("{value:.0}"), before) {
            return true;
        }
        let dimension = unit.map(|unit| unit.dimension);
        if dimension == Some(Dimension::Percent)
            && (has(Table::Written, 0.01) || has(Table::Bare, 0.01))
        {
            return true;
        }
        if search.sums && has(Table::Derived(Derivation::Sum), 1.0) {
            return true;
        }
        if search.pairs {
            let share = if dimension == Some(Dimension::Percent) { 0.01 } else { 1.0 };
            if has(Table::Derived(Derivation::Pair), share) {
                return true;
            }
        }
        if search.counts
            && dimension.is_none()
            && place >= 1.0
            && has(Table::Derived(Derivation::Count), 1.0)
        {
            return true;
        }
        search.units && self.converted(value, place, unit, before, search, &has)
    }

    /// Whether an amount was known in another unit.
    fn converted(
        &self,
        value: f64,
        place: f64,
        unit: Option<Unit>,
        before: usize,
        search: Search,
        has: &impl Fn(Table, f64) -> bool,
    ) -> bool {
        let Some(unit) = unit else {
            // Prices are often kept in cents.
            return (place - 0.01).abs() < 1e-12 && has(Table::Bare, 100.0);
        };
        if has(Table::Measured(unit.dimension), unit.size) {
            return true;
        }
        if unit.dimension == Dimension::Time && has(Table::Derived(Derivation::Seconds), unit.size)
        {
            return true;
        }
        if unit.dimension == Dimension::Data {
            let binary = [
                (1e3, 1024.0),
                (1e6, 1_048_576.0),
                (1e9, 1_073_741_824.0),
                (1e12, 1_099_511_627_776.0),
            ];
            let found = binary.iter().find(|(size, _)| (size - unit.size).abs() < 0.5);
            if found.is_some_and(|(_, size)| has(Table::Measured(unit.dimension), *size)) {
                return true;
            }
        }
        if unit.dimension == Dimension::Temperature {
            let half = place.max(1.0) / 2.0 + 1e-9;
            let others = [
                (value - 32.0) * 5.0 / 9.0,
                value * 9.0 / 5.0 + 32.0,
                value - 273.15,
                value + 273.15,
            ];
            return others.iter().any(|other| {
                self.is_in(Table::Written, other.abs() - half, other.abs() + half, before)
            });
        }
        let sums = search.sums.then_some(Table::Derived(Derivation::Sum));
        let tables = [Some(Table::Bare), sums];
        // Only large amounts are given in thousands or millions.
        let is_usual = |factor: f64| {
            (factor - 1.0).abs() > 1e-12
                && (unit.dimension != Dimension::Money || factor > 1.0 || value >= 1e5)
        };
        let mut factors = units::factors(unit.dimension).iter().filter(|factor| is_usual(**factor));
        factors.any(|factor| tables.iter().flatten().any(|table| has(*table, *factor)))
    }

    fn is_in(&self, table: Table, low: f64, high: f64, before: usize) -> bool {
        self.first_in(table, low, high).is_some_and(|step| (step as usize) < before)
    }

    /// The first step of a number in a range.
    fn first_in(&self, table: Table, low: f64, high: f64) -> Option<u32> {
        let from = self.numbers.partition_point(|entry| {
            entry.table.cmp(&table).then(entry.value.total_cmp(&low)).is_lt()
        });
        let range = self.numbers[from..].iter();
        let range = range.take_while(|entry| entry.table == table && entry.value <= high);
        // Only crowded ranges have more; in them, something is always near.
        range.take(256).map(|entry| entry.step).min()
    }

    /// The step at which a text was first known.
    pub fn since(&self, text: &str) -> Option<usize> {
        self.words.get(&hash(text)).map(|step| *step as usize)
    }

    /// The step at which a number was first known, perhaps rounded or in another unit.
    pub fn number_since(&self, number: &Number) -> Option<usize> {
        let unit = number.unit;
        let steps = number.readings.iter().flat_map(|reading| {
            // Small whole numbers are near to too much.
            let is_small = reading.place >= 1.0 && reading.value < 10.0;
            let half = if is_small { 0.0 } else { reading.place / 2.0 } + reading.value * 1e-9;
            let near = |table: Table, factor: f64| {
                let (value, half) = (reading.value * factor, half * factor);
                self.first_in(table, value - half, value + half)
            };
            let measured = unit.and_then(|unit| near(Table::Measured(unit.dimension), unit.size));
            let share = unit.filter(|unit| unit.dimension == Dimension::Percent);
            let share = share.and_then(|_| near(Table::Written, 0.01));
            let sum = near(Table::Derived(Derivation::Sum), 1.0);
            [near(Table::Written, 1.0).or(measured).or(share).or(sum)]
        });
        steps.flatten().min().map(|step| step as usize)
    }

    /// The step at which a list first had this number of items.
    pub fn count_since(&self, count: f64) -> Option<usize> {
        self.first_in(Table::Derived(Derivation::Count), count - 0.1, count + 0.1)
            .map(|step| step as usize)
    }

    pub fn day_since(&self, day: Day) -> Option<usize> {
        let days = day.number().and_then(|number| self.days.get(&number));
        days.or_else(|| self.month_days.get(&(day.month, day.day))).map(|step| *step as usize)
    }

    pub fn time_since(&self, time: Minutes) -> Option<usize> {
        self.times.get(usize::from(time)).filter(|step| **step != NEVER).map(|step| *step as usize)
    }

    /// How many words and numbers were first known at each step.
    pub fn fresh(&self) -> HashMap<usize, usize> {
        let mut fresh = HashMap::new();
        for step in self.words.values() {
            *fresh.entry(*step as usize).or_default() += 1;
        }
        fresh
    }

    /// Whether a value lies near one that was written, for sums and products.
    pub fn is_written(&self, value: f64, tolerance: f64, before: usize) -> bool {
        value.is_finite()
            && self.is_in(Table::Written, value - tolerance, value + tolerance, before)
    }

    pub fn day(&self, day: Day, before: usize) -> bool {
        match day.number() {
            Some(number) => {
                is_before(self.days.get(&number), before)
                    || is_before(self.yearless.get(&(day.month, day.day)), before)
            }
            None => is_before(self.month_days.get(&(day.month, day.day)), before),
        }
    }

    /// Whether a day is at a distance from one that was known.
    pub fn day_number(&self, number: i32, before: usize) -> bool {
        is_before(self.days.get(&number), before)
    }

    pub fn month(&self, year: Option<i32>, month: u8, before: usize) -> bool {
        let keys = [(year.unwrap_or(0), month), (0, month)];
        keys.iter().any(|key| is_before(self.months.get(key), before))
    }

    pub fn year(&self, year: i32, before: usize) -> bool {
        is_before(self.years.get(&year), before)
    }

    pub fn time(&self, time: Minutes, before: usize) -> bool {
        is_before(self.times.get(usize::from(time)), before)
    }

    /// The times of day that were known.
    pub fn times(&self, before: usize) -> impl Iterator<Item = Minutes> {
        let known =
            self.times.iter().enumerate().filter(move |(_, step)| (**step as usize) < before);
        known.filter_map(|(time, _)| Minutes::try_from(time).ok())
    }

    /// Some of the days that were known.
    pub fn some_days(&self, before: usize) -> Vec<i32> {
        let known = self.days.iter().filter(|(_, step)| (**step as usize) < before);
        let mut days: Vec<i32> = known.map(|(day, _)| *day).collect();
        days.sort_unstable();
        days.truncate(64);
        days
    }

    pub fn phone(&self, digits: &str, before: usize) -> bool {
        let digits = digits.trim_start_matches('0');
        if digits.len() < 6 {
            return false;
        }
        let end = &digits[digits.len() - digits.len().min(9)..];
        let shorter = (7..=digits.len()).any(|length| {
            is_before(self.phones.get(&hash(&digits[digits.len() - length..])), before)
        });
        is_before(self.phone_ends.get(&hash(end)), before) || shorter
    }

    /// Whether the user left a day to the application: `tomorrow`, `next week`.
    pub fn leaves_day_open(&self, before: usize) -> bool {
        (self.relative_day as usize) < before
    }

    pub fn leaves_time_open(&self, before: usize) -> bool {
        (self.relative_time as usize) < before
    }

    /// Whether a time zone plays a part.
    pub fn has_zone(&self, before: usize) -> bool {
        (self.zone as usize) < before
    }

    /// Whether the user named a file of this type.
    pub fn named_file(&self, ending: &str, before: usize) -> bool {
        is_before(self.endings.get(&hash(ending)), before)
    }

    pub fn longest_list(&self, before: usize) -> usize {
        self.longest
            .iter()
            .take_while(|(step, _)| (*step as usize) < before)
            .last()
            .map_or(0, |(_, length)| *length)
    }

    /// Numbers of the user and of the developer.
    pub fn asked(&self, before: usize) -> impl Iterator<Item = f64> {
        self.asked
            .iter()
            .take_while(move |(step, _)| (*step as usize) < before)
            .map(|(_, value)| *value)
    }
}

fn is_before(step: Option<&u32>, before: usize) -> bool {
    step.is_some_and(|step| (*step as usize) < before)
}

/// What one is worth in the last place that is not zero, if a number is not exact.
fn rough_place(value: f64, place: f64) -> f64 {
    let mut place = place;
    while value >= place * 20.0 && (value / (place * 10.0)).fract().abs() < 1e-9 {
        place *= 10.0;
    }
    // `about 1,180` for 1,183, `nearly 50` for 48.
    place.max(value * 0.02)
}

/// The same for texts that differ in the case of letters only.
fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let is_lower = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if text.bytes().all(is_lower) {
        hasher.write(text.as_bytes());
    } else {
        hasher.write(text.to_lowercase().as_bytes());
    }
    hasher.finish()
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Origin {
    User,
    Developer,
    #[default]
    Data,
}

#[derive(Default)]
struct Builder {
    step: u32,
    origin: Origin,
    scanned: usize,
    words: HashMap<u64, u32>,
    numbers: HashMap<(Table, u64), u32>,
    /// What one field has in all results of a tool.
    series: HashMap<u64, Vec<f64>>,
    days: HashMap<i32, u32>,
    month_days: HashMap<(u8, u8), u32>,
    yearless: HashMap<(u8, u8), u32>,
    months: HashMap<(i32, u8), u32>,
    years: HashMap<i32, u32>,
    times: Vec<u32>,
    phone_ends: HashMap<u64, u32>,
    phones: HashMap<u64, u32>,
    relative_day: u32,
    relative_time: u32,
    zone: u32,
    endings: HashMap<u64, u32>,
    longest: Vec<(u32, usize)>,
    asked: Vec<(u32, f64)>,
    cut_from: u32,
}

impl Builder {
    fn finish(self) -> Known {
        let entry = |((table, bits), step): ((Table, u64), u32)| Entry {
            table,
            value: f64::from_bits(bits),
            step,
        };
        let mut numbers: Vec<Entry> = self.numbers.into_iter().map(entry).collect();
        numbers.sort_by(|a, b| a.table.cmp(&b.table).then(a.value.total_cmp(&b.value)));
        Known {
            words: self.words,
            numbers,
            days: self.days,
            month_days: self.month_days,
            yearless: self.yearless,
            months: self.months,
            years: self.years,
            times: self.times,
            phone_ends: self.phone_ends,
            phones: self.phones,
            relative_day: self.relative_day,
            relative_time: self.relative_time,
            zone: self.zone,
            endings: self.endings,
            longest: self.longest,
            asked: self.asked,
            cut_from: self.cut_from,
        }
    }

    fn call(&mut self, call: &Call) {
        self.text(&call.name);
        match &call.args {
            Args::Json(value) => self.json(value, None, 0),
            Args::Invalid(text) => self.text(text),
            Args::Unknown => {}
        }
        match &call.outcome {
            CallOutcome::Result(value) => {
                self.json(value, None, 0);
                let start = hash(&call.name);
                self.series(value, start, 0);
            }
            CallOutcome::Error { message, data, .. } => {
                self.text(message);
                data.iter().for_each(|data| self.json(data, None, 0));
            }
            CallOutcome::Unknown => {}
        }
    }

    fn json(&mut self, value: &Value, key: Option<&str>, depth: usize) {
        if depth > MAX_DEPTH {
            self.cut_from = self.cut_from.min(self.step);
            return;
        }
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                self.scanned += 8;
                if let Some(value) = number.as_f64() {
                    self.number(&Number::of(value), key);
                }
                self.word(&number.to_string());
            }
            Value::String(text) => match embedded(text) {
                Some(inner) => self.json(&inner, key, depth + 1),
                None => self.string(text, key),
            },
            Value::Array(items) => {
                items.iter().for_each(|item| self.json(item, key, depth + 1));
                derived::of_array(items, &mut |how, value| self.derived(how, value));
                self.list(items.len());
            }
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.scanned += key.len();
                    self.named(key);
                    self.json(value, Some(key), depth + 1);
                }
                derived::of_object(fields, &mut |how, value| self.derived(how, value));
            }
        }
    }

    /// Adds up what a tool returned under the same name in several results.
    fn series(&mut self, value: &Value, path: u64, depth: usize) {
        if depth > 8 || self.series.len() > 10_000 {
            return;
        }
        let number = match value {
            Value::Number(number) => number.as_f64().map(f64::abs),
            Value::String(text) => match embedded(text) {
                Some(inner) => return self.series(&inner, path, depth + 1),
                None => derived::number(text).map(|number| number.readings.first.value),
            },
            Value::Array(items) if items.len() == 1 => {
                return self.series(&items[0], path, depth + 1);
            }
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.series(value, path ^ hash(key).rotate_left(7), depth + 1);
                }
                None
            }
            _ => None,
        };
        if let Some(number) = number {
            let values = self.series.entry(path).or_default();
            if values.len() >= MAX_SERIES {
                return;
            }
            let pairs: Vec<f64> =
                values.iter().flat_map(|other| derived::distances(*other, number)).collect();
            values.push(number);
            let (sum, count) = (values.iter().sum::<f64>(), values.len());
            if count > 1 {
                self.derived(Derivation::Sum, sum);
                self.derived(Derivation::Sum, sum / count as f64);
            }
            pairs.into_iter().for_each(|value| self.derived(Derivation::Pair, value));
        }
    }

    fn list(&mut self, length: usize) {
        if self.longest.last().is_none_or(|(_, longest)| *longest < length) {
            self.longest.push((self.step, length));
        }
    }

    /// A text in JSON: as prose, and as a whole.
    fn string(&mut self, text: &str, key: Option<&str>) {
        if let Some(number) = derived::number(text) {
            self.scanned += text.len();
            self.number(&number, key);
        }
        if text.len() <= 200 {
            self.word(text);
        }
        self.text(text);
    }

    fn text(&mut self, text: &str) {
        self.scanned += text.len();
        if self.scanned > MAX_TEXT {
            self.cut_from = self.cut_from.min(self.step);
            return;
        }
        // Results that were printed by a program keep their escapes.
        let plain;
        let is_escaped = text.contains("\\n") || text.contains("\\\"");
        // A path of Windows has no escapes.
        let text = if is_escaped && !text.contains(":\\") {
            plain = text
                .replace("\\n", "\n")
                .replace("\\t", " ")
                .replace("\\\"", "\"")
                .replace("\\'", "'");
            &plain
        } else {
            text
        };
        let found = tokens(text);
        if self.origin != Origin::Data {
            self.relative(&found);
        }
        found.iter().for_each(|token| self.token(token));
        if self.origin == Origin::Data {
            derived::of_text(text, &found, &mut |how, value| self.derived(how, value));
            self.list(text.lines().filter(|line| !line.trim().is_empty()).count());
        }
    }

    /// What only the words of people mean.
    fn relative(&mut self, found: &[Token<'_>]) {
        let mut last = String::new();
        for (index, token) in found.iter().enumerate() {
            if let Some(ending) = shape::extension(token.text).filter(|_| token.kind == Kind::Path)
            {
                self.endings.entry(hash(ending)).or_insert(self.step);
            }
            let word = token.text.to_lowercase();
            let is_user = self.origin == Origin::User;
            if let Some(first) = date::quarter(&word) {
                let year =
                    found.get(index + 1).and_then(|next| date::full_year(next.text)).unwrap_or(0);
                (first..first + 3).for_each(|month| {
                    self.months.entry((year, month)).or_insert(self.step);
                });
            }
            if is_user && (date::is_relative(&word) || date::is_relative_pair(&last, &word)) {
                self.relative_day = self.relative_day.min(self.step);
            }
            if is_user && (date::is_relative_time(&word) || date::is_relative(&word)) {
                self.relative_time = self.relative_time.min(self.step);
            }
            if let Kind::Number(number) = &token.kind {
                let spans = number.unit.is_some_and(|unit| {
                    unit.dimension == Dimension::Time
                        && unit.size >= 3600.0
                        && matches!(last.as_str(), "in" | "last" | "past" | "next" | "within")
                });
                if is_user && spans {
                    self.relative_day = self.relative_day.min(self.step);
                    self.relative_time = self.relative_time.min(self.step);
                }
                let readings = number.readings.first;
                if self.asked.len() < 32 && number.written != Written::Ordinal {
                    self.asked.push((self.step, readings.value));
                }
                if is_user && readings.place >= 1.0 && (1900.0..2101.0).contains(&readings.value) {
                    self.years.entry(readings.value as i32).or_insert(self.step);
                }
            }
            last = word;
        }
    }

    fn word(&mut self, text: &str) {
        self.words.entry(hash(text)).or_insert(self.step);
    }

    /// A name, and its words.
    fn named(&mut self, text: &str) {
        self.word(text);
        if text.bytes().any(|byte| !byte.is_ascii_alphanumeric()) {
            for part in text.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
                self.word(part);
                let digits = part.trim_start_matches('0');
                if digits.len() < part.len() {
                    self.word(digits);
                }
            }
        }
    }

    fn token(&mut self, token: &Token<'_>) {
        self.named(token.text);
        match &token.kind {
            Kind::Number(number) => self.number(number, None),
            Kind::Days(days) => days.iter().for_each(|day| self.day(*day)),
            Kind::Month(year, month) => {
                self.months.entry((year.unwrap_or(0), *month)).or_insert(self.step);
                year.iter().for_each(|year| self.word(&year.to_string()));
            }
            Kind::Time(time) => self.time(*time),
            Kind::Url => self.url(token.text),
            Kind::Path => self.path(token.text),
            Kind::Phone(digits) => self.phone(digits),
            Kind::Id => self.id(token.text),
            Kind::Email | Kind::Word => {}
        }
        let zoned = matches!(token.kind, Kind::Days(_))
            && date::timestamp(token.text).is_some_and(|(_, _, zoned)| zoned);
        if zoned
            || matches!(
                token.text,
                "UTC"
                    | "GMT"
                    | "EST"
                    | "EDT"
                    | "PST"
                    | "PDT"
                    | "CET"
                    | "CEST"
                    | "timezone"
                    | "timeZone"
            )
        {
            self.zone = self.zone.min(self.step);
        }
    }

    fn put(&mut self, table: Table, value: f64) {
        if value.is_finite() {
            let value = value.abs();
            self.numbers.entry((table, (value + 0.0).to_bits())).or_insert(self.step);
        }
    }

    fn derived(&mut self, how: Derivation, value: f64) {
        self.put(Table::Derived(how), value);
    }

    fn number(&mut self, number: &Number, key: Option<&str>) {
        let unit = derived::unit_of(key, number);
        for reading in number.readings.iter() {
            let value = reading.value;
            self.put(Table::Written, value);
            match unit {
                Some(unit) => {
                    self.put(Table::Measured(unit.dimension), value * unit.size);
                    if unit.dimension == Dimension::Percent {
                        self.put(Table::Written, value * 0.01);
                    }
                    // Prices may be sent in cents.
                    if unit == units::MONEY && reading.place >= 0.01 && number.unit.is_some() {
                        self.put(Table::Written, (value * 100.0).round());
                    }
                }
                None => self.put(Table::Bare, value),
            }
        }
        let first = number.readings.first;
        if first.place >= 1.0 && first.value < 1e15 {
            self.word(&format!("{:.0}", first.value));
            if first.value >= 1e8 {
                self.phone(&format!("{:.0}", first.value));
            }
        }
        if let Some((day, time)) = date::from_unix(first.value) {
            self.day(day);
            // The day of another time zone.
            if let Some(number) = day.number() {
                self.days.entry(number - 1).or_insert(self.step);
                self.days.entry(number + 1).or_insert(self.step);
            }
            self.time(time);
            self.zone = self.zone.min(self.step);
        }
        if first.place >= 1.0 && (19_000_101.0..22_000_000.0).contains(&first.value) {
            date::days(&format!("{:.0}", first.value)).into_iter().for_each(|day| self.day(day));
        }
    }

    fn day(&mut self, day: Day) {
        self.month_days.entry((day.month, day.day)).or_insert(self.step);
        match day.number() {
            Some(number) => {
                self.days.entry(number).or_insert(self.step);
                if let Some(year) = day.year {
                    self.put(Table::Written, f64::from(year));
                    self.word(&year.to_string());
                    self.months.entry((year, day.month)).or_insert(self.step);
                }
            }
            None => {
                self.yearless.entry((day.month, day.day)).or_insert(self.step);
            }
        }
    }

    fn time(&mut self, time: Minutes) {
        if let Some(step) = self.times.get_mut(usize::from(time)) {
            *step = (*step).min(self.step);
        }
        // It may be a duration, too.
        self.put(Table::Measured(Dimension::Time), f64::from(time) * 60.0);
    }

    fn url(&mut self, url: &str) {
        let parts = shape::url_parts(url);
        self.word(&format!("{}{}", parts.host, parts.path.trim_end_matches('/')));
        self.named(&parts.host);
        for segment in shape::segments(parts.path).take(64) {
            let segment = shape::unescaped(segment);
            self.named(&segment);
            self.id(&segment);
        }
        for value in parts
            .query
            .split('&')
            .take(64)
            .filter_map(|pair| pair.split_once('='))
            .map(|(_, value)| value)
        {
            let value = shape::unescaped(value);
            self.named(&value);
        }
        self.path(parts.path);
    }

    fn path(&mut self, path: &str) {
        let plain = shape::plain_path(path);
        self.word(&plain);
        for (at, _) in plain.match_indices('/').skip(1).take(32) {
            self.word(&plain[..at]);
        }
        for segment in shape::segments(path).take(64) {
            self.named(segment);
            if let Some(ending) = shape::extension(segment) {
                self.word(&segment[..segment.len() - ending.len() - 1]);
            }
        }
    }

    fn phone(&mut self, digits: &str) {
        let digits = digits.trim_start_matches('0');
        self.phones.entry(hash(digits)).or_insert(self.step);
        for length in 6..=digits.len().min(10) {
            self.phone_ends.entry(hash(&digits[digits.len() - length..])).or_insert(self.step);
        }
    }

    fn id(&mut self, text: &str) {
        if let Some(seconds) = date::iso_duration(text) {
            self.put(Table::Measured(Dimension::Time), seconds);
        }
        if let Some(uuid) = shape::uuid(text) {
            self.word(&uuid);
        }
        // `2507.12806v1` is a version of `2507.12806`.
        let version = text.trim_end_matches(|c: char| c.is_ascii_digit());
        if let Some(plain) = version.strip_suffix(['v', 'V']).filter(|plain| plain.len() > 3) {
            self.word(plain);
        }
        for part in text.split(|c: char| !c.is_ascii_alphanumeric()).chain([text]) {
            if part.len() >= 8 && shape::is_hex(part) {
                (6..=12.min(part.len())).for_each(|length| self.word(&part[..length]));
            }
        }
    }
}

/// JSON that is written as a text.
pub fn embedded(text: &str) -> Option<Value> {
    let text = text.trim();
    let framed = text.starts_with('{') && text.ends_with('}')
        || text.starts_with('[') && text.ends_with(']');
    if !framed || text.len() > MAX_TEXT {
        return None;
    }
    serde_json::from_str(text).ok()
}
