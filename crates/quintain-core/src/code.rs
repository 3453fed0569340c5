//! Code of the user that a suite names: inline or in a file, in one of three languages.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    JavaScript,
    Python,
    Ruby,
}

/// A piece of code, loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    Inline {
        language: Language,
        text: String,
    },
    /// `file://path[:function]`
    File {
        language: Language,
        path: PathBuf,
        text: String,
        function: Option<String>,
    },
}

impl Code {
    pub fn language(&self) -> Language {
        match self {
            Self::Inline { language, .. } | Self::File { language, .. } => *language,
        }
    }
}
