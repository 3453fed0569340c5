//! The two ways of speaking MCP: with a handshake (up to 2025-11-25), or with metadata on every
//! request (from 2026-07-28 on).

pub mod legacy;
pub mod mirror;
pub mod modern;

use serde_json::{Value, json};

use crate::rpc::CallError;

/// Protocol versions we can negotiate, oldest first.
pub const VERSIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// The newest version with a handshake.
pub const NEWEST_LEGACY: Version = Version(VERSIONS[3]);
/// The newest version without one.
pub const NEWEST_MODERN: Version = Version(VERSIONS[4]);

/// One of [`VERSIONS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(&'static str);

impl Version {
    /// The version of that name, if we know it.
    pub fn find(name: &str) -> Option<Self> {
        VERSIONS.iter().find(|version| **version == name).map(|version| Self(version))
    }

    /// The name, which is a date.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// Which era it belongs to.
    pub fn era(self) -> Era {
        if self >= NEWEST_MODERN { Era::Modern } else { Era::Legacy }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

/// How a conversation is led.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With `initialize` and, over HTTP, sessions.
    Legacy,
    /// Stateless, every request for itself.
    Modern,
}

impl std::fmt::Display for Era {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        })
    }
}

/// What the user wants to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// Find out.
    #[default]
    Auto,
    /// The newest version of an era.
    Newest(Era),
    /// This version and no other.
    Exact(Version),
}

impl Choice {
    /// Reads `auto`, `legacy`, `modern` or a version.
    pub fn find(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "legacy" => Some(Self::Newest(Era::Legacy)),
            "modern" => Some(Self::Newest(Era::Modern)),
            version => Version::find(version).map(Self::Exact),
        }
    }

    /// The era that is forced, if one is.
    pub fn era(self) -> Option<Era> {
        match self {
            Self::Auto => None,
            Self::Newest(era) => Some(era),
            Self::Exact(version) => Some(version.era()),
        }
    }
}

/// What client and server agreed on, and what the server said of itself.
#[derive(Debug, Clone)]
pub struct Agreement {
    /// The version spoken.
    pub version: Version,
    /// `serverInfo`, `Null` if the server keeps it to itself.
    pub server: Value,
    /// The server's capabilities.
    pub capabilities: Value,
    /// The server's instructions to a model.
    pub instructions: Option<String>,
    /// The whole answer to `initialize` or `server/discover`.
    pub raw: Value,
}

impl Agreement {
    /// The era of the version spoken.
    pub fn era(&self) -> Era {
        self.version.era()
    }
}

/// Why no agreement was reached.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NoAgreement {
    /// The server speaks only versions we do not know or were told not to speak.
    #[error("the server offers protocol version {offered}, not {wanted}")]
    Version {
        /// What we asked for.
        wanted: String,
        /// What it offers.
        offered: String,
    },
    /// The handshake itself failed.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Who we are, as the protocol wants it told.
pub(crate) fn client_info() -> Value {
    json!({"name": "quintain", "version": env!("CARGO_PKG_VERSION")})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_a_word_or_a_known_date() {
        assert_eq!(Choice::find("auto"), Some(Choice::Auto));
        assert_eq!(Choice::find("modern"), Some(Choice::Newest(Era::Modern)));
        assert_eq!(Choice::find("2025-06-18").and_then(Choice::era), Some(Era::Legacy));
        assert_eq!(Choice::find("2026-07-28").and_then(Choice::era), Some(Era::Modern));
        assert_eq!(Choice::find("2025-06-19"), None);
    }
}
