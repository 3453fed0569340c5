//! What an attack requires.

use super::target_view::TargetView;

/// What is missing for an attack with these needs, in words.
pub fn missing(needs: &[Need], view: &TargetView<'_>) -> Option<String> {
    let has = |need: &Need| match need {
        Need::SameHost => view.capabilities.same_host,
        Need::TwoIdentities => view.capabilities.identities.len() > 1,
        Need::Credentials => view.capabilities.credentials,
        Need::Http => view.capabilities.http,
    };
    let missing: Vec<&str> =
        needs.iter().filter(|need| !has(need)).map(|need| need.words()).collect();
    (!missing.is_empty()).then(|| format!("needs {}", missing.join(" and ")))
}

/// A requirement of an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A target on this machine, so that files and connections can be observed.
    SameHost,
    /// Two sets of credentials.
    TwoIdentities,
    /// Any credentials.
    Credentials,
    /// A target that uses HTTP.
    Http,
}

impl Need {
    /// What is missing, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::SameHost => "a target on this machine",
            Self::TwoIdentities => "two identities (`redteam.identities`)",
            Self::Credentials => "credentials of the target",
            Self::Http => "an HTTP target",
        }
    }
}
