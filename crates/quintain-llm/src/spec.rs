//! Which model is meant: an id, and options, as users write them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// A model as a suite names it.
#[derive(Clone, PartialEq, Default)]
pub struct ModelSpec {
    /// Such as `openai:chat:gpt-4o`.
    pub id: String,
    pub label: Option<String>,
    pub config: Map<String, Value>,
    /// Variables that replace those of the environment for this model.
    pub env: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    #[error(
        "expected the id of a model, such as `openai:chat:gpt-4o`, or a map with `id`; found {0}"
    )]
    Kind(&'static str),
    #[error("a model needs `id`, such as `openai:chat:gpt-4o`")]
    NoId,
    #[error("`{key}` must be {expected}, not {found}")]
    Key { key: &'static str, expected: &'static str, found: &'static str },
}

impl ModelSpec {
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// Sets one option.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.config.insert(key.to_owned(), value.into());
        self
    }

    /// Reads `"openai:chat:gpt-4o"`, `{id, label?, config?, env?}`, or promptfoo's `{"openai:chat:gpt-4o": {config?, ...}}`.
    ///
    /// # Errors
    /// What has the wrong type.
    pub fn read(value: &Value) -> Result<Self, SpecError> {
        let entry = match value {
            Value::String(id) if !id.trim().is_empty() => return Ok(Self::new(id.trim())),
            Value::Object(entry) => entry,
            Value::String(_) => return Err(SpecError::NoId),
            other => return Err(SpecError::Kind(kind(other))),
        };
        match entry.get("id") {
            Some(Value::String(id)) if !id.trim().is_empty() => Self::of(id.trim(), entry),
            Some(Value::String(_)) => Err(SpecError::NoId),
            Some(other) => {
                Err(SpecError::Key { key: "id", expected: "a text", found: kind(other) })
            }
            None => match entry.iter().next() {
                Some((id, Value::Object(inner))) if entry.len() == 1 => {
                    let named = inner.get("id").and_then(Value::as_str);
                    let mut spec = Self::of(id, inner)?;
                    // In this form, `id` is the name under which results show the model.
                    spec.label = spec.label.or_else(|| named.map(str::to_owned));
                    Ok(spec)
                }
                _ => Err(SpecError::NoId),
            },
        }
    }

    fn of(id: &str, entry: &Map<String, Value>) -> Result<Self, SpecError> {
        let label = match entry.get("label") {
            None | Some(Value::Null) => None,
            Some(Value::String(label)) => Some(label.clone()),
            Some(other) => {
                let found = kind(other);
                return Err(SpecError::Key { key: "label", expected: "a text", found });
            }
        };
        let config = object(entry, "config")?.cloned().unwrap_or_default();
        let env = object(entry, "env")?.into_iter().flatten().filter_map(|(name, value)| {
            let text = match value {
                Value::Null => return None,
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            Some((name.clone(), text))
        });
        Ok(Self { id: id.to_owned(), label, config, env: env.collect() })
    }

    /// The label, or the id.
    pub fn shown(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}

/// Options and variables may be keys, so only their names are shown.
impl std::fmt::Debug for ModelSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ModelSpec")
            .field("id", &self.id)
            .field("label", &self.label)
            .field("config", &self.config.keys().collect::<Vec<_>>())
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .finish()
    }
}

fn object<'v>(
    entry: &'v Map<String, Value>,
    key: &'static str,
) -> Result<Option<&'v Map<String, Value>>, SpecError> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map)),
        Some(other) => Err(SpecError::Key { key, expected: "a map", found: kind(other) }),
    }
}

/// A type in words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_three_forms_name_a_model() {
        let plain = ModelSpec::read(&json!("openai:gpt-4o")).unwrap();
        assert_eq!(plain.id, "openai:gpt-4o");
        let map = json!({"id": "openai:gpt-4o", "label": "big", "config": {"temperature": 1}, "env": {"A": 1}});
        let map = ModelSpec::read(&map).unwrap();
        assert_eq!((map.shown(), map.config["temperature"].as_i64()), ("big", Some(1)));
        assert_eq!(map.env["A"], "1");
        let keyed = json!({"openai:gpt-4o": {"id": "shown", "config": {"seed": 1}}});
        let keyed = ModelSpec::read(&keyed).unwrap();
        assert_eq!((keyed.id.as_str(), keyed.shown()), ("openai:gpt-4o", "shown"));
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(ModelSpec::read(&json!(3)), Err(SpecError::Kind("a number")));
        assert_eq!(ModelSpec::read(&json!("")), Err(SpecError::NoId));
        assert_eq!(ModelSpec::read(&json!({"config": {}, "label": "x"})), Err(SpecError::NoId));
        let error = ModelSpec::read(&json!({"id": "echo", "config": []})).unwrap_err();
        assert_eq!(error.to_string(), "`config` must be a map, not a list");
    }

    #[test]
    fn debug_shows_no_values_of_options() {
        let spec = ModelSpec::new("openai:gpt-4o").with("apiKey", "sk-secret");
        assert!(!format!("{spec:?}").contains("sk-secret"));
    }
}
