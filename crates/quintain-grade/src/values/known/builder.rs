//! Collects the values of a trace, step by step.

mod pages;
mod record;

use quintain_evidence::trace::{Args, Call, CallOutcome, Role, Trace, TraceStep};
use serde_json::Value;

use self::pages::Pages;
use super::super::embedded_json::{MAX_TEXT, embedded};
use super::super::groups;
use super::{Entry, Known, NEVER, Table};
use crate::fast_hash::{FastMap, caseless as hash};
use crate::values::date;
use crate::values::derived::{self, Derivation};
use crate::values::token::{Kind, Number, Token, Written, tokens};
use crate::values::units::Dimension;
use crate::values::{shape, spaced};

const MAX_DEPTH: usize = 100;
/// Results of one tool that are compared with each other.
const MAX_SERIES: usize = 32;

/// Labels of test cases that contain what the application knew besides the conversation.
const CONTEXTS: [&str; 5] =
    ["context", "retrieval_context", "retrievalContext", "chatbot_role", "chatbotRole"];

/// All values of a trace, whose steps count in the given order.
pub(super) fn build(trace: &Trace, order: impl Iterator<Item = usize>) -> Known {
    let mut builder = Builder {
        relative_day: NEVER,
        relative_time: NEVER,
        zone: NEVER,
        cut_from: NEVER,
        times: vec![NEVER; 24 * 60],
        pages: Pages::new(trace),
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
    builder.step = 0;
    for label in CONTEXTS.iter().filter_map(|key| trace.labels.get(*key)) {
        builder.json(label, None, 0);
    }
    // What the application says counts once the user had the chance to object.
    let mut said: Vec<&str> = Vec::new();
    for (place, step) in order.enumerate() {
        let Some(entry) = trace.steps.get(step) else { continue };
        builder.step = u32::try_from(place).unwrap_or(NEVER);
        match entry {
            TraceStep::Message(message) if message.role == Role::Assistant => {
                builder.derive_pages();
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
    builder.derive_pages();
    builder.finish()
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
    words: FastMap<u64, u32>,
    numbers: FastMap<(Table, u64), u32>,
    /// What one field has in all results of a tool.
    series: FastMap<u64, Vec<f64>>,
    /// How many items a tool listed under the same name in all results.
    counts: FastMap<u64, usize>,
    days: FastMap<i32, u32>,
    month_days: FastMap<(u8, u8), u32>,
    yearless: FastMap<(u8, u8), u32>,
    months: FastMap<(i32, u8), u32>,
    years: FastMap<i32, u32>,
    times: Vec<u32>,
    phone_ends: FastMap<u64, u32>,
    phones: FastMap<u64, u32>,
    relative_day: u32,
    relative_time: u32,
    zone: u32,
    endings: FastMap<u64, u32>,
    longest: Vec<(u32, usize)>,
    asked: Vec<(u32, f64)>,
    cut_from: u32,
    pages: Pages,
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
        let mut first_days: Vec<(u32, i32)> =
            self.days.iter().map(|(day, step)| (*step, *day)).collect();
        first_days.sort_unstable();
        first_days.truncate(64);
        let months = self.months.iter().filter(|((year, _), _)| *year == 0).map(|(_, step)| step);
        let year_open = self.yearless.values().chain(months).min().copied().unwrap_or(NEVER);
        Known {
            first_days,
            year_open,
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
                self.add_page(call);
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
        if let Value::Array(items) = value {
            // The pages of one list add up.
            let count = self.counts.entry(path).or_insert(0);
            *count += items.len();
            let count = *count as f64;
            self.derived(Derivation::Count, count);
        }
        let number = match value {
            Value::Number(number) => number.as_f64().map(f64::abs),
            Value::String(text) => match embedded(text) {
                Some(inner) => return self.series(&inner, path, depth + 1),
                None => derived::number(text)
                    .or_else(|| derived::quantity(text))
                    .map(|number| number.readings.first.value),
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
        // `LX 1073` is `LX1073` as well.
        for pair in found.windows(2) {
            let [first, second] = pair else { continue };
            let is_code = first.kind == Kind::Word
                && (1..=4).contains(&first.text.len())
                && first.text.bytes().all(|byte| byte.is_ascii_uppercase())
                && second.text.bytes().all(|byte| byte.is_ascii_digit())
                && text.get(first.end..second.start) == Some(" ");
            if is_code {
                self.word(&format!("{}{}", first.text, second.text));
            }
        }
        for spaced in spaced::numbers(text) {
            self.number(&Number::plain(spaced.readings), None);
        }
        for run in groups::runs(text) {
            self.word(&run.joined);
            if run.joined.bytes().all(|byte| byte.is_ascii_digit()) && run.joined.len() <= 15 {
                self.phone(&run.joined);
            }
        }
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
            if matches!(word.as_str(), "week" | "kw" | "cw" | "woche") {
                self.week(&found[index + 1..]);
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
                if number.written != Written::Ordinal {
                    let values = number.readings.iter().map(|reading| (self.step, reading.value));
                    self.asked.extend(values);
                }
                if is_user && readings.place >= 1.0 && (1900.0..2101.0).contains(&readings.value) {
                    self.years.entry(readings.value as i32).or_insert(self.step);
                }
            }
            last = word;
        }
    }
}
