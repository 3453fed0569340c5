//! Whether a run may call tools that destroy something or change settings.

use std::fmt;

use quintain_source::{Diagnostics, Node, wrong_value};
use serde::{Deserialize, Serialize};

/// What destructive tools may be called with. Later variants allow more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Destructive {
    /// They are not called.
    #[default]
    Never,
    /// Only with objects that the run created, and with values that cannot exist.
    Own,
    /// With any value of an attack or the target.
    All,
}

impl Destructive {
    /// The words of the command line.
    pub const WORDS: [(&'static str, Self); 2] = [("own", Self::Own), ("all", Self::All)];

    /// The variant for a word of the command line or of an earlier run.
    pub fn find(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, meant)| *meant)
    }

    pub fn is_allowed(self) -> bool {
        self != Self::Never
    }

    /// Reads `true` or `false` in a suite, or one of the words.
    pub(super) fn read(node: &Node, dx: &mut Diagnostics) -> Self {
        let read = match node.as_bool() {
            Some(is) => Some(if is { Self::Own } else { Self::Never }),
            None => Self::find(node.raw().unwrap_or_default()),
        };
        if read.is_none() {
            wrong_value("destructive", "`true`, `false`, `own` or `all`", node, dx);
        }
        read.unwrap_or_default()
    }
}

impl fmt::Display for Destructive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "never",
            Self::Own => "own",
            Self::All => "all",
        })
    }
}
