//! What shall be asked and what must come back: prompts, derived metrics, options of a run.

use std::path::PathBuf;
use std::time::Duration;

use quintain_evidence::code::Code;
use quintain_evidence::kept_file::KeptFile;
use quintain_source::{Node, Span};
use serde_json::{Map, Value};

use super::TestList;

/// One entry of `prompts`.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// What reports and filters call it.
    pub label: String,
    pub id: Option<String>,
    pub body: PromptBody,
    /// For the function that makes it.
    pub config: Option<Value>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum PromptBody {
    /// A template.
    Text(String),
    /// A tool call, request or sequence written as a YAML map; its texts are templates.
    Call(Value),
    /// A function that makes the prompt.
    Code(Code),
}

impl Prompt {
    /// As reports show it before variables are filled in.
    pub fn raw(&self) -> String {
        match &self.body {
            PromptBody::Call(call) => call.to_string(),
            PromptBody::Text(text)
            | PromptBody::Code(Code::Inline { text, .. } | Code::File { text, .. }) => text.clone(),
        }
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

/// `evaluateOptions`, with which the command line can compete.
#[derive(Debug, Clone, Default)]
pub struct EvaluateOptions {
    pub max_concurrency: Option<usize>,
    pub repeat: Option<u32>,
    pub delay: Option<Duration>,
    /// Limit for each test.
    pub timeout: Option<Duration>,
    /// Limit for the whole run.
    pub max_eval_time: Option<Duration>,
    /// Calls per second at most.
    pub rate: Option<f64>,
    /// A tool result with `isError` counts as an error of the case.
    pub fail_on_tool_error: bool,
}

/// A report that a suite names.
#[derive(Debug, Clone)]
pub struct Output {
    pub file: KeptFile,
    pub span: Span,
}

/// What a suite says beyond its targets.
#[derive(Debug, Default)]
pub struct Tests {
    pub prompts: Vec<Prompt>,
    pub tests: TestList,
    pub derived_metrics: Vec<DerivedMetric>,
    /// `nunjucksFilters`: JavaScript by the names that templates use.
    pub filters: Vec<(String, Code)>,
    pub options: EvaluateOptions,
    /// `outputPath`: reports that are written unless the command line names others.
    pub outputs: Vec<Output>,
    pub tags: Map<String, Value>,
    pub metadata: Map<String, Value>,
    /// `commandLineOptions` as written: defaults for flags of the same names.
    pub command_line: Map<String, Value>,
    /// `redteam` as written, with files in the place of their names; others interpret it.
    pub redteam: Option<Node>,
    /// Where paths in it start.
    pub redteam_dir: PathBuf,
}
