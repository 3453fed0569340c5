//! What a red-team run came to.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::insight::Insight;
use super::risk::{Risk, risk};
use super::suppress::Unused;
use crate::attack::AnyAttack;
use crate::finding::{Confidence, Finding, Severity};
use crate::frameworks::{Coverage, coverage};
use crate::knowledge::Silent;

/// Findings, and how far the run looked: what was not attacked is not clean.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RedteamReport {
    /// The worst first.
    pub findings: Vec<Finding>,
    /// Findings that a baseline file excuses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<Finding>,
    /// Entries of it that excuse nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unused: Vec<Unused>,
    pub attacks: Vec<AttackReport>,
    /// What was asked for and could not be done, and why.
    pub not_run: Vec<NotRun>,
    pub tools: Vec<ToolCoverage>,
    /// Tools that no call of ours satisfied, or that were left alone.
    pub silent: Vec<Silent>,
    pub phases: Vec<PhaseTime>,
    pub calls: usize,
    pub seed: u64,
    /// What ended the run before its end, if anything did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_short: Option<String>,
    /// Files around a started target that changed while the run went on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<FileChange>,
    pub risk: Option<Risk>,
    /// How far the lists of known weaknesses were covered, as of the attacks that there were then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frameworks: Vec<Coverage>,
    #[serde(default)]
    pub learned: Insight,
}

impl RedteamReport {
    /// The worst confirmed finding.
    pub fn worst(&self) -> Option<Severity> {
        let confirmed = self.findings.iter().filter(|one| one.confidence == Confidence::Confirmed);
        confirmed.map(|finding| finding.severity).max()
    }

    /// With what follows from the rest of it: the risk, and how far frameworks were covered.
    #[must_use]
    pub fn summed_up(mut self) -> Self {
        self.risk = Some(risk(&self.findings, &self.attacks));
        self.frameworks = coverage(&self);
        self
    }
}

/// One attack over all its aims.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AttackReport {
    pub attack: String,
    /// Places that were attacked.
    pub bouts: usize,
    /// Of these, places where it worked.
    pub hits: usize,
    pub attempts: usize,
    /// Attack success rate, and what it may be given so few bouts: 95 % by Wilson.
    pub rate: f64,
    pub interval: (f64, f64),
    /// What it is, if it is none of the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Box<DefinedAttack>>,
}

/// An attack that a suite defines, for those who read the report without the suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinedAttack {
    pub summary: String,
    pub docs: String,
    pub severity: Severity,
    pub cwe: Vec<u32>,
    pub frameworks: Vec<String>,
}

impl DefinedAttack {
    /// What an attack says about itself, unless everybody knows it.
    pub fn of(attack: &AnyAttack) -> Option<Box<Self>> {
        let (meta, facts) = (attack.meta(), attack.facts());
        attack.is_defined().then(|| {
            Box::new(Self {
                summary: meta.summary.to_owned(),
                docs: meta.docs.to_owned(),
                severity: facts.severity,
                cwe: facts.cwe.to_vec(),
                frameworks: facts.frameworks.iter().map(|id| (*id).to_owned()).collect(),
            })
        })
    }
}

/// Something that was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRun {
    pub what: String,
    pub why: String,
}

/// A file that changed while a run went on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    pub path: PathBuf,
    pub change: Change,
    /// It is as it was before.
    pub restored: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    Created,
    Modified,
    Deleted,
}

impl fmt::Display for FileChange {
    /// `modified, restored`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.change {
            Change::Created => "created",
            Change::Modified => "modified",
            Change::Deleted => "deleted",
        })?;
        f.write_str(if self.restored { ", restored" } else { ", not restored" })
    }
}

/// How much of a tool was attacked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCoverage {
    pub server: String,
    pub tool: String,
    /// Whether a call of it worked.
    pub works: bool,
    /// Arguments and the attacks that were tried on them.
    pub arguments: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseTime {
    pub phase: String,
    pub seconds: f64,
    pub calls: usize,
}
