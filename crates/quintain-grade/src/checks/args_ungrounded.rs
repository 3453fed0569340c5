//! A value in the arguments of a call that has no origin in the conversation.

use std::collections::HashSet;

use quintain_content::registry::Meta;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::{CallOutcome, Role as Speaker};
use serde_json::Value;

use super::{Checked, Fault, TraceCheck};
use crate::effect::Effect;
use crate::policy::CallPolicy;
use crate::values::date::{self, Day, Minutes};
use crate::values::derived;
use crate::values::grounds;
use crate::values::keys::{self, Role};
use crate::values::known::{Known, Search};
use crate::values::leaves::{Leaf, leaves};
use crate::values::phone;
use crate::values::shape;
use crate::values::token::{Kind, Number, tokens};
use crate::values::units::{Dimension, Unit, of_key};
use crate::view::{CallView, View};

pub(super) struct ArgsUngrounded;

static META: Meta = Meta {
    id: "args.ungrounded",
    aliases: &[],
    summary: "an argument has a value that neither the user nor an earlier result gave",
    docs: "\
## What it does
Looks at ids, e-mail addresses, paths, URLs, dates and numbers in the arguments of every call, and searches for their origin: what the
user and the system prompt say, earlier results and arguments, and `enum`, `const` and `default` of the tool's schema. The same value in
another notation is the same value: `1,200` and `1200`, `15 %` and `0.15`, `three`, other formats of dates and telephone numbers, a path
joined from named parts, a rounded result. Free text, page sizes and limits are the application's own choice.

## Why it matters
A model that lacks a value invents a plausible one. The call then succeeds with the wrong customer, file or amount.

## What counts as proof
The conversation is recorded from its start, and the value is in none of its origins. An example in a description is not an origin.

## Example
```json
{\"name\": \"get_order\", \"arguments\": {\"order_id\": \"ORD-99417\"}}
```
",
    since: "0.2.0",
};

/// More findings of one trace say no more.
const MAX_FINDINGS: usize = 50;
/// Longer texts are free text.
const MAX_VALUE: usize = 300;

impl TraceCheck for ArgsUngrounded {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Trace
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if view.calls.is_empty() {
            return Checked::NotApplicable("nothing is called");
        }
        if !view.trace.messages().any(|message| message.role == Speaker::User) {
            return Checked::NotApplicable("what the user said is not recorded");
        }
        let known = view.known();
        let mut faults = Vec::new();
        for call in &view.calls {
            if faults.len() >= MAX_FINDINGS || !known.is_whole(call.step) {
                break;
            }
            faults.extend(ungrounded(known, call));
            // What a call returned may be the origin of everything that follows.
            if matches!(call.call.outcome, CallOutcome::Unknown) {
                break;
            }
        }
        Checked::Findings(faults)
    }
}

fn ungrounded(known: &Known, call: &CallView<'_>) -> Vec<Fault> {
    let Some(args) = call.call.args.json() else { return Vec::new() };
    let declared = declared(call);
    let lengths: HashSet<usize> = lengths(args);
    let origin =
        Origins { known, before: call.step, is_new: call.effect() != Effect::Reads, lengths };
    let given = leaves(args).into_iter().filter(|leaf| !is_declared(&declared, leaf.value));
    let invented =
        given.filter_map(|leaf| origin.missing(&leaf).map(|what| fault(call, &leaf, what)));
    invented.collect()
}

fn fault(call: &CallView<'_>, leaf: &Leaf<'_>, what: &str) -> Fault {
    let shown = leaf.value.as_str().map_or_else(|| leaf.value.to_string(), str::to_owned);
    let shown = one_line(&shown, 80);
    Fault {
        severity: Level::Warning,
        call: Some(call.position),
        pointer: leaf.pointer.clone(),
        message: format!(
            "`{}` is called with the {what} `{shown}`, which neither the user nor an earlier result gave",
            call.call.name
        ),
        evidence: shown,
        hint: "look the value up, or ask the user for it".to_owned(),
    }
}

/// The values that the schema of the tool gives: of `enum`, `const` and `default`.
fn declared<'v>(call: &CallView<'v>) -> Vec<&'v Value> {
    let mut found = Vec::new();
    let mut open: Vec<&Value> =
        call.tool().and_then(|tool| tool.input_schema()).into_iter().collect();
    while let Some(schema) = open.pop() {
        match schema {
            Value::Object(fields) => {
                for (key, value) in fields {
                    match (key.as_str(), value) {
                        ("enum", Value::Array(values)) => found.extend(values),
                        ("const" | "default", value) => found.push(value),
                        ("examples" | "example" | "description", _) => {}
                        (_, value) => open.push(value),
                    }
                }
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
        if found.len() > 10_000 {
            break;
        }
    }
    found
}

fn is_declared(declared: &[&Value], value: &Value) -> bool {
    let same = |one: &Value| match (one, value) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::String(a), Value::String(b)) => a.eq_ignore_ascii_case(b),
        _ => false,
    };
    declared.iter().any(|one| same(one) || leaves(one).iter().any(|leaf| same(leaf.value)))
}

/// The lengths of all lists in a value.
fn lengths(value: &Value) -> HashSet<usize> {
    let mut found = HashSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => {
                found.insert(items.len());
                open.extend(items);
            }
            Value::Object(fields) => open.extend(fields.values()),
            _ => {}
        }
    }
    found
}

/// Where the values of one call may come from.
struct Origins<'k> {
    known: &'k Known,
    before: usize,
    /// Whether the call may create what its arguments name.
    is_new: bool,
    lengths: HashSet<usize>,
}

impl Origins<'_> {
    /// What kind of value has no origin; none if the value has one or needs none.
    fn missing(&self, leaf: &Leaf<'_>) -> Option<&'static str> {
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
        if is_one && text.contains("://") {
            return (!grounds::url(known, text, before)).then_some("URL");
        }
        if is_one && shape::uuid(text).is_some() && role != Role::OwnChoice {
            return (!grounds::id(known, text, before)).then_some("id");
        }
        if matches!(role, Role::OwnChoice | Role::Free | Role::Query) {
            return None;
        }
        if let Some((days, times)) = moment(text) {
            let day = days.is_empty() || days.iter().any(|day| self.day(*day, key));
            let time = times.iter().all(|time| grounds::time(known, *time, before));
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
        if role == Role::Id {
            return known.number(number, before, Search { exact: true, ..Search::default() });
        }
        if matches!(role, Role::OwnChoice | Role::Query) {
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
        if keys::is_duration(key) && self.duration(number) {
            return true;
        }
        if key.to_lowercase().contains("year") && known.leaves_day_open(before) {
            return true;
        }
        self.is_computed(value, (reading.place / 2.0).max(value * 1e-9))
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

    /// Whether a number is the product, the share or the sum of numbers that the user gave, or of one of them and of a result:
    /// three nights at 89 a night, 15 % of 240.
    fn is_computed(&self, value: f64, tolerance: f64) -> bool {
        let asked: Vec<f64> =
            self.known.asked(self.before).filter(|one| *one > 0.0).take(16).collect();
        let near =
            |other: f64, tolerance: f64| self.known.is_written(other, tolerance, self.before);
        asked.iter().enumerate().any(|(index, one)| {
            let share = one / 100.0;
            (*one > 1.0 && near(value / one, tolerance / one))
                || (*one < 100.0 && near(value / share, tolerance / share))
                || (*one < 100.0 && near(value / (1.0 - share), tolerance))
                || (*one <= 100.0 && near(value / (1.0 + share), tolerance))
                || asked.iter().enumerate().any(|(place, other)| {
                    let sums = [one + other, one - other, one * other, one / other];
                    place != index && sums.iter().any(|sum| (sum - value).abs() <= tolerance)
                })
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
        rest.len() >= 6
            && has_digit(rest)
            && rest.bytes().any(|byte| byte.is_ascii_alphabetic())
            && !rest.contains('_')
    });
    shape::is_hex(text) && text.len() >= 7 || numbered || prefixed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::conversation::{found, trace};
    use super::*;

    fn pointers(user: &str, args: Value) -> Vec<String> {
        let trace = trace(user).call("get_thing", args, json!({"ok": true})).answer("Done.");
        found(&ArgsUngrounded, &trace).into_iter().map(|fault| fault.pointer).collect()
    }

    #[test]
    fn invented_values_are_found() {
        for args in [
            json!({"x": {"order_id": "ORD-9941"}}),
            json!({"x": {"email": "john@acme.example"}}),
            json!({"x": {"path": "/srv/data/other.csv"}}),
            json!({"x": {"url": "https://other.example/a"}}),
            json!({"x": {"date": "2026-07-19"}}),
            json!({"x": {"amount": 731.25}}),
            json!({"x": {"user": "5b1c9a3e-0000-4000-8000-1234567890ab"}}),
            json!({"x": {"phone": "+49 171 5551234"}}),
        ] {
            let found = pointers(
                "Send 20 nuts from /srv/data/nuts.csv on 3 May 2026 to acme.example",
                args.clone(),
            );
            assert_eq!(found.len(), 1, "{args}");
            assert!(found[0].starts_with("/x/"));
        }
    }

    #[test]
    fn given_values_in_another_notation_are_fine() {
        let user = "Order ord-77: 1,200 nuts with 15 % off, three boxes, due May 3rd 2026 at 2:30 pm, call +1 (555) 010-9999, \
                    commit A1B2C3D4E5F60718, file nuts.csv in /srv/data, budget 2.5k, $45 deposit, half an hour.";
        for args in [
            json!({"order_id": "ORD-77", "count": 50}),
            json!({"quantity": 1200, "discount": 0.15, "boxes": 3}),
            json!({"due": "2026-05-03", "at": "2026-05-03T14:30:00Z"}),
            json!({"phone": "5550109999"}),
            json!({"sha": "a1b2c3d4e5f60718", "commit": "a1b2c3d"}),
            json!({"path": "/srv/data/nuts.csv"}),
            json!({"budget": "2500", "amount_cents": 4500, "duration_minutes": 30}),
            json!({"limit": 25, "page_size": 100, "timeout_ms": 5000}),
            json!({"body": "Any text with 12345 and ORD-1.", "query": "nuts 2024"}),
            json!({"when": 1_777_818_600}),
        ] {
            assert_eq!(pointers(user, args.clone()), Vec::<String>::new(), "{args}");
        }
    }

    #[test]
    fn relative_words_may_mean_any_day_and_schemas_give_values() {
        assert!(pointers("Book a room for tomorrow", json!({"date": "2026-01-05"})).is_empty());
        assert_eq!(pointers("Book a room for two days", json!({"date": "2026-01-05"})), ["/date"]);
        let mut given = trace("Get it").tool("get_thing", json!({"properties": {"level": {"default": 7331}, "weight": {"description": "such as 99812"}}}));
        given = given.call("get_thing", json!({"level": 7331}), json!({})).call(
            "get_thing",
            json!({"weight": 99812}),
            json!({}),
        );
        let faults = found(&ArgsUngrounded, &given);
        assert_eq!(faults.iter().map(|fault| fault.call).collect::<Vec<_>>(), [Some(1)]);
    }

    #[test]
    fn products_and_results_are_origins() {
        let trace = trace("Refund 2 of the mugs of order 771, and book 3 nights from 2026-05-03")
            .call("get_order", json!({"order": 771}), json!({"price": 19.99, "rate": 0.123_456}))
            .call(
                "refund",
                json!({"amount": 39.98, "rate": 0.1235, "checkout": "2026-05-06"}),
                json!({}),
            );
        assert_eq!(found(&ArgsUngrounded, &trace), []);
    }
}
