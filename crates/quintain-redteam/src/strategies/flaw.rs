//! Errors in the entries of `strategies:`.

use thiserror::Error;

/// An error in an entry of `strategies`, and its position.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{flaw}")]
pub struct Mistake {
    /// JSON pointer from the entry, or from the list if a list was read.
    pub pointer: String,
    pub flaw: Flaw,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Flaw {
    #[error("expected the name of a strategy or a map with `id`, not {found}")]
    NotAnEntry { found: &'static str },
    #[error("unknown strategy `{name}`{}", meant(*.closest))]
    UnknownStrategy { name: String, closest: Option<&'static str> },
    #[error("strategies in files are not supported: `{name}`")]
    File { name: String },
    #[error("`{strategy}` has no option `{option}`{}", meant(*.closest))]
    UnknownOption { strategy: &'static str, option: String, closest: Option<&'static str> },
    #[error("`{strategy}` requires the option `{option}`")]
    Missing { strategy: &'static str, option: &'static str },
    #[error("`{option}` must be {wanted}, not {found}")]
    WrongType { option: String, wanted: String, found: String },
    #[error("`{option}` must be one of {allowed}, not `{word}`{}", meant(*.closest))]
    UnknownWord { option: String, allowed: String, word: String, closest: Option<&'static str> },
    #[error("`{option}` is not a valid regular expression: {why}")]
    Pattern { option: String, why: String },
    #[error("`{step}` cannot be a step of `{strategy}`: {why}")]
    NoStep { step: String, strategy: &'static str, why: &'static str },
}

fn meant(closest: Option<&'static str>) -> String {
    closest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

impl Flaw {
    /// The code of its diagnostic.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAnEntry { .. } | Self::WrongType { .. } => "config::wrong-type",
            Self::UnknownStrategy { .. } => "config::unknown-strategy",
            Self::File { .. } => "config::unsupported",
            Self::UnknownOption { .. } => "config::unknown-key",
            Self::Missing { .. } => "config::missing-key",
            Self::UnknownWord { .. } => "config::unknown-value",
            Self::Pattern { .. } => "config::bad-pattern",
            Self::NoStep { .. } => "config::unusable-value",
        }
    }

    /// Removes the suggestion, which the diagnostic shows separately.
    pub(super) fn take_closest(&mut self) -> Option<&'static str> {
        match self {
            Self::UnknownStrategy { closest, .. }
            | Self::UnknownOption { closest, .. }
            | Self::UnknownWord { closest, .. } => closest.take(),
            _ => None,
        }
    }
}
