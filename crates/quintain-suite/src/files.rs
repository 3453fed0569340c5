//! `file://` references. The caller provides access to the disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    /// If the file is unreadable.
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>>;

    /// The files that a pattern with `*`, `?`, `**`, `{a,b}` or `[ab]` matches, in order.
    ///
    /// # Errors
    /// If the pattern is invalid.
    fn matching(&self, pattern: &Path) -> std::io::Result<Vec<PathBuf>>;

    /// Calls a function in a Python or Ruby file that generates a part of the suite.
    ///
    /// # Errors
    /// If the call fails or no interpreter is available.
    fn run(
        &self,
        _consent: Consent,
        _code: &Code,
        _function: &str,
        _arguments: &[Value],
        _env: &BTreeMap<String, String>,
    ) -> Result<Value, String> {
        Err("no interpreter is available".to_owned())
    }

    /// Checks that code in a language may run.
    ///
    /// # Errors
    /// If it may not; the text is the reason.
    fn may_run(&self, _language: Language) -> Result<(), String> {
        Ok(())
    }

    /// Checks that the suite may read an environment variable.
    ///
    /// # Errors
    /// If it may not; the text is the reason.
    fn may_see(&self, _variable: &str) -> Result<(), String> {
        Ok(())
    }

    /// The inspections of surfaces. The caller provides them, since this crate does not know attacks.
    fn inspections(&self) -> &[&'static dyn SurfaceInspection] {
        &[]
    }
}

/// No files, for suites without references.
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    fn matching(&self, _: &Path) -> std::io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }

    /// Tests use their own inspections.
    #[cfg(test)]
    fn inspections(&self) -> &[&'static dyn SurfaceInspection] {
        crate::testing::INSPECTIONS
    }
}

/// The files of a suite whose texts are data: none. What else is allowed is decided by the files of the run.
pub(crate) struct LiteralFiles(pub(crate) Arc<dyn Files>);

impl Files for LiteralFiles {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Err(std::io::Error::other("a literal suite refers to no files"))
    }

    fn matching(&self, _: &Path) -> std::io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }

    fn may_run(&self, language: Language) -> Result<(), String> {
        self.0.may_run(language)
    }

    fn may_see(&self, variable: &str) -> Result<(), String> {
        self.0.may_see(variable)
    }

    fn inspections(&self) -> &[&'static dyn SurfaceInspection] {
        self.0.inspections()
    }
}

/// The content of a referenced file.
#[derive(Debug, Clone, PartialEq)]
pub enum FileValue {
    Data(Value),
    Code(Code),
}

impl FileValue {
    /// Reads the file of a `file://` reference: JSON and YAML as data, JavaScript, Python and Ruby
    /// (`path:function`) as code, anything else as trimmed text.
    ///
    /// # Errors
    /// If the file is unreadable or invalid.
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

/// The language of a file, by its suffix.
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

/// Whether inline code of the suite may run; reports an error if not.
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
        Ok(FileValue::Data(_)) => "expected a JavaScript, Python or Ruby file".to_owned(),
        Err(why) => why,
    };
    let title = "this file cannot be used";
    dx.push(Diagnostic::error("config::unreadable-file", title).at(node.span, why));
    None
}
