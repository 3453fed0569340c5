//! Follows a graph with the answers of a judge, as far as they go.

use quintain_content::text::fence;
use quintain_judge::consultation::{Heard, Pause};
use quintain_judge::prompt::AnswerForm;
use quintain_judge::template::Values;
use serde_json::{Map, Value, json};

use super::graph::{Graph, Kind, Node, Then};
use crate::metrics::judging::params::{Param, shown_params};
use crate::metrics::judging::{Judge, Judging, Stop};
use crate::metrics::{Measured, MetricInput, Scored};

struct Run<'r, 't> {
    graph: &'r Graph,
    input: &'r MetricInput<'t>,
    judge: &'r Judge<'r>,
    arrived: Vec<usize>,
    /// What tasks and judgements produced.
    produced: Vec<Option<String>>,
    is_waiting: bool,
    path: Vec<Value>,
    reasons: Vec<String>,
    leaves: Vec<f64>,
}

pub(super) fn run(graph: &Graph, input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let count = graph.nodes.len();
    let mut run = Run {
        graph,
        input,
        judge,
        arrived: vec![0; count],
        produced: vec![None; count],
        is_waiting: false,
        path: Vec::new(),
        reasons: Vec::new(),
        leaves: Vec::new(),
    };
    for root in &graph.roots {
        run.visit(*root)?;
    }
    if run.is_waiting {
        return Err(Pause::Waiting.into());
    }
    let lowest = run.leaves.iter().copied().reduce(f64::min);
    let Some(value) = lowest else {
        return Err(Pause::Failed("no verdict of the graph was reached".to_owned()).into());
    };
    let scored = Scored::new(value, run.reasons.join("; ")).with("path", run.path);
    Ok(Measured::Score(scored.judged()))
}

impl Run<'_, '_> {
    fn visit(&mut self, index: usize) -> Judging<()> {
        self.arrived[index] += 1;
        if self.arrived[index] != self.graph.needed[index] {
            return Ok(());
        }
        let Node { kind, children, .. } = &self.graph.nodes[index];
        let heard = match kind {
            Kind::Task { instructions, label } => self.task(index, instructions, label),
            Kind::Judgement { criteria, words } => self.decide(index, criteria, words),
            Kind::Verdict { word, then } => return self.verdict(index, word, then),
        };
        match heard {
            Ok(produced) => self.produced[index] = Some(produced),
            Err(Stop::Pause(Pause::Waiting)) => {
                self.is_waiting = true;
                return Ok(());
            }
            Err(stop) => return Err(stop),
        }
        children.iter().try_for_each(|child| self.visit(*child))
    }

    /// What tasks before it produced, and the parts of the case that it names.
    fn material(&self, index: usize) -> Judging<String> {
        let Node { params, .. } = &self.graph.nodes[index];
        let mut parts: Vec<String> =
            self.graph.parents[index].iter().filter_map(|parent| self.output(*parent)).collect();
        if params.is_empty() && parts.is_empty() {
            parts.extend((0..self.graph.nodes.len()).filter_map(|node| self.output(node)));
        }
        let shown = if params.is_empty() && parts.is_empty() {
            shown_params(self.input, &[Param::Turns])?
        } else {
            shown_params(self.input, params)?
        };
        parts.push(shown);
        Ok(parts.join("\n\n"))
    }

    fn output(&self, node: usize) -> Option<String> {
        let Kind::Task { label, .. } = &self.graph.nodes[node].kind else { return None };
        let produced = self.produced[node].as_ref()?;
        Some(format!("{label}:\n{}", fence::quote(produced)))
    }

    fn task(&mut self, index: usize, instructions: &str, label: &str) -> Judging<String> {
        let values = Values::new()
            .plain("instructions", instructions)
            .plain("material", self.material(index)?);
        let form =
            AnswerForm::object(&json!({"output": {"type": "string"}}), r#"{"output": "..."}"#);
        let answer = self.judge.object("task", &values, &form)?;
        let output = match answer.get("output") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => return Err(Pause::Failed("the answer has no `output`".to_owned()).into()),
        };
        self.path.push(json!({"task": label, "output": output}));
        Ok(output)
    }

    fn decide(&mut self, index: usize, criteria: &str, words: &[String]) -> Judging<String> {
        let listed: Vec<&str> = words.iter().map(String::as_str).collect();
        let values = Values::new()
            .plain("criteria", criteria)
            .plain("answers", listed.join(" | "))
            .plain("material", self.material(index)?);
        let tally = self.judge.verdict("judgement", &values, &listed)?;
        if self.judge.panel().abstains(&tally) {
            let reason = format!("the opinions on `{criteria}` differ too much");
            return Err(Stop::Abstained { reason, details: Map::new() });
        }
        let word = listed.get(tally.choice).copied().unwrap_or_default();
        self.path.push(json!({"criteria": criteria, "verdict": word, "reason": tally.reason()}));
        self.reasons.push(match tally.reason() {
            "" => format!("{criteria} {word}"),
            reason => format!("{criteria} {word}: {reason}"),
        });
        Ok(word.to_owned())
    }

    fn verdict(&mut self, index: usize, word: &str, then: &Then) -> Judging<()> {
        let said = self.graph.parents[index].first().map(|judgement| &self.produced[*judgement]);
        // A verdict that follows from nothing holds always.
        let holds = said
            .is_none_or(|said| said.as_ref().is_some_and(|said| said.eq_ignore_ascii_case(word)));
        if !holds {
            return Ok(());
        }
        match then {
            Then::Score(score) => self.leaves.push(*score),
            Then::Node(child) => self.visit(*child)?,
            Then::Metric(metric) => match self.delegated(metric.scorer()) {
                Ok(Measured::Score(scored)) => {
                    self.reasons.push(scored.reason);
                    self.leaves.push(scored.value);
                }
                Ok(Measured::Undefined(why)) => return Err(Stop::Undefined(why)),
                Ok(Measured::Failed(why)) => return Err(Pause::Failed(why).into()),
                Ok(Measured::Abstained { reason, details }) => {
                    return Err(Stop::Abstained { reason, details });
                }
                Err(Pause::Waiting) => self.is_waiting = true,
                Err(pause) => return Err(pause.into()),
            },
        }
        Ok(())
    }

    fn delegated(&self, scorer: &dyn crate::metrics::Scorer) -> Heard<Measured> {
        self.judge.delegate(scorer, self.input)
    }
}
