//! Events of a run while it is in progress. Reporters, the store and the progress bar receive them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::result::CaseResult;
pub use crate::run_info::{Column, RunInfo};
use crate::tally::Summary;

/// Something that happened in a run. Owned and serialisable, since it crosses threads, processes and machines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// The id of the run.
    pub run: Arc<str>,
    /// Counts from 1 without gaps, so that a late listener knows where to resume.
    pub sequence: u64,
    #[serde(flatten)]
    pub event: Event,
}

/// What happened. Cases arrive in the order of the plan, between one `Started` and one `Finished` (also after an
/// interruption). Phases may begin before `Started`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "event", content = "data")]
pub enum Event {
    Started(Arc<RunInfo>),
    Phase(Phase),
    Case(Arc<CaseResult>),
    /// A weakness was found; sent after the cases.
    Finding(Arc<Finding>),
    /// Something that the user should know and that is not a result.
    Warning(String),
    Finished(Arc<Summary>),
}

/// What a run is doing. `Attack` and `Confirm` alternate: a hit is repeated while the target is in the same state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Connects to targets and lists their surface.
    Survey,
    /// Searches for valid calls.
    Learn,
    /// Asks a model for valid calls.
    Propose,
    /// Sends a suite's probes.
    Probe,
    Attack,
    /// Attacks, and repeats hits.
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
