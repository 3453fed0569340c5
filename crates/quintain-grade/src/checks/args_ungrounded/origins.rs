//! Where the values of a call may come from: the conversation, earlier results, and what follows from them.

use std::collections::HashSet;
use std::net::IpAddr;

use serde_json::Value;

use crate::values::date::{self, Day, Minutes};
use crate::values::derived;
use crate::values::grounds;
use crate::values::keys::{self, Role};
use crate::values::known::{Known, Search};
use crate::values::leaves::Leaf;
use crate::values::phone;
use crate::values::shape;
use crate::values::token::{Kind, Number, tokens};
use crate::values::units::{Dimension, Unit, of_key};

/// Longer texts are free text.
const MAX_VALUE: usize = 300;

/// Ids that a caller makes up are at least this long.
const MIN_RANDOM: usize = 16;

/// Where the values of one call may come from.
pub(super) struct Origins<'k> {
    pub(super) known: &'k Known,
    pub(super) before: usize,
    /// Whether the call may create what its arguments name.
    pub(super) is_new: bool,
    pub(super) lengths: HashSet<usize>,
    /// Whether the name of the tool says that it makes something, whose name is then free.
    pub(super) makes: bool,
    /// Whether the tool only waits. For how long is the application's choice.
    pub(super) waits: bool,
    /// Whether the call looks at a span of time. Its ends are the application's choice.
    pub(super) is_window: bool,
}

impl Origins<'_> {
    /// What kind of value has no origin; none if the value has one or needs none.
    pub(super) fn missing(&self, leaf: &Leaf<'_>) -> Option<&'static str> {
        let role = keys::role(leaf.key);
        match leaf.value {
            Value::Number(number) => {
                let value = number.as_f64()?;
                let exact = self.known.word(&number.to_string(), self.before);
                (!exact && !self.number(&Number::of(value), leaf.key, role)).then_some("number")
            }
            Value::String(text) => self.text(text.trim(), leaf.key, role),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn text(&self, text: &str, key: &str, role: Role) -> Option<&'static str> {
        let (known, before) = (self.known, self.before);
        if text.is_empty()
            || text.len() > MAX_VALUE
            || text.contains('\n')
            || known.word(text, before)
        {
            return None;
        }
        // `Ann Lee <ann@example.com>`
        let address = text.rsplit_once('<').map_or(text, |(_, rest)| rest.trim_end_matches('>'));
        let address = address.strip_prefix("mailto:").unwrap_or(address);
        if shape::is_email(address) {
            return (!known.word(address, before)).then_some("e-mail address");
        }
        let is_one = !text.contains(char::is_whitespace);
        if is_one && text.len() >= MIN_RANDOM && keys::may_be_made_up(key) {
            return None;
        }
        if is_one && text.contains("://") {
            return (!grounds::url(known, text, before)).then_some("URL");
        }
        if is_one && shape::uuid(text).is_some() && role != Role::OwnChoice {
            return (!grounds::id(known, text, before)).then_some("id");
        }
        // The name of something that exists is an id if it looks like one: `checkout-6d9f-x2`.
        let is_name = is_one && role == Role::Free && keys::is_name(key) && !self.makes;
        if is_name && (is_strong_id(text) || has_digit(text) && text.contains(['-', '_'])) {
            return (!grounds::id(known, text, before)).then_some("id");
        }
        // A page is the application's choice; the mark of the server that leads to it is not.
        if is_one && keys::has_word(key, "cursor") && is_opaque(text) {
            return (!grounds::id(known, text, before)).then_some("id");
        }
        if matches!(role, Role::OwnChoice | Role::Free | Role::Query) {
            return None;
        }
        if let Some((days, times)) = moment(text) {
            let day = days.is_empty() || days.iter().any(|day| self.day(*day, key));
            let is_free = keys::is_end(key) || self.is_window && keys::is_start(key);
            let time = times.iter().all(|time| grounds::time(known, *time, before, is_free));
            return (!day || !time).then_some(if day { "time" } else { "date" });
        }
        if (role == Role::Phone || text.starts_with('+'))
            && let Some(digits) = phone::whole(text)
        {
            return (!known.phone(&digits, before)).then_some("telephone number");
        }
        if let Some(number) = derived::number(text) {
            return (!self.number(&number, key, role)).then_some("number");
        }
        let is_path =
            shape::is_rooted(text) || role == Role::Path || shape::extension(text).is_some();
        if is_path && (is_one || shape::is_rooted(text)) && text.len() > 1 {
            let is_given = grounds::path(known, text, before, self.is_new || keys::is_target(key))
                || !text.contains(['/', '.', '\\']);
            return (!is_given).then_some("path");
        }
        let is_id = is_one && if role == Role::Id { has_digit(text) } else { is_strong_id(text) };
        (is_id && !grounds::id(known, text, before)).then_some("id")
    }

    fn day(&self, day: Day, key: &str) -> bool {
        let one_off = || {
            let number = day.number()?;
            let off = if keys::is_end(key) {
                number - 1
            } else if keys::is_start(key) {
                number + 1
            } else {
                return None;
            };
            Some(self.known.day_number(off, self.before))
        };
        grounds::day(self.known, day, self.before) || one_off() == Some(true)
    }

    fn number(&self, number: &Number, key: &str, role: Role) -> bool {
        let (known, before) = (self.known, self.before);
        let reading = number.readings.first;
        let value = reading.value;
        if value == 0.0 || (value - 1.0).abs() < f64::EPSILON {
            return true;
        }
        // "For my wife and me" names two people without a number.
        if (value - 2.0).abs() < f64::EPSILON && keys::counts_people(key) {
            return true;
        }
        if role == Role::Id {
            return known.number(number, before, Search { exact: true, ..Search::default() });
        }
        if matches!(role, Role::OwnChoice | Role::Query) || self.waits {
            return true;
        }
        if self.is_calendar(value, key) {
            return true;
        }
        if value.fract() == 0.0 && value < 1e4 && self.lengths.contains(&(value as usize)) {
            return true;
        }
        if date::from_unix(value).is_some_and(|(day, _)| self.day(day, key)) {
            return true;
        }
        let unit = number.unit.or_else(|| of_key(key));
        let search = Search { units: true, sums: true, ..Search::default() };
        if known.number(&Number { unit, ..*number }, before, search) {
            return true;
        }
        if keys::is_duration(key) && self.duration(number) || self.is_converted(value, key) {
            return true;
        }
        grounds::computed(known, value, (reading.place / 2.0).max(value * 1e-9), before)
    }

    /// The number of a month that was named, and the year if the user left it open.
    fn is_calendar(&self, value: f64, key: &str) -> bool {
        let (known, before) = (self.known, self.before);
        let month = (value.fract() == 0.0 && (1.0..=12.0).contains(&value)).then_some(value as u8);
        let is_month = keys::has_word(key, "month")
            && month.is_some_and(|month| known.month(None, month, before));
        let is_year = keys::has_word(key, "year") && (1990.0..2100.0).contains(&value);
        is_month || is_year && (known.leaves_day_open(before) || known.leaves_year_open(before))
    }

    /// A temperature in the other scale: 177 °C for 350 °F.
    fn is_converted(&self, value: f64, key: &str) -> bool {
        let has = |scale: &str| keys::has_word(key, scale);
        let is_near = |other: f64| self.known.is_written(other, 1.0, self.before);
        has("celsius") && is_near(value * 1.8 + 32.0)
            || has("fahrenheit") && is_near((value - 32.0) / 1.8)
    }

    /// A duration whose unit is not in the name of its argument.
    fn duration(&self, number: &Number) -> bool {
        let open =
            self.known.leaves_day_open(self.before) || self.known.leaves_time_open(self.before);
        let sizes = [0.001, 1.0, 60.0, 3600.0, 86_400.0];
        open || sizes.iter().any(|size| {
            let unit = Some(Unit { dimension: Dimension::Time, size: *size });
            self.known.number(
                &Number { unit, ..*number },
                self.before,
                Search { units: true, ..Search::default() },
            )
        })
    }
}

/// The days and times in a text that consists of nothing else.
fn moment(text: &str) -> Option<(Vec<Day>, Vec<Minutes>)> {
    if text.len() > 40 || !has_digit(text) {
        return None;
    }
    let plain = date::days(text);
    if !plain.is_empty() {
        return Some((plain, Vec::new()));
    }
    let (mut days, mut times) = (Vec::new(), Vec::new());
    for token in tokens(text) {
        match token.kind {
            Kind::Days(found) => days.extend(found),
            Kind::Time(time) => times.push(time),
            Kind::Word
                if matches!(token.text, "at" | "UTC" | "GMT" | "Z" | "CET" | "EST" | "PST") => {}
            Kind::Word if date::is_relative(&token.text.to_lowercase()) => {}
            _ => return None,
        }
    }
    (!days.is_empty() || !times.is_empty()).then_some((days, times))
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether a text means something only to the server that made it.
fn is_opaque(text: &str) -> bool {
    text.len() >= 6 && has_digit(text) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Whether a text can hardly be anything but an id: a hash, or letters with a number of three digits or more.
fn is_strong_id(text: &str) -> bool {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let rest = text[letters..].trim_start_matches(['-', '_', '#']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_whole = digits > 0 && digits == rest.len();
    let is_marked = text[letters..].starts_with(['-', '_', '#']);
    let is_capital = text[..letters].bytes().all(|byte| byte.is_ascii_uppercase());
    let is_usual =
        ["UTF", "GPT", "ISO", "COVID", "SHA", "MP", "A", "H"].contains(&&text[..letters]);
    let numbered = is_whole && (1..=10).contains(&letters) && digits >= 3
        || is_whole && is_marked && is_capital && letters > 0 && !is_usual;
    let prefixed = text.split_once('_').is_some_and(|(_, rest)| {
        rest.len() >= 4
            && has_digit(rest)
            && rest.bytes().any(|byte| byte.is_ascii_alphabetic())
            && !rest.contains('_')
    });
    let is_address = || {
        text.parse::<IpAddr>()
            .is_ok_and(|address| !address.is_loopback() && !address.is_unspecified())
    };
    shape::is_hex(text) && text.len() >= 7 || numbered || prefixed || is_address()
}
