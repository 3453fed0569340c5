//! `rubricPrompt`: the user's own question to a judge, in the options of a test or of an assertion.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use quintain_evidence::code::{Code, Language};
use quintain_script::Host;
use quintain_source::{Diagnostic, Diagnostics, Node, NodeKind, Nunjucks};
use serde_json::Value;

use crate::files::{FileValue, Files};
use crate::run_code::RunCode as _;

/// The user's own question to a judge.
#[derive(Debug, Clone)]
pub enum RubricPrompt {
    Written(Value),
    /// The return value of a JavaScript function without arguments, which is called once.
    Made(Arc<MadePrompt>),
}

#[derive(Debug)]
pub struct MadePrompt {
    code: Code,
    made: OnceLock<Result<Value, String>>,
}

impl RubricPrompt {
    /// The prompt, before it is expanded.
    ///
    /// # Errors
    /// If the function throws.
    pub(crate) fn value(&self, templates: &Nunjucks) -> Result<&Value, String> {
        match self {
            Self::Written(value) => Ok(value),
            Self::Made(prompt) => {
                let host = || Host { env: templates.env().clone(), ..Host::default() };
                let made = prompt.made.get_or_init(|| prompt.code.run_js(&[], &host()));
                made.as_ref().map_err(Clone::clone)
            }
        }
    }

    /// The code that runs for it.
    pub(crate) fn code(&self) -> Option<&Code> {
        match self {
            Self::Written(_) => None,
            Self::Made(prompt) => Some(&prompt.code),
        }
    }
}

/// Reads a prompt: text, a list of chat messages or texts, a map of them (`steps` and `evaluate` of `g-eval`), or a reference
/// to a JavaScript function that returns one.
pub(crate) fn read(
    node: &Node,
    base_dir: &Path,
    files: &dyn Files,
    dx: &mut Diagnostics,
) -> Option<RubricPrompt> {
    let reference = node.as_str().and_then(|text| text.strip_prefix("file://"));
    let file = reference.and_then(|reference| FileValue::read(reference, base_dir, files).ok());
    if let Some(FileValue::Code(code)) = file
        && code.language() == Language::JavaScript
    {
        let made = OnceLock::new();
        return Some(RubricPrompt::Made(Arc::new(MadePrompt { code, made })));
    }
    written(node, base_dir, files, dx).map(RubricPrompt::Written)
}

/// References to files are replaced by their content.
fn written(node: &Node, base_dir: &Path, files: &dyn Files, dx: &mut Diagnostics) -> Option<Value> {
    match &node.kind {
        NodeKind::Null => None,
        NodeKind::Scalar(_) => text(node, base_dir, files, dx),
        NodeKind::Seq(items) => {
            let items = items.iter().map(|item| written(item, base_dir, files, dx));
            items.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        NodeKind::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| {
                let read = match key.text.as_str() {
                    "steps" | "evaluate" => written(value, base_dir, files, dx)?,
                    _ => value.to_json(),
                };
                Some((key.text.clone(), read))
            });
            entries.collect::<Option<serde_json::Map<_, _>>>().map(Value::Object)
        }
        NodeKind::Pile(_) => Some(node.to_json()),
    }
}

fn text(node: &Node, base_dir: &Path, files: &dyn Files, dx: &mut Diagnostics) -> Option<Value> {
    let Some(reference) = node.as_str().and_then(|text| text.strip_prefix("file://")) else {
        return Some(node.to_json());
    };
    let why = match FileValue::read(reference, base_dir, files) {
        Ok(FileValue::Data(value)) => return Some(value),
        Ok(FileValue::Code(_)) => "expected a prompt or a JavaScript function".to_owned(),
        // A template may be valid JSON or YAML only after it is expanded.
        Err(why) => match raw(reference, base_dir, files) {
            Some(text) => return Some(Value::String(text)),
            None => why,
        },
    };
    let title = "this file cannot be used";
    dx.push(Diagnostic::error("config::unreadable-file", title).at(node.span, why));
    None
}

fn raw(reference: &str, base_dir: &Path, files: &dyn Files) -> Option<String> {
    String::from_utf8(files.read(&base_dir.join(reference)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use quintain_source::{SourceFile, Sources, read as parse};
    use serde_json::json;

    use super::*;

    struct Folder;

    impl Files for Folder {
        fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
            let text = match path.file_name().and_then(|name| name.to_str()) {
                Some("chat.json") => r#"[{"role": "user", "content": "{{output}}"}]"#,
                Some("open.json") => r#"[{"role": "user", "content": {{output | dump}}}]"#,
                Some("chat.yaml") => "- role: user\n  content: '{{output}}'",
                Some("plain.txt") => "Judge {{output}}",
                Some("made.js") => "module.exports = () => 'x'",
                Some("made.py") => "def prompt(): return 'x'",
                _ => return Err(std::io::ErrorKind::NotFound.into()),
            };
            Ok(text.as_bytes().to_vec())
        }

        fn matching(&self, _: &Path) -> std::io::Result<Vec<PathBuf>> {
            Ok(Vec::new())
        }
    }

    fn prompt(yaml: &str) -> Result<Option<Value>, usize> {
        let (mut sources, mut dx) = (Sources::new(), Diagnostics::new());
        let id = sources.add(SourceFile::new("suite.yaml", yaml));
        let node = parse(&sources, id, &mut dx).expect("YAML");
        let found = read(&node, Path::new("/suite"), &Folder, &mut dx);
        let value = found.map(|found| found.value(&Nunjucks::default()).cloned().expect("a value"));
        if dx.has_errors() { Err(dx.iter().count()) } else { Ok(value) }
    }

    #[test]
    fn files_are_replaced_by_their_content() {
        let chat = json!([{"role": "user", "content": "{{output}}"}]);
        for name in ["chat.json", "chat.yaml"] {
            assert_eq!(prompt(&format!("file://{name}")), Ok(Some(chat.clone())), "{name}");
        }
        assert_eq!(prompt("file://plain.txt"), Ok(Some(json!("Judge {{output}}"))));
        let open = prompt("file://open.json").unwrap().unwrap();
        assert!(open.as_str().is_some_and(|text| text.contains("dump")), "{open}");
        let both = prompt("{steps: 'file://plain.txt', evaluate: x}").unwrap();
        assert_eq!(both, Some(json!({"steps": "Judge {{output}}", "evaluate": "x"})));
        let list = prompt("['file://plain.txt', {role: user, content: y}]").unwrap();
        assert_eq!(list, Some(json!(["Judge {{output}}", {"role": "user", "content": "y"}])));
        assert_eq!(prompt("null"), Ok(None));
    }

    #[test]
    fn what_is_no_prompt_is_reported() {
        assert_eq!(prompt("file://missing.txt"), Err(1));
        assert_eq!(prompt("file://made.py"), Err(1));
        assert_eq!(prompt("['file://made.js']"), Err(1));
    }

    #[test]
    fn a_function_returns_a_prompt() {
        assert_eq!(prompt("file://made.js"), Ok(Some(json!("x"))));
    }
}
