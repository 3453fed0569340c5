//! Attacks: families of hostile probes, each with an oracle that tells proof from coincidence. The
//! extension point for everything that `redteam` and `scan` look for.
//!
//! An attack is pure. It names its aims, writes attempts, and reads what came of them; the engine sends
//! them, watches what happens outside the wire, and repeats what hit.

mod any;
mod attempt;
mod brief;
mod lasting;
mod marks;
mod needs;
mod target_view;
mod token;
mod trial;

pub use crate::knowledge::{Aim, Kind};
pub use any::AnyAttack;
pub use attempt::{Action, Attempt, HttpRequest};
pub use brief::{Brief, CanaryFiles, Listener};
pub use lasting::{PLANTED, lasting, listed};
pub use marks::{MarkKey, Marks, Nonce};
pub use needs::{Need, missing};
pub use target_view::{Capabilities, Identity, TargetView};
pub use token::{Given, Token};
pub use trial::{Hit, Trial, Tried};

use quintain_content::registry::About;
use quintain_evidence::evidence::Observation;
use quintain_evidence::indicator::Indicator;
use quintain_evidence::weakness::Weakness;

/// A family of hostile probes with its oracle: built in, or defined in a suite.
pub trait Attack: Send + Sync {
    fn meta(&self) -> About<'_>;

    /// What its findings are called; several attacks may prove one kind of weakness.
    fn rule(&self) -> &str {
        self.meta().id
    }

    /// Whether a hit that does not come again means nothing: clocks differ by chance.
    fn is_unsteady(&self) -> bool {
        false
    }

    /// Whether it may end the target, or keep it busy for long: such attacks come last.
    fn may_end_target(&self) -> bool {
        false
    }

    /// Whether it must be alone with the target: others would disturb the clock, or the files, that it
    /// looks at.
    fn wants_quiet(&self) -> bool {
        false
    }

    /// Whether everything it finds at one place is one fault. Then no more is sent once it is proved.
    fn has_one_fault(&self) -> bool {
        false
    }

    /// Whether an observation that comes late can mean something to it. Every program that is given a
    /// text is started with it; only who looks at their arguments wants to know.
    fn reads(&self, observation: &Observation) -> bool {
        !matches!(observation, Observation::Program { .. })
    }

    /// Whether a payload that hits may be cut down to its least form. What is cut must do no harm on
    /// its way there: half a path is a path to somewhere else.
    fn shrinks(&self) -> bool {
        true
    }

    /// What it does with what there is, if that is less than it could do.
    fn falls_back(&self, _field: &TargetView<'_>) -> Option<&'static str> {
        None
    }

    /// How bad it is, and what the frameworks call it.
    fn weakness(&self) -> Weakness<'_>;

    /// What it cannot do without.
    fn needs(&self) -> &[Need] {
        &[]
    }

    /// Whether [`Self::inspect`] looks at anything.
    fn inspects(&self) -> bool {
        false
    }

    /// Whether [`Self::inspect`] looks at answers that were learned, and not at lists.
    fn inspects_answers(&self) -> bool {
        false
    }

    /// What the surface alone proves or suggests, without a call.
    fn inspect(&self, _field: &TargetView<'_>) -> Vec<Hit> {
        Vec::new()
    }

    /// What is worth attacking, the most promising first.
    fn aims(&self, _field: &TargetView<'_>) -> Vec<Aim> {
        Vec::new()
    }

    /// What to send at an aim, the simplest form first.
    fn attempts(&self, _aim: &Aim, _brief: &Brief<'_>) -> Vec<Attempt> {
        Vec::new()
    }

    /// What the answer to one attempt of a set would show if it worked: which one, and the sign. For tests
    /// that are written before anything is sent; none if the proof is seen elsewhere.
    fn expects(&self, _set: &[Attempt], _field: &TargetView<'_>) -> Option<(usize, Indicator)> {
        None
    }

    /// What the attempts prove. Missing evidence proves nothing.
    fn detect(&self, _trial: &Trial<'_>) -> Vec<Hit> {
        Vec::new()
    }
}
