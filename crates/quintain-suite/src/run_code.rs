//! Runs the user's JavaScript in this process.

use quintain_evidence::code::{Code, Language};
use quintain_script::{Host, Script, ScriptError};
use serde_json::Value;

/// Runs JavaScript code in this process.
pub trait RunCode {
    /// The compiled script, which can run any number of times.
    fn script(&self) -> Script;

    /// Runs JavaScript. Inline code sees the arguments by their names, functions get them in order.
    ///
    /// # Errors
    /// If the code throws or is in another language.
    fn run_js(&self, arguments: &[(&str, &Value)], host: &Host) -> Result<Value, String>;
}

impl RunCode for Code {
    fn script(&self) -> Script {
        match self {
            Self::Inline { text, .. } => Script::inline(text),
            Self::File { path, text, function, .. } => {
                Script::file(&path.to_string_lossy(), text, function.as_deref())
            }
        }
    }

    fn run_js(&self, arguments: &[(&str, &Value)], host: &Host) -> Result<Value, String> {
        if self.language() != Language::JavaScript {
            return Err("only JavaScript is supported here".to_owned());
        }
        self.script().run(arguments, host).map_err(|error: ScriptError| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn javascript_runs_here_and_nothing_else_does() {
        let code = Code::Inline { language: Language::JavaScript, text: "output + 1".to_owned() };
        let output = json!(1);
        assert_eq!(code.run_js(&[("output", &output)], &Host::default()), Ok(json!(2)));
        let python = Code::program(Language::Python, "1");
        assert!(python.run_js(&[], &Host::default()).is_err());
    }
}
