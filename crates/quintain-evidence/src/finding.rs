//! A proven weakness: where it is, what proves it, how to reproduce it.

mod place;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::evidence::Evidence;
use crate::indicator::Indicator;
use crate::probe::Step;
use crate::result::SourcePlace as Written;
use crate::trial_key::TrialKey;

pub use place::Place;

/// How severe it is for the operator of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Info,
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    /// The words that suites, flags and reports use.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("info", Self::Info),
        ("low", Self::Low),
        ("medium", Self::Medium),
        ("high", Self::High),
        ("critical", Self::Critical),
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize].0
    }

    pub fn find(word: &str) -> Option<Self> {
        let wanted = word.to_ascii_lowercase();
        Self::WORDS.iter().find(|(word, _)| *word == wanted).map(|(_, severity)| *severity)
    }
}

/// How certain it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// An indication with possible harmless explanations, or one that did not reproduce.
    Suspected,
    /// A side effect, or a value that cannot be an echo of the input; reproduced.
    Confirmed,
}

impl Confidence {
    pub fn word(self) -> &'static str {
        match self {
            Self::Suspected => "suspected",
            Self::Confirmed => "confirmed",
        }
    }
}

/// One form of a weakness, with its proof.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingProof {
    /// What was tried, in words: `inside double quotes`.
    pub form: String,
    /// What it showed, in words.
    pub what: String,
    /// The hostile value, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// The same call with a harmless value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Evidence>,
    /// What was sent, what came back, and what was observed outside the wire.
    pub attempt: Evidence,
    /// JSON pointer into the outcome of the last exchange, if the proof is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// How the last response shows it, if it does; for regression suites.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign: Option<Indicator>,
    /// The identity that sent the last request, if not the target's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
}

/// A proven weakness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// `F-` and the beginning of the fingerprint.
    pub id: String,
    /// The attack that found it.
    pub rule: String,
    pub title: String,
    pub severity: Severity,
    pub confidence: Confidence,
    /// The name of the target.
    pub target: String,
    pub place: Place,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// In JSON `CWE-78`.
    #[serde(with = "cwe")]
    pub cwe: Vec<u32>,
    pub owasp: Vec<String>,
    pub proofs: Vec<FindingProof>,
    /// A command line that reproduces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproduce: Option<String>,
    /// A command line that repeats the whole attack on this place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// The same for the same weakness in every run.
    pub fingerprint: String,
    /// For information only: the fingerprint of the same fault regardless of its place. Findings that share it are
    /// reported as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The findings that are merged into this one, one per place; empty if it is about a single place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Finding>,
    /// The trial that showed it, if that is not its rule at its place: any attack may crash a server.
    #[serde(default, alias = "bout", skip_serializing_if = "Option::is_none")]
    pub trial: Option<TrialKey>,
    /// Which strategies led to it, if not the plain attack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strategies: Vec<String>,
    /// Why this is by design, in the tester's words. It is reported, but does not count against the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The file that configures the server: a suite, or the configuration of a client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
    /// Why it is accepted, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Accepted>,
    /// Steps that reproduce it, for `replay` and for regression suites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Other data.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// Metadata key of the text that was sent last to a target that takes text.
pub const SENT_PROMPT: &str = "prompt";

/// Metadata key of the summary of an attack that a suite defines.
pub const ATTACK_SUMMARY: &str = "attack";

impl Finding {
    /// `F-` and the beginning of the fingerprint.
    pub fn id_of(fingerprint: &str) -> String {
        format!("F-{}", fingerprint.get(..8).unwrap_or(fingerprint))
    }

    /// The fingerprint that all findings of one fault share.
    pub fn group_of(rule: &str, whose: &str, fault: &str) -> String {
        let anywhere = Place::Server { server: String::new() };
        fingerprint(rule, whose, &anywhere, &format!("{fault} everywhere"))
    }

    /// The findings at single places: the merged ones, or itself.
    pub fn parts(&self) -> &[Self] {
        if self.places.is_empty() { std::slice::from_ref(self) } else { &self.places }
    }

    /// Whether it has this fingerprint, or a beginning of it: its own, its group's, or that of one of its places.
    pub fn is_called(&self, fingerprint: &str) -> bool {
        let own = std::iter::once(&self.fingerprint).chain(&self.group);
        own.chain(self.places.iter().map(|one| &one.fingerprint))
            .any(|one| one.starts_with(fingerprint))
    }

    /// Records how to reproduce it, for a target as it appears on a command line: `-- python3 server.py`. Findings
    /// without a call are reproduced by listing the surface.
    pub fn seen_again_at(&mut self, target: &str) {
        let replay = format!("quintain replay {} {target}", self.id);
        let how =
            if self.is_listed() { format!("quintain inspect {target}") } else { replay.clone() };
        self.reproduce.get_or_insert(how);
        self.replay = Some(replay);
    }

    /// Whether the listed surface shows it without a call.
    pub fn is_listed(&self) -> bool {
        let listed = |proof: &FindingProof| {
            proof.attempt.exchanges.is_empty() && proof.attempt.observations.is_empty()
        };
        self.proofs.iter().all(listed)
    }

    /// The summary of the attack, if a suite defines it.
    pub fn attack_summary(&self) -> Option<&str> {
        self.metadata.get(ATTACK_SUMMARY)?.as_str()
    }
}

/// Why a finding is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    pub reason: String,
    /// `2027-01-31`; from then on the finding counts again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// What a finding counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Confirmed,
    Suspected,
    /// Reported, but does not count against the target.
    ByDesign,
}

impl Standing {
    pub fn of(finding: &Finding) -> Self {
        match (&finding.note, finding.confidence) {
            (Some(_), _) => Self::ByDesign,
            (None, Confidence::Confirmed) => Self::Confirmed,
            (None, Confidence::Suspected) => Self::Suspected,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Suspected => "suspected",
            Self::ByDesign => "by design",
        }
    }
}

/// The same for the same weakness in every run of `redteam` and `scan`: a digest of the rule, the place and the fault
/// there. It does not depend on seeds, payloads, proofs, order, titles, severities or the folders of a machine.
///
/// `whose` distinguishes places with the same name: it is the server if a target has several (in a scan with its
/// client, `cursor/github`). It is empty if there is only one, so that the fingerprint does not depend on how the
/// target is named or started.
pub fn fingerprint(rule: &str, whose: &str, place: &Place, fault: &str) -> String {
    let key = place.key();
    let mut hash = Sha256::new();
    let whose = (!whose.is_empty()).then_some(whose);
    for part in whose.into_iter().chain([rule, &key, fault]) {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    let start = hash.finalize().into_iter().take(16);
    start.flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// CWE numbers as text: `CWE-22, CWE-59`.
mod cwe {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(numbers: &[u32], out: S) -> Result<S::Ok, S::Error> {
        let words: Vec<String> = numbers.iter().map(|number| format!("CWE-{number}")).collect();
        out.serialize_str(&words.join(", "))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<u32>, D::Error> {
        let text = String::deserialize(input)?;
        let numbers = text.split(", ").filter_map(|word| word.strip_prefix("CWE-")?.parse().ok());
        Ok(numbers.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_named_as_people_write_them() {
        let place = |pointer: &str| Place::Argument {
            server: String::new(),
            tool: "read".into(),
            pointer: pointer.into(),
        };
        assert_eq!(place("/path").to_string(), "read.path");
        assert_eq!(place("/files/0/path").to_string(), "read /files/0/path");
        assert_eq!(place("/a~1b").argument().as_deref(), Some("a/b"));
    }

    #[test]
    fn fingerprints_stay() {
        let at = |server: &str, tool: &str| Place::Argument {
            server: server.into(),
            tool: tool.into(),
            pointer: "/host".into(),
        };
        // Users' baseline files contain such fingerprints: a change here breaks them.
        let known = fingerprint("command-injection", "", &at("demo", "check_gateway"), "");
        assert_eq!(known, "7ef10851df95cf7cc7e57c71035b7c68");
        let elsewhere = fingerprint("command-injection", "", &at("/opt/x", "check_gateway"), "");
        assert_eq!(known, elsewhere, "however the server is called");
        let others = [
            fingerprint("command-injection", "a", &at("a", "check_gateway"), ""),
            fingerprint("command-injection", "b", &at("b", "check_gateway"), ""),
            fingerprint("command-injection", "", &at("", "ping"), ""),
            fingerprint("argument-injection", "", &at("", "check_gateway"), ""),
            fingerprint("command-injection", "", &at("", "check_gateway"), "death"),
        ];
        let distinct: std::collections::HashSet<&String> = others.iter().chain([&known]).collect();
        assert_eq!(distinct.len(), 6);
    }

    #[test]
    fn files_have_the_same_key_on_every_machine() {
        let key = |uri: &str| Place::Resource { server: String::new(), uri: uri.into() }.key();
        assert_eq!(key("file:///home/a/notes.md"), key("file:///srv/b/notes.md"));
        assert_ne!(key("db://a/notes"), key("db://b/notes"));
    }

    #[test]
    fn severities_are_ordered_and_have_words() {
        assert!(Severity::Critical > Severity::High && Severity::Low > Severity::Info);
        for (word, severity) in Severity::WORDS {
            assert_eq!((severity.word(), Severity::find(word)), (word, Some(severity)));
        }
    }
}
