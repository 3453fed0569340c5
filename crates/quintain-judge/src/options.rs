//! How carefully a judge is asked, as users write it: `judge: {samples: 5, levels: 4, abstain: true}`.

use serde_json::Value;

use crate::rubric::{MAX_LEVELS, MIN_LEVELS};

/// More samples need more rounds than an inquiry has.
pub const MAX_SAMPLES: usize = 11;
const DEFAULT_SAMPLES: usize = 3;
const DEFAULT_LEVELS: usize = 4;
/// Below this agreement a judge that may abstain does so.
const DEFAULT_AGREEMENT: f64 = 0.6;

/// How a judge is asked carefully.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeOptions {
    /// Opinions at most; fewer if the outcome is certain before.
    pub samples: usize,
    /// Levels of the rubric.
    pub levels: usize,
    /// Whether the judge may leave it undecided.
    pub abstain: bool,
    /// The agreement below which it abstains.
    pub agreement: f64,
    /// The model as the configuration names it; none for the default.
    pub model: Option<Value>,
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self {
            samples: DEFAULT_SAMPLES,
            levels: DEFAULT_LEVELS,
            abstain: false,
            agreement: DEFAULT_AGREEMENT,
            model: None,
        }
    }
}

/// A mistake in the options of a judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JudgeOptionError {
    /// The option, or empty for the whole.
    pub option: String,
    pub message: String,
}

impl JudgeOptions {
    /// Reads `true` for the defaults, or an object.
    ///
    /// # Errors
    /// All mistakes.
    pub fn read(value: &Value) -> Result<Self, Vec<JudgeOptionError>> {
        let mut options = Self::default();
        let mut errors = Vec::new();
        let mut error = |option: &str, message: String| {
            errors.push(JudgeOptionError { option: option.to_owned(), message });
        };
        match value {
            Value::Bool(true) => {}
            Value::Object(entries) => {
                for (key, value) in entries {
                    let wrong = |expected: &str| {
                        format!("expected {expected} for `{key}` of `judge`, not {value}")
                    };
                    match key.as_str() {
                        _ if value.is_null() => {}
                        "samples" => match number(value, 1, MAX_SAMPLES) {
                            Some(samples) => options.samples = samples,
                            None => error(key, wrong(&format!("a number from 1 to {MAX_SAMPLES}"))),
                        },
                        "levels" => match number(value, MIN_LEVELS, MAX_LEVELS) {
                            Some(levels) => options.levels = levels,
                            None => error(
                                key,
                                wrong(&format!("a number from {MIN_LEVELS} to {MAX_LEVELS}")),
                            ),
                        },
                        "abstain" => match value.as_bool() {
                            Some(abstain) => options.abstain = abstain,
                            None => error(key, wrong("true or false")),
                        },
                        "agreement" => match value.as_f64().filter(|n| (0.0..=1.0).contains(n)) {
                            Some(agreement) => {
                                options.agreement = agreement;
                                options.abstain |= !entries.contains_key("abstain");
                            }
                            None => error(key, wrong("a number from 0 to 1")),
                        },
                        "model" | "provider" | "id" => match model(value) {
                            Some(model) => options.model = Some(model),
                            None => error(key, wrong("the id of a model, or a map with `id`")),
                        },
                        _ => error(
                            key,
                            format!(
                                "`{key}` is not an option of `judge`; the options are samples, levels, abstain, \
                                 agreement, model"
                            ),
                        ),
                    }
                }
            }
            other => error("", format!("expected true or a map for `judge`, not {other}")),
        }
        if errors.is_empty() { Ok(options) } else { Err(errors) }
    }

    /// The agreement that the outcome needs, if the judge may abstain.
    pub fn abstain_below(&self) -> Option<f64> {
        self.abstain.then_some(self.agreement)
    }
}

/// A model as a configuration names it: an id, or a map with `id`.
pub fn model(value: &Value) -> Option<Value> {
    let is_named = |id: &Value| id.as_str().is_some_and(|id| !id.trim().is_empty());
    let is_model = is_named(value) || value.get("id").is_some_and(is_named);
    is_model.then(|| value.clone())
}

fn number(value: &Value, least: usize, most: usize) -> Option<usize> {
    let number = value.as_u64().and_then(|number| usize::try_from(number).ok());
    number.filter(|number| (least..=most).contains(number))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_are_read_with_their_defaults() {
        let read =
            JudgeOptions::read(&json!({"samples": 5, "levels": 3, "abstain": true})).unwrap();
        assert_eq!((read.samples, read.levels, read.abstain_below()), (5, 3, Some(0.6)));
        assert_eq!(JudgeOptions::read(&json!(true)), Ok(JudgeOptions::default()));
        let model = json!({"id": "openai:chat:x", "config": {"temperature": 0}});
        let read = JudgeOptions::read(&json!({"model": model, "agreement": 0.9})).unwrap();
        assert_eq!((read.abstain_below(), read.model), (Some(0.9), Some(model)));
    }

    #[test]
    fn all_mistakes_are_reported() {
        let wrong = json!({"samples": 0, "levels": 6, "abstain": "yes", "agreement": 2, "model": " ", "sample": 3});
        let errors = JudgeOptions::read(&wrong).unwrap_err();
        let options: Vec<&str> = errors.iter().map(|error| error.option.as_str()).collect();
        assert_eq!(options, ["samples", "levels", "abstain", "agreement", "model", "sample"]);
        assert_eq!(
            errors[1].to_string(),
            "expected a number from 3 to 5 for `levels` of `judge`, not 6"
        );
        assert_eq!(JudgeOptions::read(&json!("three")).unwrap_err().len(), 1);
    }
}
