//! Converters are the strategies that rewrite text. `{name, params}` and plain names are accepted.

use quintain_evidence::probe::Probe;
use quintain_redteam::strategies::{self, Reach, StrategyKind, Tactic};
use serde_json::{Value, json};

use crate::error::{ErrorCode, ToolError};

/// The entry of a suite for a converter as tools write it.
pub fn entry(converter: &Value) -> Value {
    match converter {
        Value::Object(map) => {
            let name = map.get("name").or_else(|| map.get("id")).cloned().unwrap_or_default();
            let params = map.get("params").or_else(|| map.get("config"));
            json!({"id": renamed(&name), "config": params.cloned().unwrap_or_else(|| json!({}))})
        }
        name => renamed(name),
    }
}

/// The name as suites write it: `ROT13Converter` and `char_swap` are accepted.
fn renamed(name: &Value) -> Value {
    let Some(text) = name.as_str() else { return name.clone() };
    if strategies::find(text).is_some() {
        return name.clone();
    }
    let short = text.strip_suffix("Converter").unwrap_or(text).replace('_', "-");
    let lower = short.to_lowercase();
    let known = ALIASES.iter().find(|(other, _)| *other == lower.replace('-', ""));
    let forms = known.map(|(_, ours)| (*ours).to_owned()).into_iter().chain([lower, kebab(&short)]);
    let found = forms.into_iter().find(|form| strategies::find(form).is_some());
    found.map_or_else(|| name.clone(), |form| json!(form))
}

/// `UnicodeConfusable` as `unicode-confusable`.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for (at, c) in name.char_indices() {
        if at > 0 && c.is_ascii_uppercase() {
            kebab.push('-');
        }
        kebab.push(c.to_ascii_lowercase());
    }
    kebab
}

/// Names of converters in other tools, without dashes.
const ALIASES: [(&str, &str); 9] = [
    ("caesarcipher", "caesar"),
    ("morsecode", "morse"),
    ("unicode", "unicode-escape"),
    ("unicodereplacement", "unicode-escape"),
    ("unicodesubstitution", "ascii-smuggling"),
    ("asciismuggler", "ascii-smuggling"),
    ("sneakybitssmuggler", "sneaky-bits"),
    ("characterspace", "char-space"),
    ("stringflip", "reverse"),
];

/// Reads converters.
pub fn read(converters: &[Value]) -> Result<Vec<Tactic>, ToolError> {
    let entries: Vec<Value> = converters.iter().map(entry).collect();
    strategies::parse_all(&entries).map_err(|mistakes| {
        let mistakes: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        ToolError::new(ErrorCode::InvalidConfiguration, mistakes.join("; "))
            .with_hint("list_converters shows all converters and their options")
    })
}

/// Applies converters one after the other, and returns the text after each. Of several versions, the first counts.
pub fn apply(text: &str, tactics: &[Tactic], seed: u64) -> Result<Vec<String>, ToolError> {
    let mut steps = Vec::new();
    let mut now = text.to_owned();
    for tactic in tactics {
        if !matches!(tactic.kind(), StrategyKind::Rewrite(_) | StrategyKind::Keep { .. }) {
            let what = format!("`{}` does not rewrite text", tactic.id());
            return Err(ToolError::new(ErrorCode::InvalidConfiguration, what)
                .with_hint("use it as orchestrator_type"));
        }
        // A converter that changes nothing in this text is not a mistake.
        if let Ok(versions) = tactic.rewrite(&Probe::Text(now.clone()), Reach::All, seed)
            && let Some(Probe::Text(text)) = versions.into_iter().next()
        {
            now = text;
        }
        steps.push(now.clone());
    }
    Ok(steps)
}
