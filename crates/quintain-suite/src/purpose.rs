//! What a suite is loaded for. The file may come from a stranger, so only commands that run suites load it for
//! running. Reading a suite runs no code and expands no environment variable that is not needed.

/// Proves that the user asked to run a suite. Every function that runs code of a suite requires it, so that no code
/// runs by accident; only the commands that run suites create one.
#[derive(Debug, Clone, Copy)]
pub struct Consent(());

impl Consent {
    /// The user started a command that runs suites, as `make` runs a makefile.
    pub fn of_the_user() -> Self {
        Self(())
    }
}

/// What a suite is loaded for.
#[derive(Debug, Clone, Copy)]
pub enum Purpose<'a> {
    /// For running: scripts that generate tests or settings are called, environment variables are expanded.
    Run(Consent),
    /// For reading: no code runs, and texts stay as written except for what is needed.
    Read(Needed<'a>),
}

/// The part of a suite whose environment variables are expanded when it is only read.
#[derive(Debug, Clone, Copy)]
pub enum Needed<'a> {
    /// Nothing: everything stays as written.
    Nothing,
    /// The MCP target of this name, or the only one.
    Target(Option<&'a str>),
    /// The same, and the identities of `redteam`.
    TargetAndIdentities(Option<&'a str>),
}

impl Purpose<'_> {
    pub fn consent(self) -> Option<Consent> {
        match self {
            Self::Run(consent) => Some(consent),
            Self::Read(_) => None,
        }
    }

    pub(crate) fn needs_identities(self) -> bool {
        matches!(self, Self::Read(Needed::TargetAndIdentities(_)))
    }
}

/// Code that was not run because the suite is only read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCalled {
    /// What it would have generated: `tests`, `settings`.
    pub makes: &'static str,
    pub code: quintain_evidence::code::Code,
}
