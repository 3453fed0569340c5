//! The two eras of MCP: with a handshake (up to 2025-11-25), or with metadata on every request (from 2026-07-28
//! on).

pub mod legacy;
pub mod mirror;
pub mod modern;

use serde_json::{Value, json};

use crate::rpc::CallError;

/// Supported protocol versions, oldest first.
pub const VERSIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// The newest version with a handshake.
pub const NEWEST_LEGACY: Version = Version(VERSIONS[3]);
/// The newest version without a handshake.
pub const NEWEST_MODERN: Version = Version(VERSIONS[4]);

/// One of [`VERSIONS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(&'static str);

impl Version {
    /// The version with this name, if it is supported.
    pub fn find(name: &str) -> Option<Self> {
        VERSIONS.iter().find(|version| **version == name).map(|version| Self(version))
    }

    /// The name, which is a date.
    pub fn name(self) -> &'static str {
        self.0
    }

    /// The era of the version.
    pub fn era(self) -> Era {
        if self >= NEWEST_MODERN { Era::Modern } else { Era::Legacy }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

/// A generation of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With `initialize` and, over HTTP, sessions.
    Legacy,
    /// Stateless: every request carries its metadata.
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

/// The protocol that the user chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice {
    /// Detect the era.
    #[default]
    Auto,
    /// The newest version of an era.
    Newest(Era),
    /// Only this version.
    Exact(Version),
}

impl Choice {
    /// Parses `auto`, `legacy`, `modern` or a version.
    pub fn find(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(Self::Auto),
            "legacy" => Some(Self::Newest(Era::Legacy)),
            "modern" => Some(Self::Newest(Era::Modern)),
            version => Version::find(version).map(Self::Exact),
        }
    }

    /// The chosen era, if any.
    pub fn era(self) -> Option<Era> {
        match self {
            Self::Auto => None,
            Self::Newest(era) => Some(era),
            Self::Exact(version) => Some(version.era()),
        }
    }
}

/// What client and server agreed on, and how the server describes itself.
#[derive(Debug, Clone)]
pub struct Agreement {
    /// The agreed version.
    pub version: Version,
    /// `serverInfo`, `Null` if the server does not send it.
    pub server: Value,
    /// The server's capabilities.
    pub capabilities: Value,
    /// The server's instructions to a model.
    pub instructions: Option<String>,
}

impl Agreement {
    /// The era of the agreed version.
    pub fn era(&self) -> Era {
        self.version.era()
    }
}

/// Why no agreement was reached.
#[derive(Debug, Clone, thiserror::Error)]
pub enum NoAgreement {
    /// The server supports only versions that are unknown or excluded by the user.
    #[error("the server offers protocol version {offered}, not {wanted}")]
    Version {
        /// The requested version.
        wanted: String,
        /// The offered version.
        offered: String,
    },
    /// The handshake itself failed.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// The client's name and version, as the protocol expects it.
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
