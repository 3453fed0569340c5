//! A check's verdict, and where its proof is in the evidence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::kept_file::KeptFile;

/// What a check concludes from the evidence of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    pub status: Status,
    /// From 0 to 1 by convention; scripts may return any number.
    pub score: f64,
    pub reason: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<Proof>,
    /// Named scores (a script may return several).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub named_scores: BTreeMap<String, f64>,
    /// The parts of a verdict that a script returned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub components: Vec<Verdict>,
    /// Other data (a diff, the rendered value, ...).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Value>,
    /// What the judges of this verdict used: `prompt`, `completion`, `total`, `cached`, `numRequests`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_used: Option<serde_json::Value>,
    /// A file that the check proposes to write: a snapshot. Checks do not write; the engine does, if the user wants
    /// it.
    #[serde(skip)]
    pub proposal: Option<Proposal>,
}

/// A file that should contain this text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    pub file: KeptFile,
    pub text: String,
    /// Whether the file does not exist yet.
    pub fresh: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Pass,
    Fail,
    /// The check could not be evaluated: no judge, a broken script. Never a pass.
    Error,
}

/// Where the evidence shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// Index into the exchanges of the evidence; those that a check requested follow the probe's.
    pub exchange: usize,
    /// JSON pointer into the outcome; empty for the whole outcome.
    pub pointer: String,
}

impl Verdict {
    /// Proposes a file with this text.
    #[must_use]
    pub fn proposing(self, file: KeptFile, text: String, fresh: bool) -> Self {
        Self { proposal: Some(Proposal { file, text, fresh }), ..self }
    }

    pub fn new(pass: bool, score: f64, reason: impl Into<String>) -> Self {
        let status = if pass { Status::Pass } else { Status::Fail };
        Self {
            status,
            score,
            reason: reason.into(),
            proofs: Vec::new(),
            named_scores: BTreeMap::new(),
            components: Vec::new(),
            metadata: None,
            tokens_used: None,
            proposal: None,
        }
    }

    /// Passed with score 1.
    pub fn pass(reason: impl Into<String>) -> Self {
        Self::new(true, 1.0, reason)
    }

    /// Failed with score 0.
    pub fn fail(reason: impl Into<String>) -> Self {
        Self::new(false, 0.0, reason)
    }

    /// Score 1 or 0.
    pub fn of(pass: bool, reason: impl Into<String>) -> Self {
        Self::new(pass, f64::from(u8::from(pass)), reason)
    }

    /// Score 1 or 0, with promptfoo's reason if it passed.
    pub fn met(pass: bool, why_not: impl FnOnce() -> String) -> Self {
        if pass { Self::pass("Assertion passed") } else { Self::fail(why_not()) }
    }

    pub fn error(reason: impl Into<String>) -> Self {
        Self { status: Status::Error, ..Self::fail(reason) }
    }

    pub fn passed(&self) -> bool {
        self.status == Status::Pass
    }

    pub fn proof(mut self, exchange: usize, pointer: impl Into<String>) -> Self {
        self.proofs.push(Proof { exchange, pointer: pointer.into() });
        self
    }
}
