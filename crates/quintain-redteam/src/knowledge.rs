//! What a survey learned about a target: calls that work, values it gave away, roots it declares.

mod aim;
mod classify;
mod complaints;
mod harm;
mod harmless;
mod harvest;
mod hints;
mod leaves;
mod lexicon;
mod literal;
mod modes;
mod pattern;
mod programs;
mod synthesis;

pub use aim::{Aim, Kind};
pub use classify::{classify, words};
pub use complaints::{Complaint, Want, amend, complaints};
pub use harm::{Harm, destroys, harm_of, harm_of_call};
pub use harmless::{Leaf, harmless, objection};
pub use harvest::{Learned, harvest};
pub use hints::Hints;
pub use leaves::{aims, aims_in_modes, put};
pub(crate) use lexicon::{Sense, claims_to_destroy};
pub use lexicon::{is_destructive, writes};
pub use modes::{Mode, Switch, switch};
pub use programs::missing_programs;
pub use synthesis::Tries;

use std::path::PathBuf;

use quintain_evidence::evidence::Exchange;
use quintain_evidence::probe::Step;
use quintain_evidence::redteam_report::Silent;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A call that works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    pub server: String,
    pub step: Step,
    pub exchange: Exchange,
}

/// What a survey learned. Kept with the run, so that a replay needs no learning.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Knowledge {
    pub baselines: Vec<Baseline>,
    pub values: Vec<Learned>,
    /// Arguments of calls that worked; the target need not have told them.
    pub given: Vec<Learned>,
    /// For tools that no call satisfied: the arguments that came closest.
    pub drafts: Vec<Draft>,
    /// Tools that do several things: a call for each that is not the one of their baseline.
    #[serde(default)]
    pub modes: Vec<Mode>,
    /// Folders that the target says it is confined to.
    pub roots: Vec<PathBuf>,
    /// Tools that no call of ours satisfied, or that were left alone, and why.
    pub silent: Vec<Silent>,
    /// Places inside of arguments, made from the above.
    #[serde(skip)]
    pub aims: Vec<Aim>,
    /// The same places while tools do something else.
    #[serde(skip)]
    pub aims_in_modes: Vec<Aim>,
}

/// Arguments that a tool refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Draft {
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
