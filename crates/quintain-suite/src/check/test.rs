//! One test of a suite, with its entries of `assert` compiled.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quintain_evidence::code::Code;
use quintain_source::Span;
use serde_json::{Map, Value};

use super::{Assert, View};

/// A test with `defaultTest` and its scenario merged in; variables are not expanded yet.
#[derive(Debug, Default)]
pub struct Test {
    pub description: Option<String>,
    pub vars: Map<String, Value>,
    /// Those of `defaultTest` first; they are shared by all tests.
    pub asserts: Vec<Arc<Assert>>,
    /// Passed if the score reaches it, whatever single assertions say.
    pub threshold: Option<f64>,
    /// `assertScoringFunction`
    pub scoring: Option<Code>,
    pub metadata: Map<String, Value>,
    pub options: TestOptions,
    /// Names of targets and prompts it is meant for; all if none.
    pub only_targets: Option<Vec<String>>,
    pub only_prompts: Option<Vec<String>>,
    /// A recorded output that takes the place of the call.
    pub provider_output: Option<Value>,
    /// What stands behind the `file://` references among the variables.
    pub files: BTreeMap<String, VarFile>,
    pub span: Span,
}

/// A file that a variable names.
#[derive(Debug, Clone)]
pub enum VarFile {
    Text(String),
    /// Called for every case: with the name of the variable, the prompt and all variables.
    Code(Code),
}

impl Test {
    /// The file that the value of a variable names, if it does.
    pub fn file(&self, value: &Value) -> Option<&VarFile> {
        self.files.get(value.as_str().filter(|text| text.starts_with("file://"))?)
    }
}

/// `options` of a test.
#[derive(Debug, Clone, Default)]
pub struct TestOptions {
    /// Applied to the output before all assertions.
    pub transform: Option<Code>,
    pub transform_vars: Option<Code>,
    pub prefix: Option<String>,
    pub suffix: Option<String>,
    /// The output becomes a variable of this name for later tests.
    pub store_output_as: Option<String>,
    pub run_serially: bool,
    pub disable_var_expansion: bool,
    pub disable_conversation_var: bool,
    pub repeat: Option<u32>,
    /// Which side of the answer assertions look at, unless they say so themselves.
    pub view: Option<View>,
    /// Limit for the whole case, all steps together.
    pub timeout: Option<Duration>,
    /// The options as written, for reports and judges.
    pub raw: Map<String, Value>,
}
