//! Reads one entry of `tests`, of a scenario, or `defaultTest`, and merges them.

use std::path::Path;
use std::sync::Arc;

use quintain_source::{Diagnostic, Fields, Node, wrong_type};
use serde_json::{Map, Value};

use super::Test;
use super::loader::{Loader, SuiteFolder};
use super::mention::{self, Kind};

/// A test must have at least one of these keys.
pub(super) const SUBSTANCE: [&str; 7] =
    ["assert", "vars", "options", "metadata", "provider", "providerOutput", "threshold"];

/// Where a test is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Test,
    /// `defaultTest`, or `config` of a scenario: part of a test.
    Part(&'static str),
}

impl Loader<'_> {
    /// Reads one test. `test_dir` is the folder of the file with the test.
    pub(super) fn test(
        &mut self,
        node: &Node,
        role: Role,
        place: &SuiteFolder<'_>,
        test_dir: &Path,
    ) -> Option<Test> {
        let what = match role {
            Role::Test => "a test",
            Role::Part(what) => what,
        };
        let mut fields = Fields::of(node, what, self.dx)?;
        let vars = fields.get("vars").map(|node| self.vars(node, place, test_dir));
        let asserts = fields.get("assert").map(|node| self.assert_list(node, place));
        let options = fields.get("options").map(|node| self.test_options(node, place));
        let threshold = fields.get("threshold").and_then(|node| {
            let number = node.as_f64();
            if number.is_none() {
                wrong_type("threshold", "a number", node, self.dx);
            }
            number
        });
        let only_targets =
            fields.one_of(&["providers", "targets"], quintain_source::Severity::Error, self.dx);
        let only_targets = only_targets
            .and_then(|(name, _)| self.mentioned(&mut fields, name, Kind::Target, place));
        let only_prompts = self.mentioned(&mut fields, "prompts", Kind::Prompt, place);
        let test = Test {
            description: fields.string("description", self.dx),
            vars: vars.unwrap_or_default(),
            asserts: asserts.unwrap_or_default(),
            threshold,
            scoring: self.code(&mut fields, "assertScoringFunction", place),
            metadata: fields.map("metadata", self.dx).map(Node::to_json_map).unwrap_or_default(),
            options: options.unwrap_or_default(),
            only_targets,
            only_prompts,
            provider: fields.get("provider").map(Node::to_json).filter(|one| !one.is_null()),
            // Empty text is none, as in promptfoo.
            provider_output: fields
                .get("providerOutput")
                .map(Node::to_json)
                .filter(|output| output.as_str() != Some("")),
            files: std::mem::take(&mut self.var_files),
            span: node.span,
        };
        fields.finish(place.strictness, self.dx);
        let says = |name: &&str| node.get(name).is_some_and(|node| !node.is_null());
        if role == Role::Test && !SUBSTANCE.iter().any(says) {
            self.dx.push(
                Diagnostic::error("config::empty-test", "this test is empty")
                    .at(node.span, "")
                    .help("add `vars` or `assert`"),
            );
        }
        Some(test)
    }

    fn mentioned(
        &mut self,
        fields: &mut Fields<'_>,
        key: &'static str,
        kind: Kind,
        place: &SuiteFolder<'_>,
    ) -> Option<Vec<String>> {
        mention::read(fields, key, kind, place.strictness, &mut self.mentions, self.dx)
    }

    fn assert_list(&mut self, node: &Node, place: &SuiteFolder<'_>) -> Vec<Arc<super::Assert>> {
        let reader = super::AssertReader {
            base_dir: place.base_dir,
            files: self.files,
            strictness: place.strictness,
            is_literal: self.is_literal,
        };
        let mut asserts: Vec<_> = reader.list(node, self.dx).into_iter().map(Arc::new).collect();
        // Collecting in place keeps the larger allocation of the list before it.
        asserts.shrink_to_fit();
        asserts
    }
}

impl Test {
    /// Merges this test over `base`: its values win, and the assertions of `base` come first.
    pub(super) fn over(mut self, base: &Self) -> Self {
        for (name, file) in &base.files {
            self.files.entry(name.clone()).or_insert_with(|| file.clone());
        }
        let inherited = if self.options.disables_default_asserts() { &[] } else { &*base.asserts };
        let asserts = if inherited.is_empty() {
            self.asserts
        } else {
            inherited.iter().cloned().chain(self.asserts).collect()
        };
        let options = self.options.over(&base.options);
        let asserts = asserts
            .into_iter()
            .map(|assert| assert.with_options(&options).map_or(assert, Arc::new));
        Self {
            description: self.description,
            vars: merged(&base.vars, self.vars),
            asserts: asserts.collect(),
            threshold: self.threshold.or(base.threshold),
            scoring: self.scoring.or_else(|| base.scoring.clone()),
            metadata: merged(&base.metadata, self.metadata),
            options,
            only_targets: self.only_targets.or_else(|| base.only_targets.clone()),
            only_prompts: self.only_prompts.or_else(|| base.only_prompts.clone()),
            provider: self.provider.or_else(|| base.provider.clone()),
            provider_output: self.provider_output.or_else(|| base.provider_output.clone()),
            files: self.files,
            span: self.span,
        }
    }

    /// Merges the `defaultTest`s of several files: values of later files win, assertions are concatenated.
    pub(super) fn joined(mut self, earlier: &Self) -> Self {
        let own = std::mem::take(&mut self.asserts);
        self.description = self.description.or_else(|| earlier.description.clone());
        let mut joined = self.over(earlier);
        joined.asserts = earlier.asserts.iter().cloned().chain(own).collect();
        joined
    }
}

fn merged(base: &Map<String, Value>, own: Map<String, Value>) -> Map<String, Value> {
    if base.is_empty() {
        return own;
    }
    let mut merged = base.clone();
    merged.extend(own);
    merged
}
