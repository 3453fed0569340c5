//! A file with a provider: a function in Python or Ruby, a class or a function in JavaScript.

use quintain_content::registry::Meta;
use quintain_evidence::code::{Code, Language};
use quintain_source::Diagnostic;
use serde_json::{Map, Value};

use super::{Entry, TargetKind, file_suffix};
use crate::files::FileValue;
use crate::suite::referred;
use crate::target::{Reach, Settings};

const META: Meta = Meta {
    id: "code",
    aliases: &[],
    summary: "A function `call_api` in Python or Ruby, or a provider in JavaScript",
    docs: "\
# What it does
Calls code of the user for every prompt, as promptfoo does: `call_api(prompt, options, context)` in Python and Ruby
(another function behind a colon), or what a JavaScript file exports: a class with `callApi`, an object or a function.
It returns an object with `output` or `error`. JavaScript runs in process, Python and Ruby in an interpreter
(`pythonExecutable` and `rubyExecutable` of `config` select another one).

# Example
```yaml
targets:
  - id: file://provider.py
    config: {temperature: 0}
```
",
    since: "0.1.0",
};

pub struct CodeKind;

impl TargetKind for CodeKind {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["python", "ruby", "file"]
    }

    fn answers_to(&self, id: &str) -> bool {
        match file_suffix(id) {
            // They list targets, or are programs in a language that is not run here.
            Some(suffix) => !matches!(suffix, "yaml" | "yml" | "json" | "go"),
            None => reference(id).is_some(),
        }
    }

    fn read(&self, entry: &mut Entry<'_>) -> Option<Box<dyn Settings>> {
        let reference = reference(entry.id).unwrap_or_default();
        let why = match FileValue::read(reference, entry.reader.base_dir, entry.reader.files) {
            Ok(FileValue::Code(code)) => return Some(Box::new(CodeTarget::read(code, entry))),
            Ok(FileValue::Data(_)) => "expected a JavaScript, Python or Ruby file".to_owned(),
            Err(why) => why,
        };
        let title = "this file cannot be used";
        entry.dx.push(Diagnostic::error("config::unreadable-file", title).at(entry.span, why));
        None
    }
}

/// The path behind `file://`, `python:` or `ruby:`, optionally with the name of a function.
fn reference(id: &str) -> Option<&str> {
    if let Some(path) = id.strip_prefix("file://") {
        return Some(path);
    }
    let path = id.strip_prefix("python:").or_else(|| id.strip_prefix("ruby:"))?;
    Some(path).filter(|path| !path.is_empty())
}

/// `file://provider.py`, `python:provider.py`, `file://provider.js`, ...
#[derive(Debug)]
pub struct CodeTarget {
    pub code: Code,
    /// `config`; for Python and Ruby with `file://` references replaced by the content of the files.
    pub config: Map<String, Value>,
    /// The interpreter, if it is not the default one.
    pub executable: Option<String>,
}

impl CodeTarget {
    fn read(code: Code, entry: &mut Entry<'_>) -> Self {
        let config = match (entry.config, code.language()) {
            (Some(config), Language::Python | Language::Ruby) => {
                referred::map(config, entry.reader, entry.dx)
            }
            _ => entry.config_map(),
        };
        let name = match code.language() {
            Language::Ruby => "rubyExecutable",
            _ => "pythonExecutable",
        };
        let executable = config.get(name).and_then(Value::as_str).map(str::to_owned);
        Self { code, config, executable }
    }
}

impl Settings for CodeTarget {
    fn reach(&self, reach: &mut Reach<'_>) {
        let what = reach.what.clone();
        reach.code_with(&self.code, &what, self.executable.as_deref());
    }
}
