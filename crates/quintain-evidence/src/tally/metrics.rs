//! How much each assertion contributes to the named scores, and the token usage of models.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::evidence::Evidence;
use crate::result::{CaseResult, Component, Grade};

/// Number of assertions behind each named score. Sets do not count, components that a script reports do.
pub fn named_counts(case: &CaseResult) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for component in case.grade.iter().flat_map(|grade| &grade.components) {
        if component.is_set() {
            continue;
        }
        if let Some(name) = metric_name(component, &case.vars) {
            *counts.entry(name).or_default() += 1 + component.verdict.components.len();
        }
    }
    counts
}

/// Number of verdicts in a grade that passed or failed, including the components that scripts reported.
pub fn flattened_count(grade: &Grade, passed: bool) -> usize {
    let verdicts = grade.components.iter().map(|component| &component.verdict);
    let all = verdicts.flat_map(|verdict| std::iter::once(verdict).chain(&verdict.components));
    all.filter(|verdict| verdict.passed() == passed).count()
}

/// Metric names are templates. They rarely contain more than a variable, so only variables are filled in.
fn metric_name(component: &Component, vars: &Map<String, Value>) -> Option<String> {
    let mut rest = component.assertion.get("metric")?.as_str()?;
    let mut name = String::with_capacity(rest.len());
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((inside, after)) = after.split_once("}}") else { break };
        name.push_str(before);
        match vars.get(inside.trim()) {
            Some(Value::String(text)) => name.push_str(text),
            Some(other) => name.push_str(&other.to_string()),
            None => {}
        }
        rest = after;
    }
    name.push_str(rest);
    (!name.is_empty()).then_some(name)
}

/// Token usage, as far as targets report it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    pub total: u64,
    pub prompt: u64,
    pub completion: u64,
    pub cached: u64,
    pub requests: u64,
}

impl Tokens {
    /// What the models used that answered questions about a case.
    pub fn of_models(evidence: &Evidence) -> Self {
        let mut tokens = Self::default();
        for record in evidence.answers.iter().filter(|record| record.question.is_for_model()) {
            tokens.add(record.cost.token_usage.as_ref());
        }
        tokens
    }

    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.total = self.total.saturating_add(other.total);
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.completion = self.completion.saturating_add(other.completion);
        self.cached = self.cached.saturating_add(other.cached);
        self.requests = self.requests.saturating_add(other.requests);
    }

    /// Adds one answer; without token usage it counts as one request.
    pub fn add(&mut self, usage: Option<&Value>) {
        let number = |key: &str| usage.and_then(|usage| usage.get(key)).and_then(Value::as_u64);
        let part = |key| number(key).unwrap_or_default();
        self.total = self.total.saturating_add(part("total"));
        self.prompt = self.prompt.saturating_add(part("prompt"));
        self.completion = self.completion.saturating_add(part("completion"));
        self.cached = self.cached.saturating_add(part("cached"));
        self.requests = self.requests.saturating_add(number("numRequests").unwrap_or(1));
    }
}
