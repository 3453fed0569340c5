//! An answer as evidence: the question, the answer, its duration and its cost.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::exchange::millis;
use crate::question::{Question, TurnReply};

/// An answered question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// [`Question::key`] of the masked question.
    pub key: String,
    /// With secrets masked.
    pub question: Question,
    pub answer: KeptAnswer,
    #[serde(rename = "took_ms", with = "millis")]
    pub took: Duration,
    #[serde(default, skip_serializing_if = "Cost::is_nothing")]
    pub cost: Cost,
    /// Whoever asked could not use the answer, so judging again asks once more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unusable: bool,
}

/// An answer as it is stored. A question that could not be asked has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptAnswer {
    Value(Value),
    Reply(TurnReply),
    Failed(String),
    /// Index of the exchange in `extra` of the evidence.
    Call {
        extra: usize,
    },
}

/// What an answer cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Number of calls of the target.
    #[serde(default)]
    pub calls: u32,
    /// As reported by the model, script or web service that answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<Value>,
    /// In US dollars, if reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
}

impl Cost {
    /// One call of the target.
    pub const CALL: Self = Self { calls: 1, token_usage: None, price: None };

    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The cost that an answer reports: a grading result has `tokensUsed` and possibly `cost`.
    pub fn reported_in(answer: &Value) -> Self {
        let usage =
            ["tokensUsed", "tokens_used", "tokenUsage"].iter().find_map(|key| answer.get(key));
        Self {
            calls: 0,
            token_usage: usage.filter(|usage| usage.is_object()).cloned(),
            // A cached answer was paid for earlier.
            price: answer
                .get("cost")
                .filter(|_| answer.get("cached") != Some(&Value::Bool(true)))
                .and_then(Value::as_f64),
        }
    }
}
