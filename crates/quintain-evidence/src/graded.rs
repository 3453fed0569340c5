//! What `grade` says about a trace: findings of checks, scores of metrics, and the verdict that a policy makes of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::tool_selection::SelectionReport;

/// A fault that a check proves with the trace alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceFinding {
    /// The id of the check, such as `args.schema`.
    pub check: String,
    pub layer: Layer,
    pub severity: Level,
    /// The zero-based position among all calls of the trace; none for the answer itself.
    pub call: Option<usize>,
    /// JSON pointer into the arguments or the result of the call; empty for the whole of it.
    pub pointer: String,
    pub message: String,
    /// What proves it, quoted.
    pub evidence: String,
    pub hint: String,
}

/// Which part of a trace a check looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Frames on the wire.
    Protocol,
    /// One call by itself.
    Call,
    /// Calls and messages in their order.
    Trace,
    /// Comparison with what the author of the case expects.
    Reference,
    /// The opinion of a model.
    Judge,
}

impl Layer {
    pub fn word(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Call => "call",
            Self::Trace => "trace",
            Self::Reference => "reference",
            Self::Judge => "judge",
        }
    }
}

/// How bad a fault in a trace is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Info,
    Warning,
    Error,
}

impl Level {
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Error];

    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// The score of one metric for one trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricScore {
    pub name: String,
    /// From 0 to 1; none if the metric is undefined for the trace.
    pub score: Option<f64>,
    /// Whether the threshold is reached; none without a score.
    pub success: Option<bool>,
    pub threshold: f64,
    pub reason: Option<String>,
    pub findings: Vec<TraceFinding>,
    /// Parts of the score, such as precision and recall.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
    /// What a judge would decide beyond it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    /// Why the metric could not be computed although it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What was found in one trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GradedTrace {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub success: bool,
    pub findings: Vec<TraceFinding>,
    pub metrics: Vec<MetricScore>,
    /// Checks that do not apply, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_applicable: Vec<NotApplicable>,
    /// The rules of the policy that the trace breaks, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_because: Vec<String>,
    /// Where the trace was read: file and line or record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl GradedTrace {
    /// What a file of labels calls the trace: its id, else its name.
    pub fn label_id(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.name)
    }
}

/// A check that says nothing about a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotApplicable {
    pub check: String,
    pub why: String,
}

/// What was found in all traces of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GradeSummary {
    /// Findings by check and severity.
    pub findings: BTreeMap<String, LevelCounts>,
    /// Scores by metric.
    pub metrics: BTreeMap<String, MetricCounts>,
    /// Records that could not be read.
    pub bad_records: usize,
    /// The choice of tools, if cases have expected calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectionReport>,
}

/// How many findings there are of each severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelCounts {
    pub info: usize,
    pub warning: usize,
    pub error: usize,
}

/// The scores of one metric over all traces.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricCounts {
    pub passed: usize,
    pub failed: usize,
    pub not_applicable: usize,
    /// The mean of the scores; none without any.
    pub mean: Option<f64>,
}

impl GradeSummary {
    pub fn add(&mut self, graded: &GradedTrace) {
        for finding in &graded.findings {
            let counts = self.findings.entry(finding.check.clone()).or_default();
            match finding.severity {
                Level::Info => counts.info += 1,
                Level::Warning => counts.warning += 1,
                Level::Error => counts.error += 1,
            }
        }
        for metric in &graded.metrics {
            let counts = self.metrics.entry(metric.name.clone()).or_default();
            if let Some(score) = metric.score {
                let before = counts.mean.unwrap_or_default();
                let scored = (counts.passed + counts.failed + 1) as f64;
                counts.mean = Some(before + (score - before) / scored);
            }
            match metric.success {
                Some(true) => counts.passed += 1,
                Some(false) => counts.failed += 1,
                None => counts.not_applicable += 1,
            }
        }
    }
}
