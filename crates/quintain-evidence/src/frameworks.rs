//! Weaknesses as public frameworks list them.

mod tables;

use crate::finding::Finding;

pub use tables::FRAMEWORKS;

/// A published list of weaknesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framework {
    pub id: &'static str,
    /// Short, for a line of a report.
    pub name: &'static str,
    /// With its edition.
    pub title: &'static str,
    pub organization: &'static str,
    /// What ids begin with: `MCP`.
    pub prefix: &'static str,
    pub entries: &'static [Entry],
}

/// One weakness in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub id: &'static str,
    pub title: &'static str,
}

/// The framework and the entry with this id.
pub fn find(id: &str) -> Option<(&'static Framework, &'static Entry)> {
    FRAMEWORKS.iter().find_map(|framework| {
        let entry = framework.entries.iter().find(|entry| entry.id == id)?;
        Some((framework, entry))
    })
}

/// The ids that apply to a finding: `CWE-78`, `MCP05`.
pub fn ids(finding: &Finding) -> Vec<String> {
    let cwe = finding.cwe.iter().map(|number| format!("CWE-{number}"));
    cwe.chain(finding.owasp.iter().cloned()).collect()
}
