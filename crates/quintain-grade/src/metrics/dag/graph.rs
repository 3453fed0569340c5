//! A graph as users write it: nodes inside of nodes, or nodes by id. Every mistake is reported.

use std::collections::{HashMap, HashSet};

use quintain_evidence::inquiry::MAX_ROUNDS;
use serde_json::{Map, Value};

use crate::metrics::judging::params::{self, Param};
use crate::metrics::judging::settings::JudgeSettings;
use crate::metrics::{CompiledMetric, Options, compile};

/// A graph without cycles.
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) roots: Vec<usize>,
    /// Arrivals that a node waits for.
    pub(super) needed: Vec<usize>,
    pub(super) parents: Vec<Vec<usize>>,
}

pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) params: Vec<Param>,
    pub(super) children: Vec<usize>,
}

pub(super) enum Kind {
    Task {
        instructions: String,
        label: String,
    },
    /// With the words of its verdicts, from the worst to the best.
    Judgement {
        criteria: String,
        words: Vec<String>,
    },
    Verdict {
        word: String,
        then: Then,
    },
}

/// What follows from an answer.
pub(super) enum Then {
    /// From 0 to 1.
    Score(f64),
    Node(usize),
    Metric(Box<CompiledMetric>),
}

impl Graph {
    pub(super) fn read(value: &Value, settings: &JudgeSettings) -> Result<Self, Vec<String>> {
        let mut reader = Reader::new(value, settings);
        let roots = reader.roots(value);
        if !reader.errors.is_empty() {
            return Err(reader.errors);
        }
        let nodes: Vec<Node> = reader.nodes.into_iter().flatten().collect();
        let parents = parents(&nodes);
        let needed = (0..nodes.len()).map(|node| arrivals(&nodes, &parents, node)).collect();
        let graph = Self { nodes, roots, needed, parents };
        let each = settings.panel().samples.saturating_sub(1).max(1);
        let rounds = graph.roots.iter().map(|root| graph.rounds(*root, each)).max().unwrap_or(0);
        if rounds >= MAX_ROUNDS {
            return Err(vec![format!(
                "the graph needs {rounds} questions one after the other; at most {} are possible",
                MAX_ROUNDS - 1
            )]);
        }
        Ok(graph)
    }

    /// Questions on the longest way down.
    fn rounds(&self, node: usize, each: usize) -> usize {
        let Node { kind, children, .. } = &self.nodes[node];
        let below = children.iter().map(|child| self.rounds(*child, each)).max().unwrap_or(0);
        match kind {
            Kind::Task { .. } => 1 + below,
            Kind::Judgement { .. } => each + below,
            Kind::Verdict { then: Then::Node(child), .. } => self.rounds(*child, each),
            Kind::Verdict { then: Then::Metric(_), .. } => 1 + each,
            Kind::Verdict { then: Then::Score(_), .. } => 0,
        }
    }
}

fn edges(node: &Node) -> impl Iterator<Item = usize> {
    let then = match &node.kind {
        Kind::Verdict { then: Then::Node(child), .. } => Some(*child),
        _ => None,
    };
    node.children.iter().copied().chain(then)
}

fn parents(nodes: &[Node]) -> Vec<Vec<usize>> {
    let mut parents = vec![Vec::new(); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        for child in edges(node) {
            parents[child].push(index);
        }
    }
    parents
}

/// Of the verdicts of one judgement only one is reached, so together they count as one parent.
fn arrivals(nodes: &[Node], parents: &[Vec<usize>], node: usize) -> usize {
    let mut judgements = HashSet::new();
    let mut count = 0;
    for parent in &parents[node] {
        match (&nodes[*parent].kind, parents[*parent].as_slice()) {
            (Kind::Verdict { .. }, [judgement]) => {
                count += usize::from(judgements.insert(*judgement));
            }
            _ => count += 1,
        }
    }
    count.max(1)
}

struct Reader<'v> {
    by_id: Option<&'v Map<String, Value>>,
    known: HashMap<&'v str, usize>,
    open: Vec<&'v str>,
    referenced: HashSet<&'v str>,
    nodes: Vec<Option<Node>>,
    errors: Vec<String>,
    settings: &'v JudgeSettings,
}

impl<'v> Reader<'v> {
    fn new(value: &'v Value, settings: &'v JudgeSettings) -> Self {
        Self {
            by_id: value.get("nodes").and_then(Value::as_object),
            known: HashMap::new(),
            open: Vec::new(),
            referenced: HashSet::new(),
            nodes: Vec::new(),
            errors: Vec::new(),
            settings,
        }
    }

    fn error(&mut self, text: impl Into<String>) {
        self.errors.push(text.into());
    }

    fn roots(&mut self, value: &'v Value) -> Vec<usize> {
        let Some(by_id) = self.by_id else {
            let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            if list.is_empty() {
                self.error("the graph has no nodes");
            }
            return list.iter().filter_map(|root| self.child(root)).collect();
        };
        let mut found: Vec<(&str, usize)> = Vec::new();
        for id in by_id.keys() {
            found.extend(self.reference(id).map(|index| (id.as_str(), index)));
        }
        let referenced = std::mem::take(&mut self.referenced);
        let roots: Vec<usize> = found
            .into_iter()
            .filter(|(id, _)| !referenced.contains(id))
            .map(|(_, index)| index)
            .collect();
        if roots.is_empty() && self.errors.is_empty() {
            self.error("the graph has no node to begin with");
        }
        roots
    }

    fn reference(&mut self, id: &'v str) -> Option<usize> {
        if let Some(index) = self.known.get(id) {
            return Some(*index);
        }
        if self.open.contains(&id) {
            self.error(format!("the graph has a cycle: `{id}` follows from itself"));
            return None;
        }
        let Some(value) = self.by_id.and_then(|nodes| nodes.get(id)) else {
            self.error(format!("there is no node `{id}`"));
            return None;
        };
        self.open.push(id);
        let index = self.node(value);
        self.open.pop();
        if let Some(index) = index {
            self.known.insert(id, index);
        }
        index
    }

    /// A node inside of another, or the id of one.
    fn child(&mut self, value: &'v Value) -> Option<usize> {
        match value.as_str().or_else(|| value.get("ref").and_then(Value::as_str)) {
            Some(id) => {
                self.referenced.insert(id);
                self.reference(id)
            }
            None => self.node(value),
        }
    }

    fn node(&mut self, value: &'v Value) -> Option<usize> {
        let written = text(value, &["type"]);
        let is_verdict = written.is_none() && value.get("verdict").is_some();
        let kind = match written.unwrap_or_default() {
            "task" | "TaskNode" => "task",
            "binary" | "BinaryJudgementNode" => "binary",
            "choice" | "NonBinaryJudgementNode" => "choice",
            "verdict" | "VerdictNode" => "verdict",
            _ if is_verdict => "verdict",
            other => {
                self.error(format!(
                    "unknown type `{other}` of a node; the types are task, binary, choice and verdict"
                ));
                return None;
            }
        };
        let params = self.params(value);
        let listed = value.get("children").and_then(Value::as_array);
        let children: Vec<usize> =
            listed.into_iter().flatten().filter_map(|child| self.child(child)).collect();
        let kind = match kind {
            "task" => self.task(value, &children),
            "verdict" => self.verdict(value),
            kind => self.judgement(value, &children, kind == "binary"),
        }?;
        self.nodes.push(Some(Node { kind, params, children }));
        Some(self.nodes.len() - 1)
    }

    fn params(&mut self, value: &Value) -> Vec<Param> {
        let keys = ["evaluationParams", "evaluation_params"];
        let given = keys.iter().find_map(|key| value.get(key)).filter(|given| !given.is_null());
        let Some(given) = given else { return Vec::new() };
        let none = Map::new();
        let mut options = Options::new(&none);
        let params = params::read(&mut options, "evaluationParams", given);
        self.errors.extend(options.mistakes());
        params.unwrap_or_default()
    }

    fn task(&mut self, value: &Value, children: &[usize]) -> Option<Kind> {
        let is_verdict = |child: &usize| {
            matches!(self.nodes[*child], Some(Node { kind: Kind::Verdict { .. }, .. }))
        };
        if children.iter().any(is_verdict) {
            self.error("a verdict follows from a judgement, not from a task");
        }
        let Some(instructions) = text(value, &["instructions"]) else {
            self.error("a task needs `instructions`");
            return None;
        };
        let label = text(value, &["outputLabel", "output_label", "label"]).unwrap_or("Result");
        Some(Kind::Task { instructions: instructions.to_owned(), label: label.to_owned() })
    }

    fn judgement(&mut self, value: &Value, children: &[usize], is_binary: bool) -> Option<Kind> {
        let Some(criteria) = text(value, &["criteria"]) else {
            self.error("a judgement needs `criteria`");
            return None;
        };
        let mut words: Vec<(f64, String)> = Vec::new();
        for child in children {
            let Some(Node { kind: Kind::Verdict { word, then }, .. }) = &self.nodes[*child] else {
                self.error(format!("`{criteria}`: the children of a judgement are verdicts"));
                return None;
            };
            // Words whose score is not fixed come between those of known scores.
            let rank = if let Then::Score(score) = then { *score } else { 0.5 };
            words.push((rank, word.clone()));
        }
        words.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut words: Vec<String> = words.into_iter().map(|(_, word)| word).collect();
        let distinct: HashSet<String> = words.iter().map(|word| word.to_lowercase()).collect();
        if distinct.len() < words.len() {
            self.error(format!("`{criteria}`: two verdicts are the same"));
        }
        if is_binary && distinct != HashSet::from(["true".to_owned(), "false".to_owned()]) {
            self.error(format!("`{criteria}`: a binary judgement has the verdicts true and false"));
        }
        if words.is_empty() {
            self.error(format!("`{criteria}`: a judgement needs verdicts"));
        }
        if is_binary {
            words = ["false", "true"].map(ToOwned::to_owned).to_vec();
        }
        Some(Kind::Judgement { criteria: criteria.to_owned(), words })
    }

    fn verdict(&mut self, value: &'v Value) -> Option<Kind> {
        let word = match value.get("verdict") {
            Some(Value::String(word)) if !word.trim().is_empty() => word.trim().to_owned(),
            Some(Value::Bool(word)) => word.to_string(),
            _ => {
                self.error("a verdict needs `verdict`: true, false, or a text");
                return None;
            }
        };
        let score = value.get("score").filter(|score| !score.is_null());
        let child = ["child", "then"].iter().find_map(|key| value.get(key));
        let then = match (score, child.filter(|child| !child.is_null())) {
            (Some(score), None) => {
                let Some(score) = score.as_f64().filter(|score| (0.0..=10.0).contains(score))
                else {
                    self.error(format!(
                        "verdict `{word}`: expected a score from 0 to 10, not {score}"
                    ));
                    return None;
                };
                Then::Score(score / 10.0)
            }
            (None, Some(child)) => self.then(&word, child)?,
            _ => {
                self.error(format!("verdict `{word}` needs either `score` or `child`"));
                return None;
            }
        };
        Some(Kind::Verdict { word, then })
    }

    fn then(&mut self, word: &str, child: &'v Value) -> Option<Then> {
        let kind = child.get("type").and_then(Value::as_str).unwrap_or_default();
        let is_node = child.is_string()
            || child.get("ref").is_some()
            || matches!(kind, "task" | "binary" | "choice" | "TaskNode")
            || kind.ends_with("JudgementNode");
        if is_node {
            return self.child(child).map(Then::Node);
        }
        // deepeval writes `geval` with its arguments, or `metric` with a class and `kwargs`.
        let mut options = child.as_object().cloned().unwrap_or_default();
        options.shift_remove("type");
        let name = match kind {
            "geval" => "g-eval".to_owned(),
            "metric" => {
                let class = options.shift_remove("metric_class");
                if let Some(Value::Object(kwargs)) = options.shift_remove("kwargs") {
                    options = kwargs;
                }
                class.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
            }
            other => other.to_owned(),
        };
        for ignored in ["async_mode", "verbose_mode", "top_logprobs", "flaky"] {
            options.shift_remove(ignored);
        }
        options.retain(|_, value| !value.is_null());
        if let Some(model) = self.settings.model() {
            options.entry("model").or_insert(model);
        }
        match compile(&name, &options) {
            Ok(metric) => Some(Then::Metric(Box::new(metric))),
            Err(errors) => {
                for error in errors.0 {
                    self.error(format!("verdict `{word}`: {error}"));
                }
                None
            }
        }
    }
}

fn text<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    let text = keys.iter().find_map(|key| value.get(key)?.as_str());
    text.filter(|text| !text.trim().is_empty())
}
