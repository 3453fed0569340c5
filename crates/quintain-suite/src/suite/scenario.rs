//! `scenarios`: every set of data with every test.

use quintain_source::{Diagnostic, Fields, Node, Span, wrong_type};
use serde_json::Value;

use super::Test;
use super::case::Role;
use super::loader::{Loader, SuiteFolder};

/// A scenario whose tests are not combined with its data yet.
pub(super) struct Scenario {
    config: Vec<Test>,
    tests: Vec<Test>,
    span: Span,
}

/// Maximum number of tests that all scenarios of a suite make.
const MAX_TESTS: usize = 100_000;

impl Loader<'_> {
    pub(super) fn scenarios(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Vec<Scenario> {
        let items = node.as_seq().unwrap_or(std::slice::from_ref(node));
        let mut scenarios = Vec::new();
        for item in items {
            let Some(name) = item.as_str() else {
                scenarios.extend(self.scenario(item, place));
                continue;
            };
            let name = name.strip_prefix("file://").unwrap_or(name);
            for path in self.matching(name, place, item.span) {
                let Some(tree) = self.tree(&path, place, item.span) else { continue };
                let nodes = tree.as_seq().unwrap_or(std::slice::from_ref(&tree));
                scenarios.extend(nodes.iter().filter_map(|node| self.scenario(node, place)));
            }
        }
        scenarios
    }

    fn scenario(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Option<Scenario> {
        let mut fields = Fields::of(node, "a scenario", self.dx)?;
        fields.get("description");
        let config = fields.required("config", self.dx).map(|node| self.data(node, place));
        let mut tests = Vec::new();
        if let Some(node) = fields.get("tests") {
            self.tests(node.clone(), place, &mut |entry| tests.push(entry.test));
        }
        fields.finish(place.strictness, self.dx);
        if tests.is_empty() {
            tests.push(Test { span: node.span, ..Test::default() });
        }
        Some(Scenario { config: config?, tests, span: node.span })
    }

    fn data(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Vec<Test> {
        let role = Role::Part("`config` of a scenario");
        if let Some(name) = node.as_str() {
            let name = name.strip_prefix("file://").unwrap_or(name).to_owned();
            let mut data = Vec::new();
            for path in self.matching(&name, place, node.span) {
                let Some(tree) = self.tree(&path, place, node.span) else { continue };
                let nodes = tree.as_seq().unwrap_or(std::slice::from_ref(&tree)).iter();
                data.extend(nodes.filter_map(|node| self.test(node, role, place, place.base_dir)));
            }
            return data;
        }
        let Some(items) = node.as_seq() else {
            wrong_type("config", "a list", node, self.dx);
            return Vec::new();
        };
        if items.is_empty() {
            let title = "a scenario without data has no tests";
            self.dx.push(Diagnostic::warning("config::empty-scenario", title).at(node.span, ""));
        }
        items.iter().filter_map(|item| self.test(item, role, place, place.base_dir)).collect()
    }
}

impl Scenario {
    /// Reports a scenario that would make too many tests, together with the `earlier` ones.
    pub(super) fn excess(&self, earlier: usize) -> Option<Diagnostic> {
        let (config, tests) = (self.config.len(), self.tests.len());
        let count = config.saturating_mul(tests).saturating_add(earlier);
        let title =
            format!("scenarios with {count} tests, but a suite can have at most {MAX_TESTS}");
        let label = format!("`config` has {config} entries and `tests` has {tests}");
        let diagnostic = Diagnostic::error("config::too-many-tests", title).at(self.span, label);
        (count > MAX_TESTS).then_some(diagnostic)
    }

    /// Combines every set of data with every test. Each set is a separate conversation.
    pub(super) fn product(&self, index: &mut usize) -> Vec<Test> {
        let mut tests = Vec::with_capacity(self.config.len() * self.tests.len());
        for data in &self.config {
            for test in &self.tests {
                let mut test = test.duplicate().over_data(data);
                let name = format!("__scenario_{index}__");
                let conversation = test.metadata.entry("conversationId");
                conversation.or_insert(Value::String(name));
                tests.push(test);
            }
            *index += 1;
        }
        tests
    }
}

impl Test {
    fn duplicate(&self) -> Self {
        Self {
            description: self.description.clone(),
            vars: self.vars.clone(),
            asserts: self.asserts.clone(),
            threshold: self.threshold,
            scoring: self.scoring.clone(),
            metadata: self.metadata.clone(),
            options: self.options.clone(),
            only_targets: self.only_targets.clone(),
            only_prompts: self.only_prompts.clone(),
            provider: self.provider.clone(),
            provider_output: self.provider_output.clone(),
            files: self.files.clone(),
            span: self.span,
        }
    }

    /// The assertions of the data always count; only those of `defaultTest` can be disabled.
    fn over_data(self, data: &Self) -> Self {
        self.joined(data)
    }
}
