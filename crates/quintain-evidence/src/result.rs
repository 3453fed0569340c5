//! The result of one case, as reporters and the store receive it: plain data, secrets already masked.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::evidence::Evidence;
use crate::graded::GradedTrace;
use crate::response::Response;
use crate::verdict::Verdict;

/// One case: a test with one set of variables, one prompt, one target, one repetition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// Position in the plan; results are reported in this order.
    pub ordinal: usize,
    /// Position of the test after expansion of variables; different for every repetition.
    pub test_idx: usize,
    /// The same for all repetitions of a case.
    pub group: usize,
    /// Position of the column: a prompt for a target.
    pub prompt_idx: usize,
    /// 0 for the first repetition.
    pub repeat: u32,
    pub target: TargetName,
    pub prompt: PromptText,
    pub description: Option<String>,
    /// One combination of the test's variables, before references between them are resolved.
    pub vars: Map<String, Value>,
    /// The test as written, with the defaults merged in: promptfoo's `testCase`.
    pub test: Value,
    /// Where the suite defines the test.
    pub place: Option<SourcePlace>,
    pub status: CaseStatus,
    pub score: f64,
    pub named_scores: BTreeMap<String, f64>,
    pub response: Response,
    pub evidence: Evidence,
    /// None if no assertion was evaluated.
    pub grade: Option<Grade>,
    /// Why there is no verdict, or the reason of the first failed assertion.
    pub error: Option<String>,
    /// Duration of all steps at the target, without queueing in Quintain.
    pub latency_ms: f64,
    /// Number of tries until this result; above 1 only after transport errors.
    pub attempts: u32,
    /// What checks and metrics say about the trace, if the case is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graded: Option<Box<GradedTrace>>,
}

impl CaseResult {
    /// The verdict on a trace that was read. A case that ran and was scored by metrics is no such trace.
    pub fn graded_trace(&self) -> Option<&GradedTrace> {
        self.graded.as_deref().filter(|_| self.evidence.trace.is_some())
    }

    /// A case without a result: nothing was sent, nothing is judged.
    pub fn blank(ordinal: usize, target: TargetName, prompt: PromptText) -> Self {
        Self {
            ordinal,
            test_idx: ordinal,
            group: ordinal,
            prompt_idx: 0,
            repeat: 0,
            target,
            prompt,
            description: None,
            vars: Map::new(),
            test: Value::Null,
            place: None,
            status: CaseStatus::Errored,
            score: 0.0,
            named_scores: BTreeMap::new(),
            response: Response::default(),
            evidence: Evidence::default(),
            grade: None,
            error: None,
            latency_ms: 0.0,
            attempts: 0,
            graded: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CaseStatus {
    Passed,
    /// An assertion failed.
    Failed,
    /// There was no answer to judge, or no verdict on it.
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

/// A position in the user's files, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourcePlace {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl std::fmt::Display for SourcePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// All verdicts of a case combined.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    pub pass: bool,
    pub score: f64,
    pub reason: String,
    pub named_scores: BTreeMap<String, f64>,
    /// The weight with which each name was counted.
    #[serde(default)]
    pub named_weights: BTreeMap<String, f64>,
    pub components: Vec<Component>,
}

/// The verdict of one entry of `assert`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// The entry as written.
    pub assertion: Value,
    pub place: Option<SourcePlace>,
    pub verdict: Verdict,
    /// Index of the component of the `assert-set` that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<usize>,
}

impl Component {
    /// Whether it is an `assert-set`, whose members follow as separate components.
    pub fn is_set(&self) -> bool {
        self.assertion.get("type").and_then(Value::as_str) == Some("assert-set")
    }
}
