//! Applies rewritten texts to probes: which texts of a probe change, and what stays. Keys, tool names and the shape of
//! the JSON never change.

use quintain_content::json_value;
use quintain_evidence::probe::{PlannedStep, Probe, Step};
use quintain_source::is_template;
use serde_json::{Map, Value};
use thiserror::Error;

use super::rewrite::MAX_TEXT;
use super::strategy::Missing;

/// Maximum size of the texts of all versions of a probe, in bytes.
const MAX_TOTAL: usize = 4 * 1024 * 1024;

/// Which texts of a probe are rewritten. A text probe is always rewritten as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach<'a> {
    /// Every text in the values of the arguments, in every step.
    All,
    /// The attacked argument: a JSON pointer into the arguments of one step, or into the parameters if the step is
    /// not a tool call. If it leads to a list or a map, every text in it.
    At { step: usize, pointer: &'a str },
}

/// Why a strategy did not produce a version of a probe.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Skipped {
    #[error("`{strategy}` applies only to {suits}")]
    Unsuited { strategy: &'static str, suits: &'static str },
    #[error("`{strategy}` needs {}{}", .missing.needs, instead(.missing))]
    Missing { strategy: &'static str, missing: Missing },
    #[error("`{strategy}` is disabled")]
    Off { strategy: &'static str },
    #[error("there is no text to rewrite")]
    NoText,
    #[error("step {step} has no value at `{pointer}`")]
    NoSuchPlace { step: usize, pointer: String },
    #[error("the rewritten text is the same")]
    Unchanged,
    #[error("the text would be longer than {} KiB", MAX_TEXT / 1024)]
    TooLong,
    #[error("`{strategy}` does not rewrite probes")]
    NoRewriting { strategy: &'static str },
}

fn instead(missing: &Missing) -> String {
    missing.instead.map(|name| format!("; try `{name}`")).unwrap_or_default()
}

/// Creates a probe for each version of its texts. The first probe has the first version of every text, the second the
/// second, and so on; a text with fewer versions repeats its last.
pub fn lift(
    probe: &Probe,
    reach: Reach<'_>,
    versions: impl Fn(&str) -> Vec<String>,
) -> Result<Vec<Probe>, Skipped> {
    let texts = texts(probe, reach)?;
    if texts.is_empty() {
        return Err(Skipped::NoText);
    }
    let share = (MAX_TOTAL / texts.len()).max(MAX_TEXT);
    let versions: Vec<Vec<String>> = texts
        .iter()
        .map(|text| {
            let mut size = 0;
            let within = |text: &String| {
                size += text.len();
                size <= share
            };
            versions(text).into_iter().take_while(within).collect()
        })
        .collect();
    if versions.iter().all(Vec::is_empty) {
        return Err(Skipped::TooLong);
    }
    let count = versions.iter().map(Vec::len).max().unwrap_or_default();
    let mut probes: Vec<Probe> = Vec::with_capacity(count);
    for number in 0..count {
        let mut version = probe.clone();
        let mut at = versions.iter();
        visit(&mut version, reach, &mut |text| {
            let new = at.next().and_then(|all| all.get(number).or(all.last()));
            if let Some(new) = new {
                text.clone_from(new);
            }
        })?;
        if version != *probe && !probes.contains(&version) {
            probes.push(version);
        }
    }
    if probes.is_empty() { Err(Skipped::Unchanged) } else { Ok(probes) }
}

/// The texts within reach, in order.
pub fn texts(probe: &Probe, reach: Reach<'_>) -> Result<Vec<String>, Skipped> {
    let mut texts = Vec::new();
    visit(&mut probe.clone(), reach, &mut |text| texts.push(text.clone()))?;
    Ok(texts)
}

/// The objective of a conversation: the text of the probe, or the first text within reach.
pub fn objective(probe: &Probe, reach: Reach<'_>) -> Result<String, Skipped> {
    texts(probe, reach)?.into_iter().next().ok_or(Skipped::NoText)
}

/// The probe with this text instead of the objective.
pub fn with_text(probe: &Probe, reach: Reach<'_>, new: &str) -> Result<Probe, Skipped> {
    let mut probe = probe.clone();
    let mut first = true;
    visit(&mut probe, reach, &mut |text| {
        if std::mem::take(&mut first) {
            new.clone_into(text);
        }
    })?;
    if first { Err(Skipped::NoText) } else { Ok(probe) }
}

fn visit(
    probe: &mut Probe,
    reach: Reach<'_>,
    see: &mut dyn FnMut(&mut String),
) -> Result<(), Skipped> {
    let steps = match probe {
        Probe::Text(text) => {
            see(text);
            return Ok(());
        }
        Probe::Steps(steps) => steps,
    };
    match reach {
        Reach::All => {
            let mut captured = false;
            for planned in steps {
                // `{{id}}` refers to an earlier result; rewritten, it would refer to nothing.
                let mut see = |text: &mut String| {
                    if !(captured && is_template(text)) {
                        see(text);
                    }
                };
                for value in values(&mut planned.step) {
                    leaves(value, &mut see);
                }
                captured |= !planned.capture.is_empty();
            }
            Ok(())
        }
        Reach::At { step, pointer } => {
            let place = steps.get_mut(step).and_then(|planned| below(planned, pointer));
            let missing = || Skipped::NoSuchPlace { step, pointer: pointer.to_owned() };
            place.ok_or_else(missing)?.into_iter().for_each(|value| leaves(value, see));
            Ok(())
        }
    }
}

/// The values of a step that an attacker can choose.
fn values(step: &mut Step) -> Vec<&mut Value> {
    match step {
        Step::Call(call) => call.args.values_mut().collect(),
        Step::Request { params, .. } => {
            let mut values = Vec::new();
            for (key, value) in params {
                match (key.as_str(), value) {
                    // `prompts/get`, and every method with arguments like a call.
                    ("arguments", Value::Object(map)) => values.extend(map.values_mut()),
                    // `completion/complete`.
                    ("argument", Value::Object(map)) => values.extend(map.get_mut("value")),
                    _ => {}
                }
            }
            values
        }
    }
}

fn below<'p>(planned: &'p mut PlannedStep, pointer: &str) -> Option<Vec<&'p mut Value>> {
    let map: &mut Map<String, Value> = match &mut planned.step {
        Step::Call(call) => &mut call.args,
        Step::Request { params, .. } => params,
    };
    if pointer.is_empty() {
        return Some(map.values_mut().collect());
    }
    let rest = pointer.strip_prefix('/')?;
    let (key, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let value = map.get_mut(&json_value::pointer_key(key))?;
    value.pointer_mut(rest).map(|value| vec![value])
}

fn leaves(value: &mut Value, see: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => see(text),
        Value::Array(items) => items.iter_mut().for_each(|item| leaves(item, see)),
        Value::Object(map) => map.values_mut().for_each(|item| leaves(item, see)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::probe::steps;
    use serde_json::json;

    use super::*;

    fn probe(payload: Value) -> Probe {
        Probe::Steps(steps(&payload).unwrap())
    }

    fn upper(text: &str) -> Vec<String> {
        vec![text.to_uppercase()]
    }

    #[test]
    fn only_values_of_arguments_change() {
        let before = json!({"tool": "get", "args": {"path": "a", "deep": {"k": ["b", 1, null]}}});
        let after = json!({"tool": "get", "args": {"path": "A", "deep": {"k": ["B", 1, null]}}});
        assert_eq!(lift(&probe(before), Reach::All, upper), Ok(vec![probe(after)]));
    }

    #[test]
    fn the_attacked_argument_alone_changes() {
        let before = probe(json!({"tool": "get", "args": {"a/b": {"x": ["p", "q"]}, "c": "r"}}));
        let at = |pointer| lift(&before, Reach::At { step: 0, pointer }, upper);
        let after = probe(json!({"tool": "get", "args": {"a/b": {"x": ["p", "Q"]}, "c": "r"}}));
        assert_eq!(at("/a~1b/x/1"), Ok(vec![after]));
        assert_eq!(at("/d").unwrap_err().to_string(), "step 0 has no value at `/d`");
        let beyond = lift(&before, Reach::At { step: 1, pointer: "/c" }, upper);
        assert!(matches!(beyond, Err(Skipped::NoSuchPlace { step: 1, .. })));
    }

    #[test]
    fn names_and_references_of_requests_stay() {
        let before =
            json!({"method": "prompts/get", "params": {"name": "p", "arguments": {"q": "x"}}});
        let after =
            json!({"method": "prompts/get", "params": {"name": "p", "arguments": {"q": "X"}}});
        assert_eq!(lift(&probe(before), Reach::All, upper), Ok(vec![probe(after)]));
        let read = probe(json!({"method": "resources/read", "params": {"uri": "file:///x"}}));
        assert_eq!(lift(&read, Reach::All, upper), Err(Skipped::NoText));
        let reach = Reach::At { step: 0, pointer: "/uri" };
        let after = json!({"method": "resources/read", "params": {"uri": "FILE:///X"}});
        assert_eq!(lift(&read, reach, upper), Ok(vec![probe(after)]));
    }

    #[test]
    fn what_earlier_steps_bring_is_still_found() {
        let steps = |text: &str| {
            probe(json!({"steps": [
                {"tool": "make", "args": {"name": text}, "capture": {"id": "$.id"}},
                {"tool": "get", "args": {"id": "{{id}}"}},
            ]}))
        };
        assert_eq!(lift(&steps("n"), Reach::All, upper), Ok(vec![steps("N")]));
        let alone = probe(json!({"tool": "get", "args": {"id": "{{id}}"}}));
        let after = probe(json!({"tool": "get", "args": {"id": "{{ID}}"}}));
        assert_eq!(lift(&alone, Reach::All, upper), Ok(vec![after]));
    }

    #[test]
    fn versions_go_hand_in_hand() {
        let before = probe(json!({"tool": "t", "args": {"a": "1", "b": "22"}}));
        let versions = |text: &str| (0..text.len()).map(|n| format!("{text}-{n}")).collect();
        let after = |a: &str, b: &str| probe(json!({"tool": "t", "args": {"a": a, "b": b}}));
        let expected = vec![after("1-0", "22-0"), after("1-0", "22-1")];
        assert_eq!(lift(&before, Reach::All, versions), Ok(expected));
    }

    #[test]
    fn nothing_done_is_told() {
        let text = Probe::Text("A".to_owned());
        assert_eq!(lift(&text, Reach::All, upper), Err(Skipped::Unchanged));
        assert_eq!(lift(&text, Reach::All, |_| Vec::new()), Err(Skipped::TooLong));
        let numbers = probe(json!({"tool": "t", "args": {"n": 1}}));
        assert_eq!(lift(&numbers, Reach::All, upper), Err(Skipped::NoText));
    }

    #[test]
    fn a_conversation_speaks_through_one_text() {
        let before = probe(json!({"tool": "t", "args": {"a": "x", "b": "y"}}));
        let reach = Reach::At { step: 0, pointer: "/b" };
        assert_eq!(objective(&before, reach).unwrap(), "y");
        let after = probe(json!({"tool": "t", "args": {"a": "x", "b": "z"}}));
        assert_eq!(with_text(&before, reach, "z"), Ok(after));
    }
}
