//! `tests`: a list of tests, files with tests, or both.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use quintain_evidence::code::{Code, Language};
use quintain_script::Host;
use quintain_source::{
    Diagnostic, Fields, FileId, Long, Node, NodeKind, SourceFile, Span, lines, read as read_source,
    wrong_type,
};
use serde_json::Value;

use super::case::Role;
use super::fill::fill_sent;
use super::list::{Entry, numbered};
use super::loader::{Loader, SuiteFolder, suffix_of};
use super::row::Rows;
use crate::code::RunCode as _;
use crate::files::{FileValue, language_of, split_function};
use crate::purpose::{Consent, NotCalled};

/// Receives the tests one by one.
type Take<'t> = &'t mut dyn FnMut(Entry<'_>);

impl Loader<'_> {
    /// Reads all tests of a `tests` key, not yet merged with `defaultTest`.
    pub(super) fn tests(&mut self, node: Node, place: &SuiteFolder<'_>, take: Take<'_>) {
        match node.kind {
            NodeKind::Seq(items) => {
                items.into_iter().for_each(|item| self.item(&item, place, take));
            }
            NodeKind::Pile(items) => {
                for item in items {
                    let mut item = item.unpack();
                    fill_sent(&mut item, self.templates, place.strictness, self.dx);
                    self.item(&item, place, take);
                }
            }
            _ => match node.as_str() {
                Some(name) => self.test_files(name, node.span, true, place, take),
                None if node.get("path").is_some() => self.generator(&node, place, take),
                None => {
                    wrong_type("tests", "a list of tests, or a file with tests", &node, self.dx);
                }
            },
        }
    }

    /// One entry of the list.
    fn item(&mut self, item: &Node, place: &SuiteFolder<'_>, take: Take<'_>) {
        match item.as_str() {
            Some(name) => self.test_files(name, item.span, false, place, take),
            None if item.get("path").is_some() => self.generator(item, place, take),
            None => self.entry(item, place, place.base_dir, None, take),
        }
    }

    /// Reads one test and passes it on.
    fn entry(
        &mut self,
        node: &Node,
        place: &SuiteFolder<'_>,
        test_dir: &Path,
        row: Option<usize>,
        take: Take<'_>,
    ) {
        if let Some(mut test) = self.test(node, Role::Test, place, test_dir) {
            numbered(&mut test, row);
            take(Entry { test, node, place, test_dir, row });
        }
    }

    /// The tests of a file or of all files that a pattern matches. As in promptfoo, the tests of a JSON file
    /// are numbered if `tests` is that file alone.
    fn test_files(
        &mut self,
        name: &str,
        at: Span,
        alone: bool,
        place: &SuiteFolder<'_>,
        take: Take<'_>,
    ) {
        if let Some((scheme, _)) = name.split_once("://").filter(|(scheme, _)| *scheme != "file") {
            let why = format!("tests from `{scheme}://` are not supported; save them as a file");
            return self.unreadable(at, why);
        }
        let name = name.strip_prefix("file://").unwrap_or(name);
        let (path, _) = split_function(name);
        if language_of(&suffix_of(Path::new(path))).is_some() {
            return self.generated(name, None, at, place, take);
        }
        for path in self.matching(name, place, at) {
            self.test_file(&path, at, alone, place, take);
        }
    }

    fn test_file(
        &mut self,
        path: &Path,
        at: Span,
        alone: bool,
        place: &SuiteFolder<'_>,
        take: Take<'_>,
    ) {
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        let suffix = suffix_of(path);
        let row = |index| (alone && !suffix.starts_with('y')).then_some(index);
        match suffix.as_str() {
            "csv" => {
                let Some((text, id)) = self.shared_source(path, place, at) else { return };
                let mut rows = Rows::new(&text, id, self.delimiter);
                self.complain(rows.complaints());
                for (index, (node, complaints)) in rows.enumerate() {
                    self.complain(complaints);
                    let Some(node) = node else { continue };
                    self.entry(&node, place, &folder, row(index), take);
                }
            }
            "jsonl" => {
                let Some((text, id)) = self.shared_source(path, place, at) else { return };
                let mut index = 0;
                for (node, dx) in lines(&text, id) {
                    self.dx.extend(dx);
                    let Some(mut node) = node else { continue };
                    fill_sent(&mut node, self.templates, place.strictness, self.dx);
                    self.entry(&node, place, &folder, row(index), take);
                    index += 1;
                }
            }
            "json" | "yaml" | "yml" => {
                let Some(tree) = self.long_tree(path, Long::Document, place, at) else { return };
                match tree.kind {
                    NodeKind::Null => {}
                    NodeKind::Seq(items) => {
                        for (index, node) in items.into_iter().enumerate() {
                            self.entry(&node, place, &folder, row(index), take);
                        }
                    }
                    NodeKind::Pile(items) => {
                        for (index, item) in items.into_iter().enumerate() {
                            let mut node = item.unpack();
                            fill_sent(&mut node, self.templates, place.strictness, self.dx);
                            self.entry(&node, place, &folder, row(index), take);
                        }
                    }
                    _ => self.entry(&tree, place, &folder, row(0), take),
                }
            }
            _ => {
                let why = "expected a `.yaml`, `.json`, `.jsonl` or `.csv` file";
                self.unreadable(at, why);
            }
        }
    }

    fn complain(&mut self, complaints: Vec<Diagnostic>) {
        complaints.into_iter().for_each(|complaint| self.dx.push(complaint));
    }

    /// Reads a file as a source that diagnostics can point to.
    fn shared_source(
        &mut self,
        path: &Path,
        place: &SuiteFolder<'_>,
        at: Span,
    ) -> Option<(Arc<str>, FileId)> {
        let id = self.source(path, place, at)?;
        Some((self.sources.get(id)?.shared_text(), id))
    }

    /// `{path: file://make.js, config: {...}}`
    fn generator(&mut self, node: &Node, place: &SuiteFolder<'_>, take: Take<'_>) {
        let Some(mut fields) = Fields::of(node, "a file with tests", self.dx) else { return };
        let config = fields.get("config").map(Node::to_json);
        let path = fields.get("path");
        fields.finish(place.strictness, self.dx);
        let Some((name, at)) = path.and_then(|path| Some((path.as_str()?, path.span))) else {
            path.into_iter().for_each(|path| wrong_type("path", "a file", path, self.dx));
            return;
        };
        let name = name.strip_prefix("file://").unwrap_or(name);
        let (path, _) = split_function(name);
        if language_of(&suffix_of(Path::new(path))).is_some() {
            return self.generated(name, config.as_ref(), at, place, take);
        }
        self.test_files(name, at, false, place, take);
    }

    /// The tests that a script returns.
    fn generated(
        &mut self,
        name: &str,
        config: Option<&Value>,
        at: Span,
        place: &SuiteFolder<'_>,
        take: Take<'_>,
    ) {
        let made = match FileValue::read(name, place.base_dir, self.files) {
            Ok(FileValue::Code(code)) => match self.consent {
                Some(consent) => self.made(consent, &code, config),
                None => return self.not_called.push(NotCalled { makes: "tests", code }),
            },
            Ok(FileValue::Data(_)) => Err("not a script".to_owned()),
            Err(why) => Err(why),
        };
        let nodes = match made {
            Ok(made @ (Value::Array(_) | Value::Object(_))) => {
                // Added as a source, so that diagnostics can point to the generated tests.
                let text = format!("{made:#}");
                let id = self.sources.add(SourceFile::new(format!("tests of {name}.json"), text));
                read_source(self.sources, id, self.dx)
            }
            Ok(_) => {
                self.unreadable(at, "the script did not return a list of tests");
                None
            }
            Err(why) => {
                // The other lines are the stack trace of the interpreter.
                self.unreadable(at, why.lines().next().unwrap_or_default());
                None
            }
        };
        let Some(nodes) = nodes else { return };
        for node in nodes.as_seq().unwrap_or(std::slice::from_ref(&nodes)) {
            self.entry(node, place, place.base_dir, None, take);
        }
    }

    fn made(&self, consent: Consent, code: &Code, config: Option<&Value>) -> Result<Value, String> {
        if code.language() == Language::JavaScript {
            let host = Host { env: self.env.clone(), ..Host::default() };
            let config: Vec<_> = config.map(|config| ("config", config)).into_iter().collect();
            return code.run_js(&config, &host);
        }
        let config: Vec<_> = config.cloned().into_iter().collect();
        self.files.run(consent, code, "generate_tests", &config, self.env)
    }
}
