//! What a run tells while it goes on. Reporters, the store and the progress bar listen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::finding::Finding;
use crate::result::{CaseResult, TargetName};
use crate::tally::Summary;

/// In the order of the plan: one `Started`, the cases, one `Finished` (also after an interruption).
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    Started(&'a RunInfo),
    Case(&'a CaseResult),
    Finished(&'a Summary),
    /// A phase of a red-team run begins; before `Started` too.
    Phase(&'a str),
    /// A weakness was found; after the cases.
    Finding(&'a Finding),
}

/// What is known of a run before it starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// `eval-` and a sortable moment and a few random letters.
    pub id: String,
    /// RFC 3339, UTC.
    pub created: String,
    pub description: Option<String>,
    /// The suite as one document, secrets masked.
    pub config: Value,
    /// One column of a table: a prompt for a target.
    pub columns: Vec<Column>,
    /// How many cases are planned.
    pub planned: usize,
    /// Limits and choices of this run: concurrency, repeat, filters, ...
    pub options: Map<String, Value>,
    pub tags: BTreeMap<String, String>,
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Column {
    pub target: TargetName,
    pub prompt_idx: usize,
    /// The template.
    pub raw: String,
    pub label: String,
}
