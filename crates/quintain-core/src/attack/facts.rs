//! What is known of an attack before anything is sent.

use crate::finding::Severity;

/// How bad a weakness of this kind is, and what others call it.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// Of a confirmed finding, unless the finding says otherwise.
    pub severity: Severity,
    pub cwe: &'a [u32],
    /// Ids of frameworks: `MCP05`, `ASI05`, `LLM01`, `API1`, `AML.T0051`.
    pub frameworks: &'a [&'a str],
    /// What it cannot do without.
    pub needs: &'a [Need],
}

/// What an attack cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A target on this machine, so that files and connections can be watched.
    SameHost,
    /// Two sets of credentials.
    TwoIdentities,
    /// Credentials at all.
    Credentials,
    /// A target that is spoken to over HTTP.
    Http,
    /// More than one server.
    SeveralServers,
    /// A model or an agent as target.
    Model,
}

impl Need {
    /// What is missing, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::SameHost => "a target on this machine",
            Self::TwoIdentities => "two identities (`redteam.identities`)",
            Self::Credentials => "credentials of the target",
            Self::Http => "a target over HTTP",
            Self::SeveralServers => "several servers in one target",
            Self::Model => "a model or agent as target",
        }
    }
}
