//! What is known of an attack before anything is sent.

use super::field::Field;
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

impl Facts<'_> {
    /// What is missing for the attack, in words.
    pub fn missing(&self, field: &Field<'_>) -> Option<String> {
        let has = |need: &Need| match need {
            Need::SameHost => field.powers.same_host,
            Need::TwoIdentities => field.powers.identities.len() > 1,
            Need::Credentials => field.powers.credentials,
            Need::Http => field.powers.http,
            Need::SeveralServers => field.surfaces.len() > 1,
            Need::Model => false,
        };
        let missing: Vec<&str> =
            self.needs.iter().filter(|need| !has(need)).map(|need| need.words()).collect();
        (!missing.is_empty()).then(|| format!("needs {}", missing.join(" and ")))
    }
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
