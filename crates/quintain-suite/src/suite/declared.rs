//! Reads and merges everything that the documents of a suite declare beyond targets.

use std::sync::Arc;

use quintain_evidence::kept_file::KeptFile;
use quintain_source::{Node, NodeKind, Nunjucks, Span, Templates, wrong_type};
use serde_json::{Map, Value};

use super::case::Role;
use super::document::Document;
use super::loader::{Loader, SuiteFolder};
use super::{Files, Output, Prompt, PromptBody, Test, TestList, Tests};
use crate::check::{ModelTask, WrittenModel};

pub(super) const KEYS: [&str; 19] = [
    "$schema",
    "assertionTemplates",
    "commandLineOptions",
    "defaultTest",
    "derivedMetrics",
    "env",
    "evaluateOptions",
    "extensions",
    LITERAL,
    "metadata",
    "nunjucksFilters",
    "outputPath",
    "prompts",
    "scenarios",
    "sharing",
    "tags",
    "tests",
    "tracing",
    "writeLatestResults",
];

/// Whether the texts of tests are data.
pub(super) const LITERAL: &str = "literal";

/// The default prompt: the variable `prompt`, as MCP suites use it.
const DEFAULT_PROMPT: &str = "{{prompt}}";

/// Whether the tests of a document are data.
pub(super) fn is_literal(document: &Node, dx: &mut quintain_source::Diagnostics) -> bool {
    let Some(node) = document.get(LITERAL).filter(|node| !node.is_null()) else { return false };
    node.as_bool().unwrap_or_else(|| {
        wrong_type(LITERAL, "true or false", node, dx);
        true
    })
}

pub(super) fn read(
    documents: &mut [Document],
    loader: &mut Loader<'_>,
    disk: Arc<dyn Files>,
) -> Tests {
    let mut tests = Tests::default();
    let mut default: Option<Test> = None;
    let templates = Nunjucks::default();
    for document in documents.iter() {
        let place = document.place();
        let get = |name: &str| document.node.get(name).filter(|node| !node.is_null());
        if let Some(node) = get("defaultTest") {
            let test = loader.default_test(node, &place);
            default = match (test, default) {
                (Some(test), Some(earlier)) if node.as_map().is_some() => {
                    Some(test.joined(&earlier))
                }
                (test, earlier) => test.or(earlier),
            };
        }
        if let Some(node) = get("prompts") {
            let prompts = loader.prompts(node, &place);
            prompts.iter().for_each(|prompt| loader.check_template(prompt, &place, &templates));
            for prompt in &prompts {
                match &prompt.body {
                    PromptBody::Text(text) => loader.variables.used_in(text, prompt.span),
                    PromptBody::Call(_) => {}
                    PromptBody::Code(_) => loader.variables.any = true,
                }
            }
            tests.prompts.extend(prompts);
        }
        settings(document, &place, loader, &mut tests);
    }
    let default = under_all(default, &tests);
    tests.tests = list(documents, default, loader, disk);
    // Prompts without tests run once, without variables.
    let has_others = documents.iter().any(|document| document.node.get("scenarios").is_some())
        || loader.not_called.iter().any(|not_called| not_called.makes == "tests");
    if let (true, false, [prompt, ..]) = (tests.tests.is_empty(), has_others, &tests.prompts[..]) {
        tests.tests.push(Test { span: prompt.span, ..Test::default() });
    }
    if tests.prompts.is_empty() {
        let (label, body) = (DEFAULT_PROMPT.into(), PromptBody::Text(DEFAULT_PROMPT.into()));
        let (id, config, span) = (None, None, Span::default());
        tests.prompts.push(Prompt { label, id, body, config, span });
    }
    tests
}

fn settings(
    document: &Document,
    place: &SuiteFolder<'_>,
    loader: &mut Loader<'_>,
    tests: &mut Tests,
) {
    let entries = document.node.as_map().unwrap_or_default();
    for (key, node) in entries.iter().filter(|(_, node)| !node.is_null()) {
        let span = key.span;
        match key.text.as_str() {
            "derivedMetrics" => tests.derived_metrics.extend(loader.derived_metrics(node, place)),
            "evaluateOptions" => loader.evaluate_options(node, place, &mut tests.options),
            "outputPath" => tests.outputs.extend(loader.outputs("outputPath", node, place)),
            "tags" => tests.tags.extend(map("tags", node, loader)),
            "metadata" => tests.metadata.extend(map("metadata", node, loader)),
            "redteam" => {
                let node = loader.redteam(node, place);
                tests.redteam = Some(joined(tests.redteam.take(), &node));
                place.base_dir.clone_into(&mut tests.redteam_dir);
            }
            "nunjucksFilters" => tests.filters.extend(loader.filters(node, place)),
            "extensions" if node.as_seq().is_none_or(|items| !items.is_empty()) => {
                loader.no_effect(span, "`extensions`", "Quintain does not call hooks");
            }
            "sharing" if node.as_bool() != Some(false) => {
                loader.no_effect(span, "`sharing`", "results stay on this machine");
            }
            "tracing" if node.get("enabled").and_then(Node::as_bool) == Some(true) => {
                loader.no_effect(span, "`tracing`", "Quintain does not receive spans");
            }
            _ => {}
        }
    }
    // These override `evaluateOptions`, whatever the order of the keys.
    if let Some(node) = document.node.get("commandLineOptions").filter(|node| !node.is_null()) {
        loader.command_line_options(node, place, tests);
    }
}

/// The defaults of every test.
fn under_all(default: Option<Test>, tests: &Tests) -> Test {
    let mut default = default.unwrap_or_default();
    // Metadata of the suite apply to its tests, unless `defaultTest` has its own.
    if default.metadata.is_empty() {
        default.metadata.clone_from(&tests.metadata);
    }
    default
}

/// All tests: those of `tests` first, then those of scenarios.
fn list(
    documents: &mut [Document],
    default: Test,
    loader: &mut Loader<'_>,
    disk: Arc<dyn Files>,
) -> TestList {
    let env = loader.env.clone();
    let templates = match loader.consent {
        Some(_) if !loader.is_literal => Templates::new(env.clone()),
        _ => Templates::as_written(),
    };
    let mut tests = TestList::new(disk, templates, env, default, loader.is_literal);
    for document in documents.iter_mut() {
        // Moved out of the document, so that the memory of a long list is freed as soon as it is read.
        let node = document.node.take("tests").filter(|node| !node.is_null());
        if let Some(node) = node {
            loader.tests(node, &document.place(), &mut |entry| tests.push_entry(entry));
        }
    }
    let (mut index, mut combined) = (0, 0);
    for document in documents.iter() {
        let node = document.node.get("scenarios").filter(|node| !node.is_null());
        let Some(node) = node else { continue };
        for scenario in loader.scenarios(node, &document.place()) {
            if let Some(excess) = scenario.excess(combined) {
                loader.dx.push(excess);
                continue;
            }
            let product = scenario.product(&mut index);
            combined += product.len();
            product.into_iter().for_each(|test| tests.push(test));
        }
    }
    tests
}

impl Loader<'_> {
    /// One path or a list of paths, relative to the folder of the suite.
    pub(super) fn outputs(
        &mut self,
        name: &str,
        node: &Node,
        place: &SuiteFolder<'_>,
    ) -> Vec<Output> {
        let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
        let mut outputs = Vec::new();
        for item in items {
            match item.raw() {
                Some(path) => {
                    let file = KeptFile::new(place.base_dir, path);
                    outputs.push(Output { file, span: item.span });
                }
                None => wrong_type(name, "a path or a list of paths", item, self.dx),
            }
        }
        outputs
    }

    fn default_test(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Option<Test> {
        let role = Role::Part("`defaultTest`");
        let Some(name) = node.as_str() else {
            let test = self.test(node, role, place, place.base_dir)?;
            return Some(with_fallback_judge(test, node));
        };
        let Some(name) = name.strip_prefix("file://") else {
            wrong_type("defaultTest", "a map or a `file://` reference", node, self.dx);
            return None;
        };
        let path = place.path(name);
        let tree = self.tree(&path, place, node.span)?;
        let test = self.test(&tree, role, place, path.parent().unwrap_or(place.base_dir))?;
        Some(with_fallback_judge(test, &tree))
    }
}

/// `options.provider` of `defaultTest`, or else its `provider`, judges if no assertion and no options of a test name a model. A map is the
/// target as well, unless it names a model for each task; an id only judges, as in promptfoo.
fn with_fallback_judge(mut test: Test, node: &Node) -> Test {
    let own = test.options.judge.take();
    test.options.fallback_judge = own.or_else(|| node.get("provider").and_then(WrittenModel::of));
    test.provider =
        test.provider.filter(|provider| !provider.is_string() && !ModelTask::are_keys_of(provider));
    test
}

fn map(name: &str, node: &Node, loader: &mut Loader<'_>) -> Map<String, Value> {
    if node.as_map().is_none() {
        wrong_type(name, "a map", node, loader.dx);
    }
    node.to_json_map()
}

/// Merges the `redteam` maps of several files: lists of plugins and strategies are concatenated, other keys
/// replace earlier ones.
fn joined(earlier: Option<Node>, node: &Node) -> Node {
    let Some(mut earlier) = earlier else { return node.clone() };
    let (NodeKind::Map(old), NodeKind::Map(new)) = (&mut earlier.kind, &node.kind) else {
        return node.clone();
    };
    for (key, value) in new {
        match old.iter_mut().find(|(existing, _)| existing.text == key.text) {
            None => old.push((key.clone(), value.clone())),
            Some((_, existing)) => match (&mut existing.kind, &value.kind) {
                (NodeKind::Seq(items), NodeKind::Seq(more)) if key.text != "purpose" => {
                    items.extend(more.iter().cloned());
                }
                _ => *existing = value.clone(),
            },
        }
    }
    earlier
}
