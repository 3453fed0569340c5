//! `tests`: a list of tests, files with tests, or both.

use std::path::{Path, PathBuf};

use quintain_source::{Diagnostic, Node, Span, wrong_type};

use super::Test;
use super::case::Role;
use super::files::language_of;
use super::loader::{Loader, Place, suffix_of};

impl Loader<'_> {
    /// All tests of a `tests` key, not yet laid over `defaultTest`.
    pub(super) fn tests(&mut self, node: &Node, place: &Place<'_>) -> Vec<Test> {
        if let Some(items) = node.as_seq() {
            let mut tests = Vec::with_capacity(items.len());
            for item in items {
                match item.as_str() {
                    Some(name) => tests.extend(self.test_files(name, item.span, false, place)),
                    None if item.get("path").is_some() => self.generator(item),
                    None => tests.extend(self.test(item, Role::Test, place, place.base_dir)),
                }
            }
            return tests;
        }
        match node.as_str() {
            Some(name) => self.test_files(name, node.span, true, place),
            None if node.get("path").is_some() => {
                self.generator(node);
                Vec::new()
            }
            None => {
                wrong_type("tests", "a list of tests, or a file with tests", node, self.dx);
                Vec::new()
            }
        }
    }

    /// The tests of a file or of all files that a pattern matches. Named alone, a JSON file's tests
    /// are numbered, as promptfoo has it.
    fn test_files(&mut self, name: &str, at: Span, alone: bool, place: &Place<'_>) -> Vec<Test> {
        if let Some((scheme, _)) = name.split_once("://").filter(|(scheme, _)| *scheme != "file") {
            let why = format!("tests cannot be fetched over `{scheme}`; save them as a file");
            self.unreadable(at, why);
            return Vec::new();
        }
        let name = name.strip_prefix("file://").unwrap_or(name);
        let paths = self.matching(name, place, at);
        let mut tests = Vec::new();
        for path in paths {
            let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
            let (nodes, numbered) = self.test_nodes(&path, at, place);
            for (index, node) in nodes.iter().enumerate() {
                let Some(mut test) = self.test(node, Role::Test, place, &folder) else { continue };
                if alone && numbered && test.description.is_none() {
                    test.description = Some(format!("Row #{}", index + 1));
                }
                tests.push(test);
            }
        }
        tests
    }

    /// The tests of a file as written, and whether promptfoo would number them.
    fn test_nodes(&mut self, path: &Path, at: Span, place: &Place<'_>) -> (Vec<Node>, bool) {
        let suffix = suffix_of(path);
        match suffix.as_str() {
            "csv" => {
                let Some(id) = self.source(path, place, at) else { return (Vec::new(), true) };
                let text = self.sources.get(id).map_or("", |file| file.text());
                let (nodes, complaints) = super::row::tests(text, id, self.delimiter);
                complaints.into_iter().for_each(|complaint| self.dx.push(complaint));
                (nodes, true)
            }
            "jsonl" => (self.lines(path, place, at), true),
            "json" | "yaml" | "yml" => {
                let tree = self.tree(path, place, at);
                let nodes = tree.map(|tree| match tree.kind {
                    quintain_source::NodeKind::Seq(items) => items,
                    quintain_source::NodeKind::Null => Vec::new(),
                    _ => vec![tree],
                });
                (nodes.unwrap_or_default(), suffix == "json")
            }
            _ if language_of(suffix.split(':').next().unwrap_or_default()).is_some() => {
                self.generated(at);
                (Vec::new(), false)
            }
            _ => {
                let why = "tests are read from `.yaml`, `.json`, `.jsonl` and `.csv` files";
                self.unreadable(at, why);
                (Vec::new(), false)
            }
        }
    }

    fn generator(&mut self, node: &Node) {
        self.generated(node.get("path").map_or(node.span, |path| path.span));
    }

    fn generated(&mut self, at: Span) {
        let title = "tests made by a script are not supported";
        self.dx.push(
            Diagnostic::error("config::test-generator", title)
                .at(at, "")
                .help("let the script write a `.jsonl` file, and name that file here"),
        );
    }
}
