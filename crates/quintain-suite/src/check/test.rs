//! One test of a suite, with its entries of `assert` compiled.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use quintain_evidence::code::Code;
use quintain_source::Span;
use serde_json::{Map, Value};

use super::{Assert, View};

/// A test, merged with `defaultTest` and its scenario; variables are not expanded yet.
#[derive(Debug, Default)]
pub struct Test {
    pub description: Option<String>,
    pub vars: Map<String, Value>,
    /// The ones of `defaultTest` come first and are shared by all tests.
    pub asserts: Vec<Arc<Assert>>,
    /// The test passes if its score is at least this, even if an assertion fails.
    pub threshold: Option<f64>,
    /// `assertScoringFunction`
    pub scoring: Option<Code>,
    pub metadata: Map<String, Value>,
    pub options: TestOptions,
    /// Names of the targets and prompts it is limited to; empty for all.
    pub only_targets: Option<Vec<String>>,
    pub only_prompts: Option<Vec<String>>,
    /// A recorded output that is used instead of a call.
    pub provider_output: Option<Value>,
    /// The files that variables refer to with `file://`.
    pub files: BTreeMap<String, VarFile>,
    pub span: Span,
}

/// A file that a variable refers to.
#[derive(Debug, Clone)]
pub enum VarFile {
    Text(String),
    /// Called for every case, with the name of the variable, the prompt and all variables.
    Code(Code),
}

impl Test {
    /// The file that the value of a variable refers to, if it is a reference.
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
    /// Later tests see the output as a variable of this name.
    pub store_output_as: Option<String>,
    pub run_serially: bool,
    pub disable_var_expansion: bool,
    pub disable_conversation_var: bool,
    pub repeat: Option<u32>,
    /// The part of the response that assertions judge, unless they have their own `view`.
    pub view: Option<View>,
    /// Time limit for all steps of a case together.
    pub timeout: Option<Duration>,
    /// The options as written, for reports and for questions to judges.
    pub raw: Map<String, Value>,
}
