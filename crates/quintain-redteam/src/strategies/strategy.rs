//! What a strategy is, and what it becomes once its options are read.

use quintain_content::registry::Meta;

use super::options::Options;
use super::retry::Retry;
use super::rewrite::Rewrite;
use super::talk::Talk;

/// A way to rewrite or to continue hostile probes.
pub trait Strategy: Sync {
    fn meta(&self) -> &'static Meta;

    fn suits(&self) -> Suits;

    /// Reads the options. Mistakes are noted there; what comes back is then not used.
    fn compile(&self, options: &mut Options<'_>) -> Way;
}

/// How a strategy works.
#[derive(Debug)]
pub enum Way {
    /// The probe as it is, unless switched off.
    Keep { enabled: bool },
    /// Other texts in the same places.
    Rewrite(Rewrite),
    /// A conversation, turn by turn.
    Talk(Talk),
    /// What earlier runs found, once more.
    Retry(Retry),
    /// Known by name, but it cannot be done here.
    Missing(Missing),
}

/// Why a strategy cannot be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// What it would need: `speech synthesis and a target that listens`.
    pub needs: &'static str,
    /// The strategy that comes nearest to it.
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

/// Who a strategy makes sense for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suits {
    arguments: bool,
    models: bool,
}

impl Suits {
    /// Code that decodes, folds or parses its input.
    pub const ARGUMENTS: Self = Self { arguments: true, models: false };
    /// What only a reader understands.
    pub const MODELS: Self = Self { arguments: false, models: true };
    pub const BOTH: Self = Self { arguments: true, models: true };

    pub fn includes(self, receiver: Receiver) -> bool {
        match receiver {
            Receiver::Arguments => self.arguments,
            Receiver::Model => self.models,
        }
    }

    /// What suits both of two steps.
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

/// The short way to write a strategy that rewrites texts.
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

    fn compile(&self, options: &mut Options<'_>) -> Way {
        Way::Rewrite((self.compile)(options))
    }
}

/// The short way to write a strategy that takes turns.
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

    fn compile(&self, options: &mut Options<'_>) -> Way {
        Way::Talk((self.compile)(options))
    }
}
