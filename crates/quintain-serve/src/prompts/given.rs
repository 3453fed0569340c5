//! Arguments of a prompt as a host sent them, checked against what the prompt declares. All problems are reported at
//! once.

use std::collections::BTreeMap;

use quintain_source::closest;
use serde_json::{Value, json};

use crate::arguments::Issue;
use crate::prompt::{Argument, PromptMeta, Values};

/// The longest accepted value in bytes.
const LONGEST: usize = 16 << 10;

/// Valid arguments under our names.
#[derive(Debug)]
pub(super) struct Given(BTreeMap<&'static str, String>);

impl Given {
    /// Checks names, required arguments and enumerations. Empty values count as absent.
    pub(super) fn read(
        meta: &PromptMeta,
        sent: &BTreeMap<String, String>,
    ) -> Result<Self, Vec<Issue>> {
        let mut given: BTreeMap<&'static str, String> = BTreeMap::new();
        let mut issues = Vec::new();
        for (name, value) in sent {
            let Some(argument) = find(meta, name) else {
                issues.push(unknown(meta, name));
                continue;
            };
            if value.trim().is_empty() {
                continue;
            }
            if value.len() > LONGEST {
                issues.push(issue(
                    name,
                    "maxLength",
                    format!("{name} has more than {LONGEST} bytes"),
                    json!(LONGEST),
                ));
                continue;
            }
            if let Values::OneOf(words) = argument.values {
                let Some(word) = words.iter().find(|word| word.eq_ignore_ascii_case(value.trim()))
                else {
                    let message = format!("{name} must be one of {}", words.join(", "));
                    issues.push(issue(name, "enum", message, json!(words)));
                    continue;
                };
                insert(&mut given, argument, name, (*word).to_owned());
            } else {
                insert(&mut given, argument, name, value.clone());
            }
        }
        for argument in meta.arguments.iter().filter(|argument| argument.required) {
            let name = argument.name;
            let is_reported = issues.iter().any(|issue| issue.path == format!("/{name}"));
            if !given.contains_key(name) && !is_reported {
                issues.push(issue(name, "required", format!("{name} is required"), Value::Null));
            }
        }
        if issues.is_empty() { Ok(Self(given)) } else { Err(issues) }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value, or what is used without one.
    pub(super) fn text_or<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        self.text(name).unwrap_or(default)
    }

    /// A list: a JSON array, or texts separated by commas.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let Some(text) = self.text(name) else { return Vec::new() };
        let as_text = |value: Value| match value {
            Value::String(text) => text,
            other => other.to_string(),
        };
        if let Ok(Value::Array(items)) = serde_json::from_str(text) {
            return items.into_iter().map(as_text).filter(|item| !item.trim().is_empty()).collect();
        }
        let parts = text.split(',').map(|part| part.trim().to_owned());
        parts.filter(|part| !part.is_empty()).collect()
    }
}

/// Our name wins over an alias.
fn insert(
    given: &mut BTreeMap<&'static str, String>,
    argument: &Argument,
    name: &str,
    value: String,
) {
    if name == argument.name {
        given.insert(argument.name, value);
    } else {
        given.entry(argument.name).or_insert(value);
    }
}

fn find(meta: &PromptMeta, name: &str) -> Option<&'static Argument> {
    meta.arguments.iter().find(|argument| argument.name == name || argument.aliases.contains(&name))
}

fn unknown(meta: &PromptMeta, name: &str) -> Issue {
    let names: Vec<&str> = meta.arguments.iter().map(|argument| argument.name).collect();
    let shown = quintain_source::visible(name);
    let hint = closest(name, names.iter().copied()).map(|near| format!("; did you mean {near}?"));
    let message =
        format!("{shown} is not an argument of {}{}", meta.name, hint.unwrap_or_default());
    issue(name, "additionalProperties", message, json!(names))
}

fn issue(name: &str, code: &str, message: String, expected: Value) -> Issue {
    let path = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    Issue {
        path,
        code: code.to_owned(),
        message,
        expected: Some(expected).filter(|value| !value.is_null()),
    }
}
