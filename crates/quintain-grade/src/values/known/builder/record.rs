//! Records single values with the step at which they were first known.

use super::super::Table;
use super::Builder;
use crate::fast_hash::caseless as hash;
use crate::values::date::{self, Day, Minutes};
use crate::values::derived::{self, Derivation};
use crate::values::shape;
use crate::values::token::{Kind, Number, Token, Written};
use crate::values::units::{self, Dimension};

impl Builder {
    pub(super) fn word(&mut self, text: &str) {
        self.words.entry(hash(text)).or_insert(self.step);
    }

    /// A name, and its words.
    pub(super) fn named(&mut self, text: &str) {
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

    pub(super) fn token(&mut self, token: &Token<'_>) {
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
                    | "BST"
                    | "IST"
                    | "JST"
                    | "CST"
                    | "CDT"
                    | "MST"
                    | "MDT"
                    | "AEST"
                    | "SGT"
                    | "Pacific"
                    | "Eastern"
                    | "timezone"
                    | "timeZone"
            )
        {
            self.zone = self.zone.min(self.step);
        }
    }

    pub(super) fn put(&mut self, table: Table, value: f64) {
        if value.is_finite() {
            let value = value.abs();
            self.numbers.entry((table, (value + 0.0).to_bits())).or_insert(self.step);
        }
    }

    pub(super) fn derived(&mut self, how: Derivation, value: f64) {
        self.put(Table::Derived(how), value);
    }

    pub(super) fn number(&mut self, number: &Number, key: Option<&str>) {
        let unit = derived::unit_of(key, number);
        for reading in number.readings.iter() {
            let value = reading.value;
            self.put(Table::Written, value);
            match unit {
                Some(unit) => {
                    self.put(Table::Measured(unit.dimension), value * unit.size);
                    if unit.dimension == Dimension::Percent {
                        self.put(Table::Written, value * unit.size);
                        self.put(Table::Written, value * unit.size * 100.0);
                    }
                    // Prices may be sent in cents.
                    if unit == units::MONEY && reading.place >= 0.01 && number.unit.is_some() {
                        self.put(Table::Written, (value * 100.0).round());
                    }
                }
                None => self.put(Table::Bare, value),
            }
            // A share in words is a number of percent, too.
            if number.written == Written::Words && value < 1.0 {
                self.put(Table::Written, value * 100.0);
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

    pub(super) fn day(&mut self, day: Day) {
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

    /// The days of a week that is named by its number: `21 of 2026`. Without its year, it may be any.
    pub(super) fn week(&mut self, rest: &[Token<'_>]) {
        let whole = |token: &Token<'_>| match &token.kind {
            Kind::Number(number) if number.is_count() => Some(number.readings.first.value),
            _ => None,
        };
        let Some(week) = rest.first().and_then(whole).filter(|week| (1.0..=53.0).contains(week))
        else {
            return;
        };
        let mut rest = rest[1..].iter().filter(|token| !matches!(token.text, "of" | "in"));
        let year = rest.next().and_then(whole).filter(|year| (1990.0..2100.0).contains(year));
        match year.and_then(|year| date::week(year as i32, week as u8)) {
            Some(days) => self.days_of(days),
            None => self.relative_day = self.relative_day.min(self.step),
        }
    }

    fn days_of(&mut self, days: std::ops::Range<i32>) {
        days.for_each(|day| _ = self.days.entry(day).or_insert(self.step));
    }

    pub(super) fn time(&mut self, time: Minutes) {
        if let Some(step) = self.times.get_mut(usize::from(time)) {
            *step = (*step).min(self.step);
        }
        // It may be a duration, too.
        self.put(Table::Measured(Dimension::Time), f64::from(time) * 60.0);
    }

    pub(super) fn url(&mut self, url: &str) {
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

    pub(super) fn path(&mut self, path: &str) {
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

    pub(super) fn phone(&mut self, digits: &str) {
        let digits = digits.trim_start_matches('0');
        self.phones.entry(hash(digits)).or_insert(self.step);
        for length in 6..=digits.len().min(10) {
            self.phone_ends.entry(hash(&digits[digits.len() - length..])).or_insert(self.step);
        }
    }

    pub(super) fn id(&mut self, text: &str) {
        if let Some(seconds) = date::iso_duration(text) {
            self.put(Table::Measured(Dimension::Time), seconds);
        }
        if let Some(days) = date::iso_week(text) {
            self.days_of(days);
        }
        if let Some(uuid) = shape::uuid(text) {
            self.word(&uuid);
        }
        // `2507.12806v1` is a version of `2507.12806`.
        let version = text.trim_end_matches(|c: char| c.is_ascii_digit());
        if let Some(plain) = version.strip_suffix(['v', 'V']).filter(|plain| plain.len() > 3) {
            self.word(plain);
        }
        // `4.18` is the line of `4.18.2`.
        let digits = text.trim_start_matches(['v', 'V']);
        if digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
            && let [.., (last, _)] = digits.match_indices('.').collect::<Vec<_>>().as_slice()
        {
            self.word(&digits[..*last]);
        }
        for part in text.split(|c: char| !c.is_ascii_alphanumeric()).chain([text]) {
            if part.len() >= 8 && shape::is_hex(part) {
                (6..=12.min(part.len())).for_each(|length| self.word(&part[..length]));
            }
        }
    }
}
