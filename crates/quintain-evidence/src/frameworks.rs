//! What frameworks call weaknesses.

mod tables;

use crate::finding::Finding;

pub use tables::FRAMEWORKS;

/// A list of weaknesses that others keep.
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

/// One weakness of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub id: &'static str,
    pub title: &'static str,
}

/// The framework and the entry that an id stands for.
pub fn find(id: &str) -> Option<(&'static Framework, &'static Entry)> {
    FRAMEWORKS.iter().find_map(|framework| {
        let entry = framework.entries.iter().find(|entry| entry.id == id)?;
        Some((framework, entry))
    })
}

/// The ids that a finding bears: `CWE-78`, `MCP05`.
pub fn ids(finding: &Finding) -> Vec<String> {
    let cwe = finding.cwe.iter().map(|number| format!("CWE-{number}"));
    cwe.chain(finding.owasp.iter().cloned()).collect()
}
