//! A kind of weakness: how bad it is, and what others call it.

use crate::finding::Severity;

/// How bad a weakness of this kind is, and what others call it.
#[derive(Debug, Clone, Copy)]
pub struct Weakness<'a> {
    /// Of a confirmed finding, unless the finding says otherwise.
    pub severity: Severity,
    pub cwe: &'a [u32],
    /// Ids of frameworks: `MCP05`, `ASI05`, `LLM01`, `API1`, `AML.T0051`.
    pub frameworks: &'a [&'a str],
}
