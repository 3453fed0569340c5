//! The part of a test that follows from an indicator: what to send, and what to assert about the response. Knows
//! neither findings nor attempts.

use quintain_content::detect::{self, Family};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use quintain_evidence::tool_call::ToolCall;
use serde_json::{Map, Value, json};

use super::Regression;

/// Enough `..` to leave any folder.
const LEVELS: usize = 16;
/// Extensions that servers append.
const ENDINGS: [&str; 5] = ["md", "json", "csv", "log", "html"];
/// The folder of the suite, in templates.
const FOLDER: &str = "{{env.QUINTAIN_SUITE_DIR}}";

/// What to send, and what to assert.
pub(super) struct Written {
    pub(super) prompt: Value,
    pub(super) asserts: Value,
}

/// The part of a test that follows from its indicator. `of` is the attack, and the finding if there is one; `canary` is
/// the prefix of planted files, and the reason why there are none.
pub(super) fn written(
    sign: &Indicator,
    of: (&str, Option<&str>),
    mut steps: Vec<Step>,
    (canary, no_canary): (&str, Option<&str>),
    made: &mut Regression,
) -> Result<Written, String> {
    if let Indicator::Reads { path, text } = sign {
        if let Some(why) = no_canary {
            return Err(why.to_owned());
        }
        for name in planted(path, canary, &mut steps)? {
            if !made.files.iter().any(|(known, _)| *known == name) {
                made.files.push((name, text.clone()));
            }
        }
    } else {
        for step in &mut steps {
            *step = literal_step(step)?;
        }
    }
    let asserts = asserts(sign, of, &steps, canary)?;
    if let Indicator::Environment { text } = sign {
        made.environment = Some(text.clone());
    }
    let sent = if *sign == Indicator::Differs { &steps[..1] } else { &steps[..] };
    Ok(Written { prompt: prompt(sent), asserts })
}

/// A step without a server, for targets with only one.
pub(super) fn anywhere(mut step: Step) -> Step {
    let (Step::Call(ToolCall { server, .. }) | Step::Request { server, .. }) = &mut step;
    *server = None;
    step
}

fn asserts(
    sign: &Indicator,
    (attack, only): (&str, Option<&str>),
    steps: &[Step],
    canary: &str,
) -> Result<Value, String> {
    Ok(match sign {
        Indicator::Says { text } | Indicator::Environment { text } => {
            json!([{"type": "not-says", "value": literal(text)?}])
        }
        Indicator::Reads { .. } => {
            json!([{"type": "not-says", "value": format!("file://{canary}.txt")}])
        }
        Indicator::Leaks { kinds } => {
            let of = |family: Family| -> Vec<&String> {
                let is = |kind: &&String| detect::find(kind).is_some_and(|d| d.family() == family);
                kinds.iter().filter(is).collect()
            };
            let mut asserts = vec![json!({"type": "is-answered"})];
            for (name, kinds) in [("no-pii", of(Family::Pii)), ("no-secrets", of(Family::Secret))] {
                if !kinds.is_empty() {
                    asserts.push(json!({"type": name, "types": kinds}));
                }
            }
            asserts.into()
        }
        Indicator::Tells { kinds } => json!([{"type": "no-internals", "types": kinds}]),
        Indicator::Succeeds => json!([{"type": "is-error", "kind": "refusal"}]),
        Indicator::Differs => {
            let other = steps.get(1).ok_or("there is no second response to compare with")?;
            json!([{"type": "same-answer", "as": prompt(std::slice::from_ref(other))}])
        }
        Indicator::Listed => match only {
            Some(only) => json!([{"type": "surface-clean", "attacks": [attack], "only": [only]}]),
            None => json!([{"type": "surface-clean", "attacks": [attack]}]),
        },
    })
}

/// The value of the variable `prompt`.
fn prompt(steps: &[Step]) -> Value {
    let all: Vec<Value> =
        steps.iter().map(|step| serde_json::to_value(step).unwrap_or_default()).collect();
    match <[Value; 1]>::try_from(all) {
        Ok([only]) => only,
        Err(all) => json!({"steps": all}),
    }
}

/// Replaces the path of the planted file by that of a file next to the suite; returns the names of the files that must
/// exist there.
fn planted(path: &str, canary: &str, steps: &mut [Step]) -> Result<Vec<String>, String> {
    let named = |ending: &str| format!("{canary}.{ending}");
    let ending = std::path::Path::new(path).extension().and_then(|ending| ending.to_str());
    let name = ending.map_or(canary.to_owned(), named);
    // The server may append an extension to a name without one.
    let mut names = vec![named("txt"), name.clone()];
    if ending.is_none() {
        names.extend(ENDINGS.map(named));
    }
    let there = format!("{FOLDER}/{name}");
    let relative = path.trim_start_matches('/');
    let mut found = false;
    for step in steps.iter_mut() {
        *step = mapped(step, &mut |text| {
            let old = if text.contains(path) { path } else { relative };
            let Some((before, behind)) = text.split_once(old) else { return literal(text) };
            found = true;
            Ok(format!("{}{there}{}", literal(&deeper(before))?, literal(behind)?))
        })?;
    }
    if found { Ok(names) } else { Err("the payload does not contain the plain path".to_owned()) }
}

/// Enough `../` for any folder: extra ones do no harm.
fn deeper(before: &str) -> String {
    let plain = before.strip_suffix('/').unwrap_or(before);
    // Only plain `..`; other forms stay unchanged.
    if !plain.ends_with("..") || plain.contains("...") {
        return before.to_owned();
    }
    let more = "../".repeat(LEVELS.saturating_sub(plain.matches("..").count()));
    let (head, last) = before.split_at(plain.len() - 2);
    format!("{head}{more}{last}")
}

fn literal_step(step: &Step) -> Result<Step, String> {
    mapped(step, &mut |text| literal(text))
}

/// The same step with every text in its arguments changed.
fn mapped(
    step: &Step,
    change: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Step, String> {
    Ok(match step {
        Step::Call(call) => Step::Call(ToolCall { args: map(&call.args, change)?, ..call.clone() }),
        Step::Request { method, params, server } => Step::Request {
            method: method.clone(),
            params: map(params, change)?,
            server: server.clone(),
        },
    })
}

fn map(
    entries: &Map<String, Value>,
    change: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Map<String, Value>, String> {
    let mut changed = Map::new();
    for (key, value) in entries {
        changed.insert(literal(key)?, deep(value, change)?);
    }
    Ok(changed)
}

fn deep(
    value: &Value,
    change: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => change(text)?.into(),
        Value::Array(items) => {
            items.iter().map(|item| deep(item, change)).collect::<Result<Vec<_>, _>>()?.into()
        }
        Value::Object(entries) => map(entries, change)?.into(),
        other => other.clone(),
    })
}

/// Escapes a text so that templates leave it unchanged.
pub(super) fn literal(text: &str) -> Result<String, String> {
    if !["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) {
        return Ok(text.to_owned());
    }
    if text.contains("endraw") || text.contains("env") {
        return Err("its text contains template syntax that cannot be escaped".to_owned());
    }
    Ok(format!("{{% raw %}}{text}{{% endraw %}}"))
}
