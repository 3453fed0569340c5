//! The context for reading everything beyond targets: referenced files, templates, diagnostics.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quintain_evidence::code::Code;
use quintain_source::{
    Diagnostic, Diagnostics, Fields, FileId, Long, Node, Severity, SourceFile, Sources, Span,
    Templates, read_long,
};

use super::VarFile;
use super::mention::Mention;
use super::unknown_vars::Variables;
use crate::files::Files;
use crate::purpose::{Consent, NotCalled};

pub(super) struct Loader<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) sources: &'a mut Sources,
    pub(super) dx: &'a mut Diagnostics,
    pub(super) templates: &'a Templates,
    pub(super) env: &'a BTreeMap<String, String>,
    /// The separator of cells in CSV files.
    pub(super) delimiter: char,
    /// Files that the variables of the current test refer to.
    pub(super) var_files: BTreeMap<String, VarFile>,
    /// Names of targets and prompts that tests are restricted to.
    pub(super) mentions: Vec<Mention>,
    pub(super) variables: Variables,
    /// Needed to call scripts.
    pub(super) consent: Option<Consent>,
    /// Scripts that were not called because `consent` is missing.
    pub(super) not_called: Vec<NotCalled>,
    /// Texts of tests are data: no references to files.
    pub(super) is_literal: bool,
}

impl<'a> Loader<'a> {
    pub(super) fn new(
        files: &'a dyn Files,
        templates: &'a Templates,
        env: &'a BTreeMap<String, String>,
        sources: &'a mut Sources,
        dx: &'a mut Diagnostics,
    ) -> Self {
        let delimiter = env.get("PROMPTFOO_CSV_DELIMITER").and_then(|text| text.chars().next());
        Self {
            files,
            sources,
            dx,
            templates,
            env,
            delimiter: delimiter.unwrap_or(','),
            var_files: BTreeMap::new(),
            mentions: Vec::new(),
            variables: Variables::default(),
            consent: None,
            not_called: Vec::new(),
            is_literal: false,
        }
    }
}

/// The location of a file of the suite.
#[derive(Clone, Copy)]
pub(super) struct SuiteFolder<'a> {
    /// Relative paths start here.
    pub(super) base_dir: &'a Path,
    /// The same folder as the user wrote it, for messages and labels.
    pub(super) shown_dir: &'a Path,
    pub(super) strictness: Severity,
}

impl SuiteFolder<'_> {
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.base_dir.join(name).components().collect()
    }

    /// A path as the user would write it.
    pub(super) fn shown(&self, path: &Path) -> String {
        let relative = path.strip_prefix(self.base_dir).map(|rest| self.shown_dir.join(rest));
        relative.as_deref().unwrap_or(path).display().to_string()
    }
}

impl Loader<'_> {
    /// The files that a path or pattern matches. Reports an error if nothing matches.
    pub(super) fn matching(
        &mut self,
        name: &str,
        place: &SuiteFolder<'_>,
        at: Span,
    ) -> Vec<PathBuf> {
        let path = place.path(name);
        if !is_pattern(name) {
            return vec![path];
        }
        match self.files.matching(&path) {
            Ok(found) if found.is_empty() => self.unreadable(at, "no file matches"),
            Ok(found) => return found,
            Err(error) => self.unreadable(at, error.to_string()),
        }
        Vec::new()
    }

    pub(super) fn bytes(
        &mut self,
        path: &Path,
        place: &SuiteFolder<'_>,
        at: Span,
    ) -> Option<Vec<u8>> {
        match self.files.read(path) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                self.unreadable(at, format!("`{}`: {error}", place.shown(path)));
                None
            }
        }
    }

    pub(super) fn text(
        &mut self,
        path: &Path,
        place: &SuiteFolder<'_>,
        at: Span,
    ) -> Option<String> {
        let bytes = self.bytes(path, place, at)?;
        let text = String::from_utf8(bytes).ok();
        if text.is_none() {
            self.unreadable(at, format!("`{}` is not UTF-8", place.shown(path)));
        }
        text
    }

    /// Reads a file as a source that diagnostics can point to.
    pub(super) fn source(
        &mut self,
        path: &Path,
        place: &SuiteFolder<'_>,
        at: Span,
    ) -> Option<FileId> {
        let text = self.text(path, place, at)?;
        Some(self.sources.add(SourceFile::new(place.shown(path), text)))
    }

    /// Reads a YAML or JSON file as a tree, with environment variables expanded.
    pub(super) fn tree(&mut self, path: &Path, place: &SuiteFolder<'_>, at: Span) -> Option<Node> {
        self.long_tree(path, Long::Nothing, place, at)
    }

    /// The same for a file with a list that may be long; the items of a long list are not expanded yet.
    pub(super) fn long_tree(
        &mut self,
        path: &Path,
        long: Long,
        place: &SuiteFolder<'_>,
        at: Span,
    ) -> Option<Node> {
        let id = self.source(path, place, at)?;
        let node = read_long(self.sources, id, long, self.dx)?;
        let mut node = super::refs::resolved(node, self.dx)?;
        super::fill::fill_sent(&mut node, self.templates, place.strictness, self.dx);
        Some(node)
    }

    pub(super) fn code(
        &mut self,
        fields: &mut Fields<'_>,
        name: &'static str,
        place: &SuiteFolder<'_>,
    ) -> Option<Code> {
        let node = fields.get(name)?;
        crate::files::code(name, node, place.base_dir, self.files, self.dx)
    }

    pub(super) fn unreadable(&mut self, at: Span, why: impl Into<String>) {
        let title = "this file cannot be used";
        self.dx.push(Diagnostic::error("config::unreadable-file", title).at(at, why));
    }

    /// Warns about a feature of promptfoo that has no effect in Quintain.
    pub(super) fn no_effect(&mut self, at: Span, what: &str, why: &str) {
        let title = format!("{what} has no effect");
        self.dx.push(Diagnostic::warning("config::no-effect", title).at(at, why));
    }
}

/// Whether a path is a pattern.
pub(super) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[', '{'])
}

/// The suffix of a path in lower case.
pub(super) fn suffix_of(path: &Path) -> String {
    path.extension().and_then(|suffix| suffix.to_str()).unwrap_or_default().to_ascii_lowercase()
}
