//! What came of one case, as reporters and the store get it: plain data, secrets already masked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::evidence::Evidence;
use crate::response::Response;
use crate::verdict::Verdict;

/// One case: a test with one set of variables, one prompt, one target, one repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// Position in the plan; results are reported in this order.
    pub ordinal: usize,
    /// Position of the test after expansion of variables; every repetition has its own.
    pub test_idx: usize,
    /// The same for all repetitions of a case.
    pub group: usize,
    /// Position of the column: a prompt for a target.
    pub prompt_idx: usize,
    /// 0 for the first time.
    pub repeat: u32,
    pub target: TargetName,
    pub prompt: PromptText,
    pub description: Option<String>,
    /// Of the test, one combination of them, before they mention each other.
    pub vars: Map<String, Value>,
    /// The test as written, with the defaults merged in: promptfoo's `testCase`.
    pub test: Value,
    /// Where the test stands in the suite.
    pub place: Option<Place>,
    pub status: CaseStatus,
    pub score: f64,
    pub named_scores: BTreeMap<String, f64>,
    pub response: Response,
    pub evidence: Evidence,
    /// None if assertions were not judged.
    pub grade: Option<Grade>,
    /// Why there is no verdict, or the reason of the first failed assertion.
    pub error: Option<String>,
    /// How long the target took, all steps together, without our own queue.
    pub latency_ms: f64,
    /// Which try brought this result; 1 unless transport faults made it try again.
    pub attempts: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseStatus {
    Passed,
    /// An assertion said no.
    Failed,
    /// There was nothing to judge, or no way to.
    Errored,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TargetName {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl TargetName {
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptText {
    /// With the variables filled in.
    pub raw: String,
    pub label: String,
}

/// A place in the user's files, as people count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// All verdicts of a case in one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    pub pass: bool,
    pub score: f64,
    pub reason: String,
    pub named_scores: BTreeMap<String, f64>,
    /// With which weight each name was counted.
    #[serde(default)]
    pub named_weights: BTreeMap<String, f64>,
    pub components: Vec<Component>,
}

/// The verdict of one entry of `assert`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// The entry as written.
    pub assertion: Value,
    pub place: Option<Place>,
    pub verdict: Verdict,
    /// Position of the `assert-set` it belongs to, among the components.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<usize>,
}

impl Component {
    /// Whether it is an `assert-set`, whose members follow as components of their own.
    pub fn is_set(&self) -> bool {
        self.assertion.get("type").and_then(Value::as_str) == Some("assert-set")
    }
}
