//! What a survey learned about a target: valid calls, values it disclosed, roots it declares.

mod aim;
mod classify;
mod complaints;
mod harm;
mod harmless;
mod harvest;
mod hints;
mod leaves;
mod literal;
mod modes;
mod pattern;
mod programs;
mod synthesis;

pub use aim::{Aim, Kind};
pub use classify::classify;
pub use complaints::{Complaint, Want, amend, complaints};
pub use harm::{Harm, destroys, harm_of, harm_of_call};
pub use harmless::{Leaf, harmless, objection};
pub use harvest::{Learned, harvest};
pub use hints::Hints;
pub use leaves::{aims, aims_in_modes, put};
pub use modes::{Mode, Switch, switch};
pub use programs::missing_programs;
pub use synthesis::Tries;

use std::path::PathBuf;

use quintain_evidence::evidence::Exchange;
pub(crate) use quintain_evidence::lexicon::{Sense, claims_to_destroy};
pub use quintain_evidence::lexicon::{is_destructive, words, writes};
use quintain_evidence::probe::Step;
use quintain_evidence::redteam_report::Silent;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A valid call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    pub server: String,
    pub step: Step,
    pub exchange: Exchange,
}

/// What a survey learned. Stored with the run, so that a replay does not learn again.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Knowledge {
    pub baselines: Vec<Baseline>,
    pub values: Vec<Learned>,
    /// Arguments of valid calls; the target did not necessarily disclose them.
    pub given: Vec<Learned>,
    /// For tools without a valid call: the arguments that came closest.
    pub drafts: Vec<RefusedArguments>,
    /// For tools with several modes: a call for each mode other than that of the baseline.
    #[serde(default)]
    pub modes: Vec<Mode>,
    /// Folders to which the target says it is confined.
    pub roots: Vec<PathBuf>,
    /// Tools without a valid call, and tools that were not called, with the reason.
    pub silent: Vec<Silent>,
    /// Places in arguments, derived from the above.
    #[serde(skip)]
    pub aims: Vec<Aim>,
    /// The same places in the other modes of tools.
    #[serde(skip)]
    pub aims_in_modes: Vec<Aim>,
}

/// Arguments that a tool refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RefusedArguments {
    pub server: String,
    pub tool: String,
    pub args: Map<String, Value>,
}

impl Knowledge {
    pub fn baseline(&self, server: &str, tool: &str) -> Option<&Baseline> {
        self.baselines.iter().find(|baseline| {
            baseline.server == server
                && matches!(&baseline.step, Step::Call(call) if call.tool == tool)
        })
    }
}
