//! `options` of a test.

use std::time::Duration;

use quintain_evidence::code::Code;
use serde_json::{Map, Value};

use super::{View, WrittenModel};
use crate::rubric_prompt::RubricPrompt;

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
    /// `provider`: the model that judges, unless an assertion names its own.
    pub judge: Option<WrittenModel>,
    /// The judge of `defaultTest`, which judges if nothing else is named.
    pub fallback_judge: Option<WrittenModel>,
    /// `rubricPrompt`, with the content of files.
    pub rubric_prompt: Option<RubricPrompt>,
    /// The options as written, for reports and for questions to judges.
    pub raw: Map<String, Value>,
}
