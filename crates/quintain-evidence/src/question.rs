//! What a check cannot find out by itself. The engine asks and hands the answers back, so checks
//! stay pure and synchronous.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::code::Code;
use crate::evidence::Exchange;
use crate::kept_file::KeptFile;
use crate::probe::Step;

#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// For a model that judges.
    Judge(JudgeQuestion),
    /// For an interpreter of the user: Python or Ruby code with its arguments.
    Run { code: Code, arguments: Vec<Value> },
    /// For a web service: the body is posted as JSON.
    Post { url: String, body: Value },
    /// For the target: one more call.
    Call(Step),
    /// For the disk: the text of a file, null if there is no such file.
    Read(KeptFile),
}

/// A question for a model. Its form is completed by those who ask models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgeQuestion {
    /// The type of the assertion that asks.
    pub kind: String,
    pub criteria: Value,
    pub output: Value,
}

/// The answer to the question of the same position.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Value(Value),
    Exchange(Box<Exchange>),
    /// It was asked and failed: the interpreter raised, the service answered 500.
    Failed(String),
    /// There was nobody to ask: no judge configured, no interpreter found.
    Unavailable(String),
}
