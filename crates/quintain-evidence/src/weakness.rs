//! A kind of weakness: its severity and its ids in frameworks.

use crate::finding::Severity;

/// The severity of a kind of weakness, and its ids in frameworks.
#[derive(Debug, Clone, Copy)]
pub struct Weakness<'a> {
    /// Severity of a confirmed finding, unless the finding overrides it.
    pub severity: Severity,
    pub cwe: &'a [u32],
    /// Ids of frameworks: `MCP05`, `ASI05`, `LLM01`, `API1`, `AML.T0051`.
    pub frameworks: &'a [&'a str],
}
