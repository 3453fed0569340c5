//! What a suite is loaded for. A stranger's file is only read, unless the user started a command that runs
//! suites: reading runs no code, and fills in no environment variable that nobody needs.

/// Proves that the user asked for a suite to be run. Whatever runs code of a suite wants one, so it cannot happen
/// by accident; the few commands that run suites make one.
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
    /// To be run: scripts that make tests or settings are called, the environment is filled in.
    Run(Consent),
    /// To be read: no code runs, and texts stay as they are written but for what is needed.
    Read(Needed<'a>),
}

/// What somebody who reads a suite needs of it ready to be used.
#[derive(Debug, Clone, Copy)]
pub enum Needed<'a> {
    /// Nothing: everything stays as it is written.
    Nothing,
    /// The MCP target of this name, or the only one.
    Target(Option<&'a str>),
    /// The same, and the identities of `redteam` that it is spoken to as.
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
    /// What it would have made: `tests`, `settings`.
    pub makes: &'static str,
    pub code: quintain_evidence::code::Code,
}
