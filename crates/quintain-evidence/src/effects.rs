//! What a suite or an attack would do if it ran: processes it starts, code it runs, files it writes, hosts it
//! contacts, and which of them receive which environment variables.

use std::collections::BTreeSet;

use serde::Serialize;

/// The effects of a suite or an attack. Every list is in the order of the suite.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Effects {
    pub start: Vec<ProcessStart>,
    pub run: Vec<CodeRun>,
    pub write: Vec<Write>,
    pub contact: Vec<Contact>,
    /// None for an attack.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<Tests>,
}

/// A process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProcessStart {
    /// Purpose: a server of a target, an interpreter.
    pub what: String,
    pub command: String,
    pub args: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The names of the variables in its environment.
    pub environment: Environment,
    /// The user's variables that reach it otherwise: in arguments, values of its variables, prompts.
    pub receives: Variables,
}

/// The names in the environment of a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Environment {
    /// The whole environment of the user.
    All,
    Named(BTreeSet<String>),
}

/// The user's environment variables, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Variables {
    pub names: BTreeSet<String>,
    /// Whether code, or a template that computes names, may read any other.
    pub any: bool,
}

impl Variables {
    #[must_use]
    pub fn with(mut self, other: &Self) -> Self {
        self.names.extend(other.names.iter().cloned());
        self.any |= other.any;
        self
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && !self.any
    }
}

/// Code of the suite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct CodeRun {
    pub language: &'static str,
    /// The file; none if the code is inline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub uses: Vec<Use>,
}

/// Purpose of the code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Use {
    pub what: String,
    /// Number of places with this purpose.
    pub count: usize,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Write {
    pub what: &'static str,
    pub file: String,
    /// Why it would be refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<&'static str>,
}

/// A host on the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contact {
    pub what: String,
    /// Without credentials and query.
    pub url: String,
    pub receives: Variables,
    /// Files whose content it receives, such as `apiKeyFile` of a model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// Number of cases.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tests {
    pub tests: usize,
    pub cases: usize,
    /// Scripts that generate more tests, which are not counted.
    pub made_by: Vec<String>,
    /// Tests whose variables come from code, so that their number of cases may differ.
    pub changed_by_code: usize,
}
