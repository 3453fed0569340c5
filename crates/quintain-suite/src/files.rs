//! `file://` references. What is on the disk is asked of whoever may look there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quintain_evidence::code::{Code, Language};
use quintain_evidence::static_finding::SurfaceInspection;
use quintain_source::{
    Diagnostic, Diagnostics, Node, SourceFile, Sources, read as read_source, wrong_type,
};
use serde_json::Value;

use crate::purpose::Consent;

/// The files that a suite may refer to.
pub trait Files: Send + Sync {
    /// # Errors
    /// When it cannot be read.
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>>;

    /// The files that a pattern with `*`, `?`, `**`, `{a,b}` or `[ab]` matches, in order.
    ///
    /// # Errors
    /// When the pattern makes no sense.
    fn matching(&self, pattern: &Path) -> std::io::Result<Vec<PathBuf>>;

    /// What a function in a file of Python or Ruby returns, when the suite needs it to be read.
    ///
    /// # Errors
    /// Says what went wrong, or that no interpreter is at hand.
    fn run(
        &self,
        _consent: Consent,
        _code: &Code,
        _function: &str,
        _arguments: &[Value],
        _env: &BTreeMap<String, String>,
    ) -> Result<Value, String> {
        Err("no interpreter is at hand".to_owned())
    }

    /// Whether code in a language may run at all, wherever a suite contains it.
    ///
    /// # Errors
    /// Says why not.
    fn may_run(&self, _language: Language) -> Result<(), String> {
        Ok(())
    }

    /// Whether a variable of the environment may be seen.
    ///
    /// # Errors
    /// Says why not.
    fn may_see(&self, _variable: &str) -> Result<(), String> {
        Ok(())
    }

    /// What can look at the lists of a server. Handed in, since nothing here knows attacks.
    fn inspections(&self) -> &[&'static dyn SurfaceInspection] {
        &[]
    }
}

/// No files at all, for suites that stand alone.
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn matching(&self, _: &Path) -> std::io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }

    /// Tests have inspections of their own.
    #[cfg(test)]
    fn inspections(&self) -> &[&'static dyn SurfaceInspection] {
        crate::testing::INSPECTIONS
    }
}

/// What a reference stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum FileValue {
    Data(Value),
    Code(Code),
}

impl FileValue {
    /// Reads what stands behind `file://`: JSON and YAML as data, JavaScript, Python and Ruby
    /// (`path:function`) as code, anything else as text without the white space around it.
    ///
    /// # Errors
    /// Says what is wrong with the file.
    pub fn read(reference: &str, base_dir: &Path, files: &dyn Files) -> Result<Self, String> {
        let (name, function) = split_function(reference);
        let path: PathBuf = base_dir.join(name).components().collect();
        let bytes = files.read(&path).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let suffix = path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default();
        if let Some(language) = language_of(suffix) {
            files.may_run(language)?;
            let function = function.map(str::to_owned);
            return Ok(Self::Code(Code::File { language, path, text, function }));
        }
        match suffix {
            "json" => serde_json::from_str(&text).map(Self::Data).map_err(|why| why.to_string()),
            "yaml" | "yml" => yaml(name, text).map(Self::Data),
            _ => Ok(Self::Data(Value::String(text.trim().to_owned()))),
        }
    }
}

/// The language of code in a file with this suffix.
pub fn language_of(suffix: &str) -> Option<Language> {
    match suffix {
        "js" | "cjs" | "mjs" | "ts" | "cts" | "mts" => Some(Language::JavaScript),
        "py" => Some(Language::Python),
        "rb" => Some(Language::Ruby),
        _ => None,
    }
}

/// `check.py:grade` names a function; a colon elsewhere (a drive letter, a date) does not.
pub(crate) fn split_function(reference: &str) -> (&str, Option<&str>) {
    let Some((path, function)) = reference.rsplit_once(':') else { return (reference, None) };
    let suffix = path.rsplit_once('.').map_or("", |(_, suffix)| suffix);
    match language_of(suffix) {
        Some(_) if !function.is_empty() => (path, Some(function)),
        _ => (reference, None),
    }
}

fn yaml(name: &str, text: String) -> Result<Value, String> {
    let mut sources = Sources::new();
    let mut dx = Diagnostics::new();
    let id = sources.add(SourceFile::new(name, text));
    let node = read_source(&sources, id, &mut dx);
    match (node, dx.has_errors()) {
        (Some(node), false) => Ok(node.to_json()),
        (None, false) => Ok(Value::Null),
        _ => Err(dx.iter().map(|found| found.title.clone()).collect::<Vec<_>>().join("; ")),
    }
}

/// Whether code that stands in the suite itself may run. If not, that is reported.
pub(crate) fn may_run(
    language: Language,
    node: &Node,
    files: &dyn Files,
    dx: &mut Diagnostics,
) -> bool {
    let Err(why) = files.may_run(language) else { return true };
    let title = "this code cannot be used";
    dx.push(Diagnostic::error("config::not-allowed", title).at(node.span, why));
    false
}

/// Code as a suite writes it: inline JavaScript or `file://path[:function]`.
pub(crate) fn code(
    name: &str,
    node: &Node,
    base_dir: &Path,
    files: &dyn Files,
    dx: &mut Diagnostics,
) -> Option<Code> {
    let Some(text) = node.raw() else {
        wrong_type(name, "code or a `file://` reference", node, dx);
        return None;
    };
    let Some(reference) = text.strip_prefix("file://") else {
        let language = Language::JavaScript;
        let code = Code::Inline { language, text: text.to_owned() };
        return may_run(language, node, files, dx).then_some(code);
    };
    let why = match FileValue::read(reference, base_dir, files) {
        Ok(FileValue::Code(code)) => return Some(code),
        Ok(FileValue::Data(_)) => "it is no JavaScript, Python or Ruby file".to_owned(),
        Err(why) => why,
    };
    let title = "this file cannot be used";
    dx.push(Diagnostic::error("config::unreadable-file", title).at(node.span, why));
    None
}
