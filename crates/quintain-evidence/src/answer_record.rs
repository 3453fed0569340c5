//! An answer as evidence: what was asked, what came back, how long it took and what it cost.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::exchange::millis;
use crate::question::{Question, Reply};

/// One answered question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRecord {
    /// [`Question::key`] of the masked question.
    pub key: String,
    /// Masked.
    pub question: Question,
    pub answer: KeptAnswer,
    #[serde(rename = "took_ms", with = "millis")]
    pub took: Duration,
    #[serde(default, skip_serializing_if = "Cost::is_nothing")]
    pub cost: Cost,
}

/// An answer that is kept. A question that could not be asked has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptAnswer {
    Value(Value),
    Reply(Reply),
    Failed(String),
    /// The exchange is among the extra ones of the evidence, at this position.
    Call {
        extra: usize,
    },
}

/// What an answer cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Calls of the target.
    #[serde(default)]
    pub calls: u32,
    /// As the model, script or web service that answered reports it.
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

    /// What an answer reports of its own cost: a grading result has `tokensUsed`, and may have `cost`.
    pub fn reported_in(answer: &Value) -> Self {
        let usage =
            ["tokensUsed", "tokens_used", "tokenUsage"].iter().find_map(|key| answer.get(key));
        Self {
            calls: 0,
            token_usage: usage.filter(|usage| usage.is_object()).cloned(),
            price: answer.get("cost").and_then(Value::as_f64),
        }
    }
}
