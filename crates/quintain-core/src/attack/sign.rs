//! What an answer shows as long as a weakness is there, and shows no more once it is mended.

use quintain_content::detect;
use quintain_content::internals;
use serde::{Deserialize, Serialize};

use super::Attack;
use super::bout::Hit;
use super::brief::Ground;
use super::field::Field;
use crate::echo;
use crate::evidence::{Evidence, Exchange};
use crate::knowledge::Knowledge;

/// In the name of everything that is planted.
pub const PLANTED: &str = "quintain-";

/// The sign of a weakness on the wire, so that a proof can become a test. What is seen elsewhere
/// (connections, files, programs, times) has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Sign {
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

impl Sign {
    pub fn says(text: impl Into<String>) -> Self {
        Self::Says { text: text.into() }
    }

    pub fn leaks(mut kinds: Vec<String>) -> Self {
        kinds.sort_unstable();
        kinds.dedup();
        Self::Leaks { kinds }
    }

    /// The same after the run, when what was planted is gone; none if it cannot be seen without.
    pub fn lasting(self, ground: Option<&Ground>, sent: &str) -> Option<Self> {
        let Some(ground) = ground else { return Some(self) };
        match &self {
            Self::Says { text } if *text == ground.canary_text => {
                Some(Self::Reads { path: named(ground, sent)?, text: text.clone() })
            }
            // What was taken in goes with the run.
            Self::Says { text } if *text == ground.bait_text => None,
            // A value that was computed does not depend on files.
            Self::Says { .. } | Self::Reads { .. } | Self::Environment { .. } | Self::Listed => {
                Some(self)
            }
            Self::Leaks { .. } | Self::Tells { .. } | Self::Succeeds | Self::Differs => {
                (!sent.contains(PLANTED)).then_some(self)
            }
        }
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
            Self::Succeeds => crate::knowledge::accepted(&last.outcome),
            Self::Differs => match &exchanges[..] {
                [first, second, ..] => echo::differ(first, second),
                _ => false,
            },
            Self::Listed => true,
        }
    }
}

/// What an attack sees in what is listed, marked as such where nothing else is needed to see it.
pub fn listed(attack: &dyn Attack, field: &Field<'_>) -> Vec<Hit> {
    let mut hits = attack.inspect(field);
    if hits.is_empty() {
        return hits;
    }
    let nothing = Knowledge::default();
    let alone = attack.inspect(&Field { knowledge: &nothing, ..*field });
    for hit in &mut hits {
        if alone.iter().any(|other| other.place == hit.place && other.fault == hit.fault) {
            hit.sign = Some(Sign::Listed);
        }
    }
    hits
}

/// The file of the ground that a request names.
fn named(ground: &Ground, sent: &str) -> Option<String> {
    let root = ground.root.display().to_string();
    let (_, behind) = sent.split_once(root.trim_start_matches('/'))?;
    let plain = |c: &char| c.is_ascii_alphanumeric() || "._-".contains(*c);
    let name: String = behind.strip_prefix('/')?.chars().take_while(plain).collect();
    let whole = !behind[1 + name.len()..].starts_with('/');
    (whole && !name.is_empty()).then(|| format!("{root}/{name}"))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::{answers, comes};
    use crate::evidence::Outcome;

    fn ground() -> Ground {
        Ground {
            root: "/tmp/quintain-x".into(),
            canary: "/tmp/quintain-x/canary.txt".into(),
            canary_text: "quintain-canary-abc".into(),
            ..Ground::default()
        }
    }

    #[test]
    fn a_planted_text_is_bound_to_its_file() {
        let sign = Sign::says("quintain-canary-abc");
        let lasting = |sent: &str| sign.clone().lasting(Some(&ground()), sent);
        let path = "/tmp/quintain-x/canary.md".to_owned();
        let text = "quintain-canary-abc".to_owned();
        let reads = Some(Sign::Reads { path, text });
        assert_eq!(lasting("../../tmp/quintain-x/canary.md"), reads);
        assert_eq!(lasting("..%2f..%2ftmp"), None, "the file is named in no plain way");
        assert_eq!(lasting("/tmp/quintain-x/drop/a"), None, "it stands elsewhere");
        assert_eq!(lasting("/tmp/quintain-x"), None, "a folder");
    }

    #[test]
    fn calls_that_need_what_was_planted_do_not_last() {
        let sent = "/data/quintain-abc.txt";
        assert_eq!(Sign::Succeeds.lasting(Some(&ground()), sent), None);
        assert_eq!(Sign::Succeeds.lasting(None, sent), Some(Sign::Succeeds));
        assert_eq!(Sign::says("42").lasting(Some(&ground()), sent), Some(Sign::says("42")));
    }

    #[test]
    fn evidence_shows_a_sign_or_not() {
        assert!(Sign::says("42").is_in(&answers("is 42")));
        assert!(!Sign::says("42").is_in(&answers("is 43")));
        assert!(!Sign::says("42").is_in(&Evidence::default()));
        assert!(Sign::Succeeds.is_in(&answers("done")));
        assert!(!Sign::Succeeds.is_in(&answers("Error: no")));
        assert!(!Sign::Succeeds.is_in(&comes(Outcome::ToolError(json!({})))));
        let kinds = vec!["path".to_owned()];
        assert!(Sign::Tells { kinds }.is_in(&answers("no /srv/app/x.db")));
        let kinds = vec!["email".to_owned()];
        assert!(Sign::Leaks { kinds }.is_in(&answers("write to ann.lee@acme-corp.io")));
        let mut both = answers("one");
        both.exchanges.extend(answers("two").exchanges);
        assert!(Sign::Differs.is_in(&both) && !Sign::Differs.is_in(&answers("one")));
    }
}
