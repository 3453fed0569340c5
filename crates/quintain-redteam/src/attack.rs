//! Attacks: families of hostile probes, each with an oracle that distinguishes proof from coincidence. The extension
//! point for everything that `redteam` and `scan` look for.
//!
//! An attack is pure. It names its aims, writes attempts and reads the evidence; the engine sends the attempts,
//! observes what happens outside the wire, and repeats hits.

mod answered;
mod any;
mod attempt;
mod brief;
mod chat;
mod input;
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
pub use chat::{Chat, Hostile};
pub(crate) use input::SHORT_EXCERPT;
pub use input::{Input, InputPrompt, OfferedTool};
pub use lasting::{PLANTED, lasting, listed};
pub use marks::{MarkKey, Marks, Nonce};
pub use needs::{Need, missing};
pub use target_view::{Capabilities, Identity, TargetView};
pub use token::{Given, Token};
pub use trial::{Hit, Trial, Tried};

use quintain_content::registry::About;
use quintain_evidence::evidence::Observation;
use quintain_evidence::indicator::Indicator;
use quintain_evidence::question::Question;
use quintain_evidence::weakness::Weakness;

use crate::suits::Suits;

/// A family of hostile probes with its oracle: built in, or defined in a suite.
pub trait Attack: Send + Sync {
    fn meta(&self) -> About<'_>;

    /// The rule of its findings; several attacks may prove one kind of weakness.
    fn rule(&self) -> &str {
        self.meta().id
    }

    /// Which targets it applies to.
    fn suits(&self) -> Suits {
        Suits::ARGUMENTS
    }

    /// What a model has to decide about an attempt before [`Self::detect`] can use its answers, which are then part of
    /// the evidence of the attempt.
    fn asks(&self, _trial: &Trial<'_>, _tried: &Tried) -> Vec<Question> {
        Vec::new()
    }

    /// Whether models were asked about the attempts and none of their answers is an opinion, so that the trial shows nothing.
    fn is_undecided(&self, _trial: &Trial<'_>) -> bool {
        false
    }

    /// Whether a hit counts only if it reproduces, because durations vary.
    fn is_unsteady(&self) -> bool {
        false
    }

    /// Whether it may crash the target or keep it busy for long. Such attacks run last.
    fn may_end_target(&self) -> bool {
        false
    }

    /// Whether it must be the only one to use the target: others would disturb the durations or files that it observes.
    fn wants_quiet(&self) -> bool {
        false
    }

    /// Whether everything it finds at one place is one fault. Then nothing more is sent once the fault is proven.
    fn has_one_fault(&self) -> bool {
        false
    }

    /// Whether it evaluates an observation that arrives late. Started programs are observed for every attempt, but only
    /// attacks that read their arguments need them.
    fn reads(&self, observation: &Observation) -> bool {
        !matches!(observation, Observation::Program { .. })
    }

    /// Whether a payload that hits may be reduced to its shortest form. Shortened payloads must be harmless: half a
    /// path is a path to somewhere else.
    fn shrinks(&self) -> bool {
        true
    }

    /// How the attack is limited, if the target lacks something that it could use.
    fn falls_back(&self, _field: &TargetView<'_>) -> Option<&'static str> {
        None
    }

    /// The severity, and the ids in frameworks.
    fn weakness(&self) -> Weakness<'_>;

    /// What it requires.
    fn needs(&self) -> &[Need] {
        &[]
    }

    /// Whether [`Self::inspect`] reads anything.
    fn inspects(&self) -> bool {
        false
    }

    /// Whether [`Self::inspect`] reads learned answers instead of lists.
    fn inspects_answers(&self) -> bool {
        false
    }

    /// What the surface alone proves or suggests, without a call.
    fn inspect(&self, _field: &TargetView<'_>) -> Vec<Hit> {
        Vec::new()
    }

    /// The places to attack, the most promising first.
    fn aims(&self, _field: &TargetView<'_>) -> Vec<Aim> {
        Vec::new()
    }

    /// The attempts at an aim, the simplest form first.
    fn attempts(&self, _aim: &Aim, _brief: &Brief<'_>) -> Vec<Attempt> {
        Vec::new()
    }

    /// Which attempt of a set shows that the attack worked, and by which sign in its response. For tests that are
    /// written before anything is sent; none if the proof is not in a response.
    fn expects(&self, _set: &[Attempt], _field: &TargetView<'_>) -> Option<(usize, Indicator)> {
        None
    }

    /// What the attempts prove. Missing evidence proves nothing.
    fn detect(&self, _trial: &Trial<'_>) -> Vec<Hit> {
        Vec::new()
    }
}
