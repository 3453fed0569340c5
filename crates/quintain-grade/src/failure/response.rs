//! What an application can do about a failed call.

/// What the application did about a failed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// The position of the failed call.
    pub call: usize,
    pub response: Response,
    /// A sentence with which the application claims success after the failure.
    pub claim: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response {
    /// The same call succeeded later, at this position.
    Retried(usize),
    /// The tool succeeded later with other arguments.
    ChangedArguments(usize),
    /// Another tool succeeded later with the same values.
    OtherTool(usize),
    /// It asked the user.
    AskedUser,
    /// It stopped and said that something failed.
    Reported,
    /// It made the same call again, which failed again, and said nothing about it.
    RepeatedUnchanged,
    /// It continued as if nothing had happened.
    Ignored,
    /// Nothing that the application says is recorded.
    Unknown,
}

impl Response {
    /// Whether the failure had no consequence that the trace shows.
    pub fn is_ignored(self) -> bool {
        matches!(self, Self::RepeatedUnchanged | Self::Ignored)
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Retried(_) => "retried",
            Self::ChangedArguments(_) => "changed arguments",
            Self::OtherTool(_) => "other tool",
            Self::AskedUser => "asked the user",
            Self::Reported => "reported",
            Self::RepeatedUnchanged => "repeated unchanged",
            Self::Ignored => "ignored",
            Self::Unknown => "unknown",
        }
    }

    /// The position of the call that succeeded instead.
    pub fn success(self) -> Option<usize> {
        match self {
            Self::Retried(at) | Self::ChangedArguments(at) | Self::OtherTool(at) => Some(at),
            Self::AskedUser
            | Self::Reported
            | Self::RepeatedUnchanged
            | Self::Ignored
            | Self::Unknown => None,
        }
    }
}
