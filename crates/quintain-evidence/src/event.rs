//! What a run tells while it goes on. Reporters, the store and the progress bar listen.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::result::CaseResult;
pub use crate::run_info::{Column, RunInfo};
use crate::tally::Summary;

/// Something that happened in a run. Owned and serialisable: it crosses threads, processes and machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// The id of the run.
    pub run: Arc<str>,
    /// Counts from 1 without gaps, so that a late listener knows where to continue.
    pub sequence: u64,
    #[serde(flatten)]
    pub event: Event,
}

/// What happened. The cases come in the order of the plan, between one `Started` and one `Finished` (also after an
/// interruption); phases may begin before `Started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event", content = "data")]
pub enum Event {
    Started(Arc<RunInfo>),
    Phase(Phase),
    Case(Arc<CaseResult>),
    /// A weakness was found; after the cases.
    Finding(Arc<Finding>),
    /// Something the user should know of, which is no result.
    Warning(String),
    Finished(Arc<Summary>),
}

/// What a run is doing. `Attack` and `Confirm` alternate: a hit is tried again while the target is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Opens targets and asks what they offer.
    Survey,
    /// Looks for calls that work.
    Learn,
    /// Asks a model for calls.
    Propose,
    /// Sends the probes of a suite.
    Probe,
    Attack,
    /// Attacks, and tries hits again.
    Confirm,
    Report,
}

impl Phase {
    /// What a progress line shows.
    pub fn word(self) -> &'static str {
        match self {
            Self::Survey => "survey",
            Self::Learn => "learn",
            Self::Propose => "propose",
            Self::Probe => "probe",
            Self::Attack => "attack",
            Self::Confirm => "attack, confirm",
            Self::Report => "report",
        }
    }
}
