//! Regression suites: tests that fail as long as a weakness is there, and pass once it is fixed. Made from the findings
//! of a run, or from attempts before anything was sent.

mod from_attempts;
mod from_findings;
mod target;
mod test_body;

pub use from_attempts::{Draft as TestDraft, generated};
pub use from_findings::regression;
pub use target::{written_identity, written_target};

use quintain_evidence::finding::Severity;
use serde_json::Value;

/// What has to be known beside the findings.
pub struct RegressionContext<'a> {
    /// Tools that are listed; a suite calls no others. All if nothing is known.
    pub listed: &'a [String],
    /// The target that is meant by the name of an identity, if it can be written.
    pub target_of: &'a dyn Fn(Option<&str>) -> Option<String>,
    /// Whether tests have to say which target they are for.
    pub several_targets: bool,
    /// Whether requests have to say which server they are for.
    pub several_servers: bool,
    /// How files that are planted for the tests begin: `regression.canary`.
    pub canary: &'a str,
    /// Why no file can be planted for the tests, if so.
    pub no_canary: Option<&'a str>,
    /// Findings that are not certain become tests too.
    pub suspected: bool,
    /// Lesser findings make no tests.
    pub least: Severity,
}

/// The tests, and what did not become one.
#[derive(Debug, Default)]
pub struct Regression {
    pub tests: Vec<Value>,
    pub left: Vec<Left>,
    /// Files that belong beside the suite, and what stands in them.
    pub files: Vec<(String, String)>,
    /// What has to stand in the environment of the server.
    pub environment: Option<String>,
}

/// A finding that is no test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    pub id: String,
    pub title: String,
    pub why: String,
}
