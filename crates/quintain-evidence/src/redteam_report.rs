//! The outcome of a red-team run.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::finding::{Accepted, Finding, Severity};

/// The findings, and how far the run looked: what was not attacked is not clean.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RedteamReport {
    /// Most severe first.
    pub findings: Vec<Finding>,
    /// Findings that the baseline file accepts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<Finding>,
    /// Entries of the baseline file that accept nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<Unused>,
    pub attacks: Vec<AttackReport>,
    /// What was requested but could not run, and why.
    pub not_run: Vec<NotRun>,
    pub tools: Vec<ToolCoverage>,
    /// Tools without a valid call, and tools that were not called.
    pub silent: Vec<Silent>,
    pub phases: Vec<PhaseTime>,
    pub calls: usize,
    /// Tokens that the target and other models used, as far as they report it.
    #[serde(default, skip_serializing_if = "no_tokens")]
    pub tokens: u64,
    /// What they cost in US dollars, as far as they report it.
    #[serde(default, skip_serializing_if = "no_cost")]
    pub cost: f64,
    /// Whether the target takes text, so that attacks on MCP servers do not apply.
    #[serde(default, rename = "takesText", skip_serializing_if = "std::ops::Not::not")]
    pub takes_text: bool,
    pub seed: u64,
    /// What ended the run early, if anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    /// Why the run says nothing about the target as a whole: it did not list its tools, or answered no trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreachable: Option<String>,
    /// Files around a started target that changed during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    /// None if nothing was attacked.
    pub risk: Option<Risk>,
    /// How far the framework lists were covered, given the attacks of this version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frameworks: Vec<Coverage>,
    #[serde(default)]
    pub learned: Insight,
}

/// One attack over all its aims.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AttackReport {
    pub attack: String,
    /// Number of attacked places where the target answered.
    #[serde(alias = "bouts")]
    pub trials: usize,
    /// Number of attacked places where it worked.
    pub hits: usize,
    pub attempts: usize,
    /// Number of attacked places where the target did not answer, so that they show nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unanswered: usize,
    /// Number of planned places that the run did not reach, or not completely.
    #[serde(default, rename = "leftOut", skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// Number of places that `numTests` excludes.
    #[serde(default, rename = "beyondLimit", skip_serializing_if = "is_zero")]
    pub beyond_limit: usize,
    /// For targets that take text: how often an attack works that is tried several times, by the number of tries, as
    /// the mean over all prompts that were repeated.
    #[serde(default, rename = "passAt", skip_serializing_if = "Vec::is_empty")]
    pub pass_at: Vec<(usize, f64)>,
    /// Attack success rate, and its 95 % confidence interval (Wilson).
    pub rate: f64,
    pub interval: (f64, f64),
    /// Its description, if a suite defines it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Box<DefinedAttack>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn no_tokens(tokens: &u64) -> bool {
    *tokens == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn no_cost(cost: &f64) -> bool {
    *cost <= 0.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// An attack that a suite defines, for readers of the report who do not have the suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinedAttack {
    pub summary: String,
    pub docs: String,
    pub severity: Severity,
    pub cwe: Vec<u32>,
    pub frameworks: Vec<String>,
}

/// Something that did not run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRun {
    pub what: String,
    pub why: String,
}

/// A file that changed during a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: PathBuf,
    pub change: FileChangeKind,
    /// Whether its original content is restored.
    pub restored: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileChangeKind {
    Created,
    Modified,
    Deleted,
}

impl fmt::Display for FileChange {
    /// `modified, restored`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.change {
            FileChangeKind::Created => "created",
            FileChangeKind::Modified => "modified",
            FileChangeKind::Deleted => "deleted",
        })?;
        f.write_str(if self.restored { ", restored" } else { ", not restored" })
    }
}

/// How much of a tool was attacked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCoverage {
    pub server: String,
    pub tool: String,
    /// Whether one of its calls succeeded.
    pub works: bool,
    /// Arguments, each with the attacks that were tried on it.
    pub arguments: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseTime {
    pub phase: String,
    pub seconds: f64,
    /// None for a phase whose requests do not count as calls.
    pub calls: Option<usize>,
}

/// A tool without a valid call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silent {
    pub server: String,
    pub tool: String,
    pub why: String,
}

/// A baseline entry that accepts nothing: its finding is fixed or counts again, or the entry is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unused {
    pub fingerprint: String,
    #[serde(flatten)]
    pub accepted: Accepted,
    pub why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The finding exists, but the entry has expired.
    Expired,
    MatchesNothing,
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fingerprint, accepted: Accepted { reason, expires }, why } = self;
        write!(f, "the baseline entry `{fingerprint}` ({reason}) ")?;
        match (why, expires) {
            (Why::Expired, end) => {
                let end = end.as_deref().unwrap_or_default();
                write!(f, "expired on {end}; the finding counts again")
            }
            (Why::MatchesNothing, _) => write!(f, "matches no finding of this run"),
        }
    }
}

/// How risky a target is, from 0 to 10.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Risk {
    pub score: f64,
    pub level: RiskLevel,
    /// The score of each attack that worked, highest first.
    pub attacks: Vec<(String, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RiskLevel {
    Low,
    Medium,
    High,
    Critical,
}

/// What the learn phase found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insight {
    /// Tools with a valid call.
    pub answered: Vec<String>,
    /// Folders to which the target says it is confined.
    pub roots: Vec<String>,
    /// What answers disclosed: ids, names, paths.
    pub values: Vec<DisclosedValue>,
    /// Values from one tool that made a call of another tool work.
    pub chains: Vec<Chain>,
}

/// Values of one name in one tool's answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisclosedValue {
    pub tool: String,
    pub name: String,
    pub count: usize,
    pub examples: Vec<String>,
}

/// `from` disclosed a value that `to` accepts as `argument`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chain {
    pub from: String,
    pub to: String,
    pub argument: String,
}

/// How far a run covered a framework.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Coverage {
    pub id: String,
    pub name: String,
    pub title: String,
    pub entries: Vec<Covered>,
}

/// How far a run covered one entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Covered {
    pub id: String,
    pub title: String,
    pub state: CoverageState,
    /// Number of findings of each kind.
    pub confirmed: usize,
    pub suspected: usize,
    pub by_design: usize,
    /// Findings that a baseline accepts.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub accepted: usize,
    /// Attacks that ran.
    pub attacks: Vec<String>,
    /// Attacks that did not run, and why. What they test is not covered.
    pub not_run: Vec<NotRun>,
}

impl Covered {
    /// The state in one or two words. An entry that was not attacked is never shown as clean.
    pub fn word(&self) -> String {
        match self.state {
            CoverageState::Confirmed => format!("{} confirmed", self.confirmed),
            CoverageState::Suspected => format!("{} suspected", self.suspected),
            CoverageState::ByDesign => format!("{} by design", self.by_design),
            CoverageState::Accepted => format!("{} accepted", self.accepted),
            CoverageState::Clean => "nothing found".to_owned(),
            CoverageState::Partial => "partly tested".to_owned(),
            CoverageState::NotRun | CoverageState::NoAttack => "not run".to_owned(),
        }
    }

    /// Which attacks ran, which did not and why.
    pub fn why(&self) -> String {
        if self.state == CoverageState::NoAttack {
            return "no attack tests it".to_owned();
        }
        let mut parts = Vec::new();
        if !self.attacks.is_empty() {
            parts.push(self.attacks.join(", "));
        }
        // Attacks with the same reason are listed together.
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for one in &self.not_run {
            match reasons.iter_mut().find(|(why, _)| *why == one.why) {
                Some((_, attacks)) => attacks.push(&one.what),
                None => reasons.push((&one.why, vec![&one.what])),
            }
        }
        let told = |(why, attacks): &(&str, Vec<&str>)| format!("{} {why}", attacks.join(", "));
        let reasons: Vec<String> = reasons.iter().map(told).collect();
        if !reasons.is_empty() {
            let label = if self.attacks.is_empty() { "" } else { "not run: " };
            parts.push(format!("{label}{}", reasons.join("; ")));
        }
        parts.join("; ")
    }
}

/// The state of an entry: its worst finding, or how far it was tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoverageState {
    Confirmed,
    Suspected,
    ByDesign,
    /// Everything that was found is accepted by a baseline.
    Accepted,
    /// At least one attack ran, all that ran reached all their places, and none found anything.
    Clean,
    /// Nothing was found, but some places of its attacks were not reached or did not answer.
    Partial,
    /// There are attacks for it, and none of them ran.
    NotRun,
    /// There is no attack for it.
    NoAttack,
}
