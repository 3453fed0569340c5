//! The interface of strategies, and the result of reading their options.

use quintain_content::registry::Meta;

use super::options::Options;
use super::rewrite::Rewrite;
use super::talk::Talk;
pub use crate::suits::{Receiver, Suits};

/// A way to rewrite or to continue hostile probes.
pub trait Strategy: Sync {
    fn meta(&self) -> &'static Meta;

    fn suits(&self) -> Suits;

    /// Reads the options. If errors are recorded there, the result is not used.
    fn compile(&self, options: &mut Options<'_>) -> StrategyKind;
}

/// What a strategy does.
#[derive(Debug)]
pub enum StrategyKind {
    /// Sends the probe unchanged, unless disabled.
    Keep { enabled: bool },
    /// Replaces texts in the same places.
    Rewrite(Rewrite),
    /// Converses with the target, turn by turn.
    Talk(Talk),
    /// Repeats what worked in an earlier run.
    Retry,
    /// Known by name, but not available.
    Missing(Missing),
}

/// Why a strategy is not available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// What it needs: `speech synthesis and a target that accepts audio`.
    pub needs: &'static str,
    /// The most similar strategy.
    pub instead: Option<&'static str>,
}

/// A strategy that rewrites texts.
pub(super) struct Converter {
    pub meta: &'static Meta,
    pub suits: Suits,
    pub compile: fn(&mut Options<'_>) -> Rewrite,
}

impl Strategy for Converter {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn suits(&self) -> Suits {
        self.suits
    }

    fn compile(&self, options: &mut Options<'_>) -> StrategyKind {
        StrategyKind::Rewrite((self.compile)(options))
    }
}

/// A strategy that converses with the target.
pub(super) struct Dialogue {
    pub meta: &'static Meta,
    pub suits: Suits,
    pub compile: fn(&mut Options<'_>) -> Talk,
}

impl Strategy for Dialogue {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn suits(&self) -> Suits {
        self.suits
    }

    fn compile(&self, options: &mut Options<'_>) -> StrategyKind {
        StrategyKind::Talk((self.compile)(options))
    }
}
