//! Which targets an attack or a strategy is for.

/// Who receives the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Receiver {
    /// An MCP server, in the arguments of its tools and prompts.
    #[default]
    Arguments,
    /// A target that takes text: a model, an application with a model in it, an agent.
    Model,
}

impl Receiver {
    /// What is needed as target, for messages.
    pub fn needed(self) -> &'static str {
        match self {
            Self::Arguments => "an MCP server as target",
            Self::Model => "a model or agent as target",
        }
    }
}

/// Which receivers an attack or a strategy applies to.
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
    #[must_use]
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

    /// For tables: `both`, `MCP`, `models`.
    pub fn word(self) -> &'static str {
        match (self.arguments, self.models) {
            (true, true) => "both",
            (true, false) => "MCP",
            (false, true) => "models",
            (false, false) => "none",
        }
    }
}
