//! What an answer shows as long as a weakness is there, and no longer shows once it is fixed.

use quintain_content::{detect, internals};
use serde::{Deserialize, Serialize};

use crate::accepted::accepted;
use crate::echo;
use crate::evidence::{Evidence, Exchange};

/// The sign of a weakness on the wire, so that a proof can become a test. What is seen elsewhere
/// (connections, files, programs, times) has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Indicator {
    /// The last answer says this.
    Says { text: String },
    /// The last answer says what stands in a file that was planted at this path.
    Reads { path: String, text: String },
    /// The last answer says what stands in the environment of the server, put there by the tester.
    Environment { text: String },
    /// The last answer holds personal data or secrets of these detectors.
    Leaks { kinds: Vec<String> },
    /// The last answer tells how the server is made: a trace, a statement, a path.
    Tells { kinds: Vec<String> },
    /// The last call succeeds, and should be refused.
    Succeeds,
    /// The first two calls are answered in different ways, and should be answered alike.
    Differs,
    /// What is listed shows it.
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

    /// Whether evidence shows it, so that a test of it would fail.
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
