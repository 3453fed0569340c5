//! The parts of a suite beyond targets: prompts, derived metrics, options of a run.

use std::path::PathBuf;
use std::time::Duration;

use quintain_evidence::code::Code;
use quintain_evidence::kept_file::KeptFile;
use quintain_source::{Node, Span};
use serde_json::{Map, Value};

use super::TestList;
use super::prompt::Prompt;

impl Tests {
    /// Whether the suite names neither tests nor prompts; then there is only the default prompt.
    pub fn is_without_tests(&self) -> bool {
        self.tests.is_empty() && self.prompts.iter().all(|prompt| prompt.span == Span::default())
    }
}

/// `derivedMetrics`
#[derive(Debug, Clone)]
pub struct DerivedMetric {
    pub name: String,
    pub value: DerivedValue,
}

#[derive(Debug, Clone)]
pub enum DerivedValue {
    /// An arithmetic expression over named scores.
    Expression(String),
    Code(Code),
}

/// `evaluateOptions`, which the command line can override.
#[derive(Debug, Clone, Default)]
pub struct EvaluateOptions {
    pub max_concurrency: Option<usize>,
    pub repeat: Option<u32>,
    pub delay: Option<Duration>,
    /// Time limit for each test.
    pub timeout: Option<Duration>,
    /// Time limit for the whole run.
    pub max_eval_time: Option<Duration>,
    /// Maximum number of calls per second.
    pub rate: Option<f64>,
    /// A tool result with `isError` counts as an error of the case.
    pub fail_on_tool_error: bool,
}

/// A report that a suite declares.
#[derive(Debug, Clone)]
pub struct Output {
    pub file: KeptFile,
    pub span: Span,
}

/// Everything in a suite beyond its targets.
#[derive(Debug, Default)]
pub struct Tests {
    pub prompts: Vec<Prompt>,
    pub tests: TestList,
    pub derived_metrics: Vec<DerivedMetric>,
    /// `nunjucksFilters`: JavaScript by filter name.
    pub filters: Vec<(String, Code)>,
    pub options: EvaluateOptions,
    /// `outputPath`: the reports to write, unless the command line sets others.
    pub outputs: Vec<Output>,
    pub tags: Map<String, Value>,
    pub metadata: Map<String, Value>,
    /// `commandLineOptions` as written: defaults for the flags of the same names.
    pub command_line: Map<String, Value>,
    /// `redteam` as written, with file references replaced; other crates interpret it.
    pub redteam: Option<Node>,
    /// Relative paths in it start here.
    pub redteam_dir: PathBuf,
}
