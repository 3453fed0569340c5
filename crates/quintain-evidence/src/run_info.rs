//! What is known about a run before it starts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::result::TargetName;

/// A run before it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// `eval-`, a sortable timestamp and a few random letters.
    pub id: String,
    /// RFC 3339, UTC.
    pub created: String,
    pub description: Option<String>,
    /// The suite as one document, secrets masked.
    pub config: Value,
    /// One column of a table: a prompt for a target.
    pub columns: Vec<Column>,
    /// Number of planned cases.
    pub planned: usize,
    /// Limits and settings of this run: concurrency, repeat, filters, ...
    pub options: Map<String, Value>,
    pub tags: BTreeMap<String, String>,
    pub version: String,
    /// Whether its cases are recorded traces.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_traces: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Column {
    pub target: TargetName,
    pub prompt_idx: usize,
    /// The template.
    pub raw: String,
    pub label: String,
}
