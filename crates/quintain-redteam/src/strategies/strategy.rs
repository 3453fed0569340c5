//! The interface of strategies, and the result of reading their options.

use quintain_content::registry::Meta;

use super::options::Options;
use super::rewrite::Rewrite;
use super::talk::Talk;

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

/// Who receives the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Receiver {
    /// An MCP server, in the arguments of its tools and prompts.
    Arguments,
    /// A model, or an agent with a model in it.
    Model,
}

/// Which receivers a strategy applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suits {
    arguments: bool,
    models: bool,
}

impl Suits {
    /// Code that decodes, folds or parses its input.
    pub const ARGUMENTS: Self = Self { arguments: true, models: false };
    /// For texts that only a model understands.
    pub const MODELS: Self = Self { arguments: false, models: true };
    pub const BOTH: Self = Self { arguments: true, models: true };

    pub fn includes(self, receiver: Receiver) -> bool {
        match receiver {
            Receiver::Arguments => self.arguments,
            Receiver::Model => self.models,
        }
    }

    /// The receivers that both of two steps apply to.
    pub fn and(self, other: Self) -> Self {
        Self { arguments: self.arguments && other.arguments, models: self.models && other.models }
    }

    /// For messages: `models and agents`.
    pub fn describe(self) -> &'static str {
        match (self.arguments, self.models) {
            (true, true) => "tool arguments, models and agents",
            (true, false) => "tool arguments",
            (false, true) => "models and agents",
            (false, false) => "no target",
        }
    }
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
