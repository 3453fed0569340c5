//! How much each assertion contributes to the named scores, and what models were paid in tokens.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::result::{CaseResult, Component, Grade};

/// The weight behind each named score of a case: what the score is a mean over.
pub fn named_weights(case: &CaseResult) -> BTreeMap<String, f64> {
    let Some(grade) = &case.grade else { return BTreeMap::new() };
    let mut inner: BTreeMap<usize, BTreeMap<String, f64>> = BTreeMap::new();
    for component in &grade.components {
        if let Some(set) = component.set {
            contribute(inner.entry(set).or_default(), component, &case.vars, None);
        }
    }
    let mut weights = BTreeMap::new();
    for (at, component) in grade.components.iter().enumerate() {
        if component.set.is_none() {
            contribute(&mut weights, component, &case.vars, inner.get(&at));
        }
    }
    weights
}

fn contribute(
    weights: &mut BTreeMap<String, f64>,
    component: &Component,
    vars: &Map<String, Value>,
    inner: Option<&BTreeMap<String, f64>>,
) {
    let weight = component.assertion.get("weight").and_then(Value::as_f64).unwrap_or(1.0);
    let metric = metric_name(component, vars);
    if let Some(metric) = &metric {
        *weights.entry(metric.clone()).or_default() += weight;
    }
    // What a set brings comes from its members; a script names its scores itself.
    let (parts, named) = (inner.into_iter().flatten(), &component.verdict.named_scores);
    let parts = parts.map(|(name, part)| (name, *part));
    let named = named.keys().filter(|_| inner.is_none()).map(|name| (name, 1.0));
    for (name, part) in parts.chain(named).filter(|(name, _)| Some(*name) != metric.as_ref()) {
        *weights.entry(name.clone()).or_default() += part * weight;
    }
}

/// How many assertions stand behind each named score. Sets do not count, parts of a script do.
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

/// How many verdicts of a grade passed or did not, with the parts that scripts reported.
pub fn flattened_count(grade: &Grade, passed: bool) -> usize {
    let verdicts = grade.components.iter().map(|component| &component.verdict);
    let all = verdicts.flat_map(|verdict| std::iter::once(verdict).chain(&verdict.components));
    all.filter(|verdict| verdict.passed() == passed).count()
}

/// Names are templates; they rarely hold more than a variable, which is filled in here.
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

/// What models charged, as far as targets said it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    pub total: u64,
    pub prompt: u64,
    pub completion: u64,
    pub cached: u64,
    pub requests: u64,
}

impl Tokens {
    /// Adds one answer; without a word about tokens it is one request.
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
