//! Regression suites: tests that fail as long as a weakness exists, and pass once it is fixed. Made from the findings
//! of a run, or from attempts before anything is sent.

mod from_attempts;
mod from_findings;
mod target;
mod test_body;

pub use from_attempts::{TestDraft, generated};
pub use from_findings::regression;
pub use target::{written_identity, written_target};

use quintain_evidence::finding::Severity;
use serde_json::Value;

/// What regression tests need in addition to the findings.
pub struct RegressionContext<'a> {
    /// Listed tools; a suite calls no others. Empty if unknown.
    pub listed: &'a [String],
    /// Maps the name of an identity to its target, if that can be written.
    pub target_of: &'a dyn Fn(Option<&str>) -> Option<String>,
    /// Whether tests must name their target.
    pub several_targets: bool,
    /// Whether requests must name their server.
    pub several_servers: bool,
    /// Prefix of the files planted for the tests: `regression.canary`.
    pub canary: &'a str,
    /// Why no file can be planted for the tests, if that is so.
    pub no_canary: Option<&'a str>,
    /// Include suspected findings.
    pub suspected: bool,
    /// Minimum severity.
    pub least: Severity,
}

/// The tests, and the findings that did not become one.
#[derive(Debug, Default)]
pub struct Regression {
    pub tests: Vec<Value>,
    pub left: Vec<SkippedFinding>,
    /// Files to place next to the suite, with their content.
    pub files: Vec<(String, String)>,
    /// A value that the environment of the server must contain.
    pub environment: Option<String>,
}

/// A finding that did not become a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFinding {
    pub id: String,
    pub title: String,
    pub why: String,
}
