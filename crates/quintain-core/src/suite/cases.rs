//! `tests`: a list of tests, files with tests, or both.

use std::path::{Path, PathBuf};

use quintain_script::Host;
use quintain_source::{Fields, Node, SourceFile, Span, read as read_source, wrong_type};
use serde_json::Value;

use super::Test;
use super::case::Role;
use super::files::{FileValue, language_of, split_function};
use super::loader::{Loader, Place, suffix_of};
use crate::code::{Code, Language};

impl Loader<'_> {
    /// All tests of a `tests` key, not yet laid over `defaultTest`.
    pub(super) fn tests(&mut self, node: &Node, place: &Place<'_>) -> Vec<Test> {
        if let Some(items) = node.as_seq() {
            let mut tests = Vec::with_capacity(items.len());
            for item in items {
                match item.as_str() {
                    Some(name) => tests.extend(self.test_files(name, item.span, false, place)),
                    None if item.get("path").is_some() => {
                        tests.extend(self.generator(item, place));
                    }
                    None => tests.extend(self.test(item, Role::Test, place, place.base_dir)),
                }
            }
            return tests;
        }
        match node.as_str() {
            Some(name) => self.test_files(name, node.span, true, place),
            None if node.get("path").is_some() => self.generator(node, place),
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
        let (path, _) = split_function(name);
        if language_of(&suffix_of(Path::new(path))).is_some() {
            return self.generated(name, None, at, place);
        }
        let paths = self.matching(name, place, at);
        let mut tests = Vec::new();
        for path in paths {
            let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
            let (nodes, numbered) = self.test_nodes(&path, at, place);
            for (index, node) in nodes.into_iter().enumerate() {
                let Some(mut test) = self.test(&node, Role::Test, place, &folder) else { continue };
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
            _ => {
                let why = "tests are read from `.yaml`, `.json`, `.jsonl` and `.csv` files";
                self.unreadable(at, why);
                (Vec::new(), false)
            }
        }
    }

    /// `{path: file://make.js, config: {...}}`
    fn generator(&mut self, node: &Node, place: &Place<'_>) -> Vec<Test> {
        let Some(mut fields) = Fields::of(node, "a file with tests", self.dx) else {
            return Vec::new();
        };
        let config = fields.get("config").map(Node::to_json);
        let path = fields.get("path");
        fields.finish(place.strictness, self.dx);
        let Some((name, at)) = path.and_then(|path| Some((path.as_str()?, path.span))) else {
            path.into_iter().for_each(|path| wrong_type("path", "a file", path, self.dx));
            return Vec::new();
        };
        let name = name.strip_prefix("file://").unwrap_or(name);
        let (path, _) = split_function(name);
        if language_of(&suffix_of(Path::new(path))).is_some() {
            return self.generated(name, config.as_ref(), at, place);
        }
        self.test_files(name, at, false, place)
    }

    /// The tests that a script returns.
    fn generated(
        &mut self,
        name: &str,
        config: Option<&Value>,
        at: Span,
        place: &Place<'_>,
    ) -> Vec<Test> {
        let made = FileValue::read(name, place.base_dir, self.files).and_then(|file| match file {
            FileValue::Code(code) => self.made(&code, config),
            FileValue::Data(_) => Err("it is no script".to_owned()),
        });
        let nodes = match made {
            Ok(made @ (Value::Array(_) | Value::Object(_))) => {
                // As a text of its own, what the script made can be pointed at.
                let text = format!("{made:#}");
                let id = self.sources.add(SourceFile::new(format!("tests of {name}.json"), text));
                read_source(self.sources, id, self.dx)
            }
            Ok(_) => {
                self.unreadable(at, "the script returned no list of tests");
                None
            }
            Err(why) => {
                // What follows is the interpreter's own trace.
                self.unreadable(at, why.lines().next().unwrap_or_default());
                None
            }
        };
        let Some(nodes) = nodes else { return Vec::new() };
        let nodes = nodes.as_seq().unwrap_or(std::slice::from_ref(&nodes));
        nodes.iter().filter_map(|node| self.test(node, Role::Test, place, place.base_dir)).collect()
    }

    fn made(&self, code: &Code, config: Option<&Value>) -> Result<Value, String> {
        if code.language() == Language::JavaScript {
            let host = Host { env: self.env.clone(), ..Host::default() };
            let config: Vec<_> = config.map(|config| ("config", config)).into_iter().collect();
            return code.run_js(&config, &host);
        }
        let config: Vec<_> = config.cloned().into_iter().collect();
        self.files.run(code, "generate_tests", &config, self.env)
    }
}
