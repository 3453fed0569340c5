//! `options` of a test, `evaluateOptions` and `commandLineOptions`.

use std::time::Duration;

use quintain_source::{Fields, Node, wrong_type};

use super::loader::{Loader, SuiteFolder};
use super::{EvaluateOptions, TestOptions, Tests};
use crate::check::{View, WrittenModel};
use crate::rubric_prompt;

/// Keys for questions to judges.
pub(super) const JUDGE_KEYS: [&str; 3] = ["rubricPrompt", "provider", "factuality"];
/// Options of a model that a test can change.
pub const MODEL_KEYS: &[&str] = &[
    "temperature",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "top_p",
    "top_k",
    "frequency_penalty",
    "presence_penalty",
    "seed",
    "stop",
    "response_format",
    "tools",
    "tool_choice",
    "functions",
    "function_call",
    "reasoning_effort",
    "passthrough",
];
/// Keys of `evaluateOptions` that concern only promptfoo itself.
pub(super) const MACHINERY_KEYS: [&str; 8] = [
    "cache",
    "filterRange",
    "generateSuggestions",
    "interactiveProviders",
    "isRedteam",
    "showProgressBar",
    "silent",
    "suggestionsCount",
];
/// Keys of `commandLineOptions` that only the command line interprets.
pub(super) const COMMAND_KEYS: [&str; 40] = [
    "assertions",
    "cache",
    "config",
    "description",
    "envPath",
    "extension",
    "filterErrorsOnly",
    "filterFailing",
    "filterFailingOnly",
    "filterFirstN",
    "filterMetadata",
    "filterPattern",
    "filterPrompts",
    "filterProviders",
    "filterRange",
    "filterSample",
    "filterSampleSeed",
    "filterTargets",
    "generateSuggestions",
    "grader",
    "modelOutputs",
    "noShare",
    "progressBar",
    "promptPrefix",
    "promptSuffix",
    "prompts",
    "providers",
    "retryErrors",
    "share",
    "suggestionsCount",
    "table",
    "tableCellMaxLength",
    "tags",
    "tests",
    "var",
    "vars",
    "verbose",
    "watch",
    "write",
    "remote",
];

impl Loader<'_> {
    /// `options` of a test.
    pub(super) fn test_options(&mut self, node: &Node, place: &SuiteFolder<'_>) -> TestOptions {
        let Some(mut fields) = Fields::of(node, "`options` of a test", self.dx) else {
            return TestOptions::default();
        };
        let transform = self.code(&mut fields, "transform", place);
        let postprocess = self.code(&mut fields, "postprocess", place);
        let rubric_prompt = fields
            .get("rubricPrompt")
            .and_then(|node| rubric_prompt::read(node, place.base_dir, self.files, self.dx));
        let stored = fields.string("storeOutputAs", self.dx);
        stored.iter().for_each(|name| self.variables.set(name));
        let transform_vars = self.code(&mut fields, "transformVars", place);
        self.variables.any |= transform_vars.is_some();
        let options = TestOptions {
            transform: transform.or(postprocess),
            transform_vars,
            prefix: fields.string("prefix", self.dx),
            suffix: fields.string("suffix", self.dx),
            store_output_as: stored,
            run_serially: self.flag(&mut fields, "runSerially"),
            disable_var_expansion: self.flag(&mut fields, "disableVarExpansion"),
            disable_conversation_var: self.flag(&mut fields, "disableConversationVar"),
            repeat: self.count(&mut fields, "repeat"),
            view: fields.choice("view", &View::WORDS, self.dx),
            timeout: self.limit(&mut fields, "timeout"),
            judge: fields.get("provider").and_then(WrittenModel::of),
            fallback_judge: None,
            rubric_prompt,
            raw: node.to_json_map(),
        };
        self.flag(&mut fields, "disableDefaultAsserts");
        for name in JUDGE_KEYS.iter().chain(MODEL_KEYS) {
            fields.get(name);
        }
        fields.finish(place.strictness, self.dx);
        options
    }

    /// `evaluateOptions`; values of later files win.
    pub(super) fn evaluate_options(
        &mut self,
        node: &Node,
        place: &SuiteFolder<'_>,
        options: &mut EvaluateOptions,
    ) {
        let Some(mut fields) = Fields::of(node, "`evaluateOptions`", self.dx) else { return };
        self.pace(&mut fields, options);
        replace(&mut options.timeout, self.limit(&mut fields, "timeoutMs"));
        replace(&mut options.max_eval_time, self.limit(&mut fields, "maxEvalTimeMs"));
        let rate = fields.get("rate").and_then(|node| self.positive("rate", node));
        replace(&mut options.rate, rate);
        if let Some(fail) = fields.bool("failOnToolError", self.dx) {
            options.fail_on_tool_error = fail;
        }
        for name in MACHINERY_KEYS {
            fields.get(name);
        }
        fields.finish(place.strictness, self.dx);
    }

    /// `commandLineOptions`: defaults for the flags of the command line.
    pub(super) fn command_line_options(
        &mut self,
        node: &Node,
        place: &SuiteFolder<'_>,
        tests: &mut Tests,
    ) {
        let Some(mut fields) = Fields::of(node, "`commandLineOptions`", self.dx) else { return };
        self.pace(&mut fields, &mut tests.options);
        if let Some(node) = fields.get("output") {
            tests.outputs.extend(self.outputs("output", node, place));
        }
        for name in COMMAND_KEYS {
            fields.get(name);
        }
        fields.finish(place.strictness, self.dx);
        tests.command_line.extend(node.to_json_map());
    }

    fn pace(&mut self, fields: &mut Fields<'_>, options: &mut EvaluateOptions) {
        let concurrency = self.count(fields, "maxConcurrency").map(|count| count as usize);
        replace(&mut options.max_concurrency, concurrency);
        replace(&mut options.repeat, self.count(fields, "repeat"));
        replace(&mut options.delay, self.limit(fields, "delay"));
    }

    fn flag(&mut self, fields: &mut Fields<'_>, name: &'static str) -> bool {
        fields.bool(name, self.dx).unwrap_or(false)
    }

    fn count(&mut self, fields: &mut Fields<'_>, name: &'static str) -> Option<u32> {
        let node = fields.get(name)?;
        let count = node.as_u64().and_then(|count| u32::try_from(count).ok());
        let count = count.filter(|count| *count > 0);
        if count.is_none() {
            wrong_type(name, "a whole number above 0", node, self.dx);
        }
        count
    }

    /// A limit; 0 means no limit.
    fn limit(&mut self, fields: &mut Fields<'_>, name: &'static str) -> Option<Duration> {
        fields.millis(name, self.dx).filter(|limit| !limit.is_zero())
    }

    fn positive(&mut self, name: &str, node: &Node) -> Option<f64> {
        let value = node.as_f64().filter(|value| value.is_finite() && *value > 0.0);
        if value.is_none() {
            wrong_type(name, "a number above 0", node, self.dx);
        }
        value
    }
}

fn replace<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}

impl TestOptions {
    /// Merges these options over `base`.
    pub(super) fn over(mut self, base: &Self) -> Self {
        self.fallback_judge = self.fallback_judge.or_else(|| base.fallback_judge.clone());
        if base.raw.is_empty() {
            return self;
        }
        self.judge = self.judge.or_else(|| base.judge.clone());
        self.rubric_prompt = self.rubric_prompt.or_else(|| base.rubric_prompt.clone());
        let said = |names: &[&str]| names.iter().any(|name| self.raw.contains_key(*name));
        let [transform, vars, prefix, suffix, store, serially, expansion, conversation, repeat] = [
            said(&["transform", "postprocess"]),
            said(&["transformVars"]),
            said(&["prefix"]),
            said(&["suffix"]),
            said(&["storeOutputAs"]),
            said(&["runSerially"]),
            said(&["disableVarExpansion"]),
            said(&["disableConversationVar"]),
            said(&["repeat"]),
        ];
        inherit(&mut self.transform, transform, &base.transform);
        inherit(&mut self.transform_vars, vars, &base.transform_vars);
        inherit(&mut self.prefix, prefix, &base.prefix);
        inherit(&mut self.suffix, suffix, &base.suffix);
        inherit(&mut self.store_output_as, store, &base.store_output_as);
        inherit(&mut self.run_serially, serially, &base.run_serially);
        inherit(&mut self.disable_var_expansion, expansion, &base.disable_var_expansion);
        inherit(&mut self.disable_conversation_var, conversation, &base.disable_conversation_var);
        inherit(&mut self.repeat, repeat, &base.repeat);
        self.view = self.view.or(base.view);
        self.timeout = self.timeout.or(base.timeout);
        let own = std::mem::replace(&mut self.raw, base.raw.clone());
        self.raw.extend(own);
        self
    }

    pub(super) fn disables_default_asserts(&self) -> bool {
        self.raw.get("disableDefaultAsserts").and_then(serde_json::Value::as_bool) == Some(true)
    }
}

fn inherit<T: Clone>(own: &mut T, said: bool, base: &T) {
    if !said {
        own.clone_from(base);
    }
}
