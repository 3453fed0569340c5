//! The models that assertions ask, so that mistakes in their names are found before anything is sent.

use quintain_content::text::js;
use quintain_source::{Node, Span};
use serde_json::Value;

/// What a model is asked for. A `provider` may name a different model for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModelTask {
    Text,
    Embedding,
    Classification,
    Moderation,
}

/// A model as a suite writes it, before one is picked for a task.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenModel {
    pub value: Value,
    pub span: Span,
}

/// The model that is asked for a task.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedModel {
    /// An id, the label of a target, or a map with `id` and `config`.
    pub value: Value,
    pub kind: ModelTask,
    pub span: Span,
}

/// What an assertion of a test asks.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedModel {
    /// The type of the assertion, as written.
    pub asked_by: String,
    pub kind: ModelTask,
    /// The model, the default of the run if it is none, or why the suite names none for this task.
    pub model: Result<Option<NamedModel>, String>,
    /// Whether the question to the judge is empty.
    pub lacks_rubric: bool,
    /// Where the assertion is.
    pub span: Span,
}

/// Maps of tasks may be nested, but nobody nests them deeper than this.
const MAX_DEPTH: usize = 8;

impl ModelTask {
    pub const ALL: [Self; 4] =
        [Self::Text, Self::Embedding, Self::Classification, Self::Moderation];

    /// Whether a `provider` names a model for each task.
    pub fn are_keys_of(provider: &Value) -> bool {
        let Some(map) = provider.as_object() else { return false };
        !map.contains_key("id") && Self::ALL.iter().any(|task| map.contains_key(task.key()))
    }

    /// The key in a `provider` that names a model for each task.
    pub fn key(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Embedding => "embedding",
            Self::Classification => "classification",
            Self::Moderation => "moderation",
        }
    }
}

impl WrittenModel {
    pub fn of(node: &Node) -> Option<Self> {
        (!node.is_null()).then(|| Self { value: node.to_json(), span: node.span })
    }

    /// The model for a task.
    ///
    /// # Errors
    /// If there is none for it.
    pub fn pick(&self, kind: ModelTask) -> Result<NamedModel, String> {
        let mut value = &self.value;
        for _ in 0..MAX_DEPTH {
            let missing = || format!("`provider` names no model for the task `{}`", kind.key());
            match value {
                Value::String(id) if id.is_empty() => return Err("`provider` is empty".to_owned()),
                Value::String(_) => return Ok(self.named(value, kind)),
                Value::Object(map) => match map.get(kind.key()) {
                    Some(found) if !js::is_falsy(found) => value = found,
                    _ if map.contains_key("id") => return Ok(self.named(value, kind)),
                    _ => return Err(missing()),
                },
                Value::Array(_) => return Err("`provider` must name one model, not a list".into()),
                _ => return Err("`provider` must be an id or a map".into()),
            }
        }
        Err("`provider` is nested too deeply".to_owned())
    }

    fn named(&self, value: &Value, kind: ModelTask) -> NamedModel {
        NamedModel { value: value.clone(), kind, span: self.span }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written(value: Value) -> WrittenModel {
        WrittenModel { value, span: Span::default() }
    }

    #[test]
    fn the_model_of_a_task_is_picked() {
        let pick = |value: Value, kind| written(value).pick(kind).map(|named| named.value);
        let both = json!({"text": "a", "embedding": {"id": "b", "config": {}}});
        assert_eq!(pick(both.clone(), ModelTask::Text), Ok(json!("a")));
        assert_eq!(pick(both.clone(), ModelTask::Embedding), Ok(both["embedding"].clone()));
        assert!(pick(both, ModelTask::Moderation).is_err());
        let one = json!({"id": "a", "config": {"temperature": 0}});
        assert_eq!(pick(one.clone(), ModelTask::Moderation), Ok(one));
        assert!(pick(json!(["a"]), ModelTask::Text).is_err());
        assert!(pick(json!({"config": {}}), ModelTask::Text).is_err());
        let mut deep = json!("a");
        for _ in 0..20 {
            deep = json!({"text": deep});
        }
        assert!(pick(deep, ModelTask::Text).is_err());
    }
}
