//! The user's scripts and how to run them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::convert::Argument;
use crate::engine::Task;
use crate::source::{Form, Source};
use crate::{Host, Limits, ScriptError, inline, pool};

/// JavaScript to run. Cheap to clone; can run any number of times, also in parallel.
#[derive(Clone)]
pub struct Script {
    source: Arc<Source>,
}

impl Script {
    /// An expression, statements with `return`, or a function that is then called.
    pub fn inline(code: &str) -> Self {
        Self::new(code.to_owned(), Form::Inline(inline::readings(code)))
    }

    /// The text of a CommonJS or ES module; `function` names an export other than the default one.
    pub fn file(name: &str, text: &str, function: Option<&str>) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let text = match text.strip_prefix("#!") {
            Some(rest) => format!("//{rest}"),
            None => text.to_owned(),
        };
        let form = Form::File { name: name.to_owned(), function: function.map(str::to_owned) };
        Self::new(text, form)
    }

    fn new(text: String, form: Form) -> Self {
        Self { source: Arc::new(Source { text, form, reading: OnceLock::new() }) }
    }

    /// Checks whether this is JavaScript, without running it.
    pub fn check(&self) -> Result<(), ScriptError> {
        let task = Task {
            source: Arc::clone(&self.source),
            arguments: Vec::new(),
            env: Vec::new(),
            limits: Limits::default(),
            check: true,
        };
        pool::run(task)?.outcome.map(drop)
    }

    /// Inline code sees the names, functions get the values in this order.
    pub fn run(&self, arguments: &[(&str, &Value)], host: &Host) -> Result<Value, ScriptError> {
        let arguments = arguments
            .iter()
            .map(|(name, value)| Ok(((*name).to_owned(), Argument::new(name, value)?)))
            .collect::<Result<_, ScriptError>>()?;
        // Copying a whole environment costs more than most scripts, and few use it.
        let env = if self.source.text.contains("env") {
            host.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
        } else {
            Vec::new()
        };
        let source = Arc::clone(&self.source);
        let task = Task { source, arguments, env, limits: host.limits, check: false };
        let report = pool::run(task)?;
        for (level, text) in report.log_lines {
            tracing::debug!(target: "quintain::script", level, "{text}");
        }
        report.outcome?.read()
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source.form {
            Form::Inline(_) => f.debug_tuple("Script").field(&self.source.text).finish(),
            Form::File { name, function } => {
                f.debug_tuple("Script").field(name).field(function).finish()
            }
        }
    }
}
