//! What a language model answered, as it is stored: the answer to a [`crate::question::ModelQuestion`].

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::question::Answer;

/// The answer of a model. Field names are promptfoo's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ModelReply {
    /// Text, a JSON value if one was requested, a vector, classes, or flags.
    pub output: Value,
    /// As sent by the model, if it refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// `prompt`, `completion`, `total`, `cached`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<Value>,
    /// In US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Natural logarithms of the probabilities of the tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_probs: Option<Vec<f64>>,
    /// Whether it comes from the cache of responses.
    pub cached: bool,
    /// Requests that were sent, retries included.
    pub attempts: u32,
    /// The bodies of the request and of the response.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub exchange: Value,
}

/// Why there is no answer of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoReply {
    /// It was asked and failed.
    Failed(String),
    /// It was not asked: no model is configured.
    Unavailable(String),
}

impl ModelReply {
    /// Reads the answer to a question for a model.
    ///
    /// # Errors
    /// If there is no answer, or it is not from a model.
    pub fn of(answer: &Answer) -> Result<Self, NoReply> {
        match answer {
            Answer::Value(value) => serde_json::from_value(value.clone())
                .map_err(|error| NoReply::Failed(format!("the stored answer is invalid: {error}"))),
            Answer::Failed(why) => Err(NoReply::Failed(why.clone())),
            Answer::Unavailable(why) => Err(NoReply::Unavailable(why.clone())),
            Answer::Exchange(_) | Answer::Reply(_) => {
                Err(NoReply::Unavailable("no model was asked".to_owned()))
            }
        }
    }

    /// The output as text: text as it is, anything else as JSON.
    pub fn text(&self) -> String {
        match &self.output {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

impl NoReply {
    pub fn why(&self) -> &str {
        match self {
            Self::Failed(why) | Self::Unavailable(why) => why,
        }
    }
}
