//! One test of a suite, with its entries of `assert` compiled.

use std::collections::BTreeMap;
use std::sync::Arc;

use quintain_evidence::code::Code;
use quintain_source::Span;
use serde_json::{Map, Value};

use super::{Assert, TestOptions};

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
    /// A target of its own, as written, which answers instead of those of the suite.
    pub provider: Option<Value>,
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
