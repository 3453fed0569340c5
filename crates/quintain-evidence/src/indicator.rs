//! What a response shows as long as a weakness exists, and no longer shows once it is fixed.

use quintain_content::{detect, internals};
use serde::{Deserialize, Serialize};

use crate::accepted::accepted;
use crate::echo;
use crate::evidence::{Evidence, Exchange};

/// The sign of a weakness in a response, so that a proof can become a test. Effects seen elsewhere (connections, files,
/// programs, durations) have none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Indicator {
    /// The last response contains this text.
    Says { text: String },
    /// The last response contains the text of a file that was planted at this path.
    Reads { path: String, text: String },
    /// The last response contains the value of an environment variable that Quintain set for the server.
    Environment { text: String },
    /// The last response contains personal data or secrets that these detectors find.
    Leaks { kinds: Vec<String> },
    /// The last response discloses internals of the server: a stack trace, a statement, a path.
    Tells { kinds: Vec<String> },
    /// The last call succeeds although it should be refused.
    Succeeds,
    /// The first two calls are answered differently although they should be answered alike.
    Differs,
    /// The listed surface shows it.
    Listed,
}

impl Indicator {
    pub fn says(text: impl Into<String>) -> Self {
        Self::Says { text: text.into() }
    }

    pub fn leaks(mut kinds: Vec<String>) -> Self {
        kinds.sort_unstable();
        kinds.dedup();
        Self::Leaks { kinds }
    }

    /// Whether the evidence shows it, so that a test of it would fail.
    pub fn is_in(&self, evidence: &Evidence) -> bool {
        let exchanges = &evidence.exchanges;
        let Some(last) = exchanges.last() else { return *self == Self::Listed };
        match self {
            Self::Says { text } | Self::Reads { text, .. } | Self::Environment { text } => {
                last.outcome.said().contains(text)
            }
            Self::Leaks { kinds } => leaks(last, kinds),
            Self::Tells { kinds } => {
                let said = last.outcome.said();
                let told = internals::find(&said);
                told.iter().any(|(told, _)| kinds.iter().any(|kind| kind == told.word()))
            }
            Self::Succeeds => accepted(&last.outcome),
            Self::Differs => match &exchanges[..] {
                [first, second, ..] => echo::differ(first, second),
                _ => false,
            },
            Self::Listed => true,
        }
    }
}

fn leaks(exchange: &Exchange, kinds: &[String]) -> bool {
    let detectors: Vec<_> = detect::all()
        .iter()
        .copied()
        .filter(|detector| kinds.iter().any(|kind| kind == detector.meta().id))
        .collect();
    let said = exchange.outcome.said();
    let hits = detect::scan(&said, &detectors);
    hits.iter().any(|hit| hit.confidence >= detect::Confidence::Medium)
}
