//! The steps of a case reached a goal.

use quintain_content::registry::Meta;
use quintain_content::text::fence;
use quintain_evidence::inquiry::Next;
use quintain_evidence::verdict::Verdict;
use serde_json::{Value, json};

use super::super::trace_spans::trace;
use super::judge::{Graded, Judge, NextStep, asking};
use super::opinion::Opinion;
use super::replies::Replies;
use super::rubric::{self, Rubric};
use crate::check::{Builtin, Expected, Scene};
use crate::promptfoo_spans::{SpanFailure, SpanTrace};

const RUBRIC: Rubric = Rubric(include_str!("rubrics/trajectory-goal-success.txt"));

/// Steps that the judge sees of a long case: the first and the last ones.
const SHOWN: usize = 24;

pub(in super::super) static GOAL_SUCCESS: Builtin = Builtin {
    meta: &Meta {
        id: "trajectory:goal-success",
        aliases: &[],
        summary: "A model judges that the steps of a case reached a goal",
        docs: r"# What it does
Shows a model the steps of the case (see `trajectory:step-count`) and the output, and asks whether they
reached the goal in `value` (text, or a map with `goal`). The answer is read as for `llm-rubric`, `threshold`
included. `not-` passes with score 1 if the goal was not reached. For a case without an MCP server the
result is an error.

`provider` names the judge, `rubricPrompt` replaces the question (variables `goal`, `trajectory`, `output`
and those of the test); see `llm-rubric`.

# What counts as proof
The reply of the judge, which is stored. If it cannot answer, the result is an error, never a pass, even
with `not-`.

# Example
```yaml
- type: trajectory:goal-success
  value: the order is cancelled and the customer is notified
```
",
        since: "0.1.0",
    },
    compile: |spec| {
        let goal = spec.expect(|value| {
            let goal = value.and_then(|value| value.get("goal").unwrap_or(value).as_str());
            let goal = goal.map(str::trim).filter(|goal| !goal.is_empty());
            goal.map(str::to_owned).ok_or_else(|| {
                "trajectory:goal-success assertion must have a string value or an object with a \
                 goal property"
                    .to_owned()
            })
        });
        asking(GoalSuccess { judge: Judge::read(spec), goal })
    },
};

struct GoalSuccess {
    judge: Judge,
    goal: Expected<String>,
}

impl GoalSuccess {
    fn prompt(&self, scene: &Scene<'_>, goal: &str) -> Result<String, Box<Verdict>> {
        let steps = summary(&trace(scene, &self.judge.kind)?);
        let output = scene.text();
        match self.judge.rubric_prompt(scene.test, scene.templates)? {
            Some(own) => {
                let vars = [
                    ("goal", goal.into()),
                    ("trajectory", steps.into()),
                    ("output", rubric::parsed(&output)),
                ];
                rubric::render(scene.templates, own, rubric::with(scene.vars, vars))
            }
            None => Ok(RUBRIC.fill(&[
                ("goal", goal),
                ("trajectory", &fence::quote(&steps)),
                ("output", &fence::quote(&output)),
            ])),
        }
    }
}

impl Graded for GoalSuccess {
    fn judge(&self) -> &Judge {
        &self.judge
    }

    fn step(&self, scene: &Scene<'_>, replies: &Replies<'_>) -> NextStep {
        let goal = self.goal.get(scene)?;
        if replies.is_empty() {
            return self.judge.ask_once(scene.test, self.prompt(scene, &goal)?);
        }
        let Opinion { pass, score, reason } =
            Opinion::read(&replies.object(0)?, self.judge.threshold);
        Ok(Next::Done(match (self.judge.negated, pass) {
            (false, _) => Verdict::new(pass, score, reason),
            (true, true) => Verdict::fail(format!("Agent unexpectedly achieved the goal: {goal}")),
            (true, false) => {
                Verdict::pass(format!("Agent did not achieve the forbidden goal: {goal}"))
            }
        }))
    }
}

/// The steps as JSON: repeated ones collapsed, the middle of a long list left out.
fn summary(trace: &SpanTrace<'_>) -> String {
    let mut steps: Vec<Value> = Vec::new();
    let mut count = 0;
    for (at, span) in trace.steps().enumerate() {
        count += 1;
        let label = span.label();
        let name = label.split_once(':').map_or(label.as_str(), |(_, name)| name);
        let mut step = json!({"index": at + 1, "type": span.kind(), "name": name});
        match &span.failure {
            None => {}
            Some(SpanFailure::Tool) => step["status"] = json!({"code": "error"}),
            Some(SpanFailure::NoResult(why)) => {
                step["status"] = json!({"code": "error", "message": why});
            }
        }
        let is_same = |earlier: &Value| {
            ["type", "name", "status"].iter().all(|key| earlier.get(key) == step.get(key))
        };
        match steps.last_mut() {
            Some(last) if is_same(last) => {
                let times = last.get("collapsedCount").and_then(Value::as_u64).unwrap_or(1);
                last["collapsedCount"] = json!(times + 1);
            }
            _ => steps.push(step),
        }
    }
    let compacted = steps.len();
    if compacted > SHOWN {
        let omitted = json!({"omittedCount": compacted - SHOWN});
        steps.splice(SHOWN / 2..compacted - SHOWN / 2, [omitted]);
    }
    let summary = json!({"stepCount": count, "compactedStepCount": compacted, "steps": steps});
    serde_json::to_string_pretty(&summary).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::called;

    #[test]
    fn long_cases_are_summarised() {
        let mut stage = called("pay", json!({}));
        for _ in 0..2 {
            stage.evidence.exchanges.extend(called("pay", json!({})).evidence.exchanges);
        }
        for at in 0..40 {
            let more = called(&format!("t{at}"), json!({})).evidence.exchanges;
            stage.evidence.exchanges.extend(more);
        }
        let summary = stage.with(|scene| summary(&SpanTrace::of(scene).unwrap()));
        let summary: Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(
            (&summary["stepCount"], &summary["compactedStepCount"]),
            (&json!(44), &json!(42))
        );
        let steps = summary["steps"].as_array().unwrap();
        assert_eq!(
            steps[1],
            json!({"index": 2, "type": "tool", "name": "pay", "collapsedCount": 3})
        );
        assert_eq!(steps[12], json!({"omittedCount": 18}));
        assert_eq!(steps.len(), 25);
        assert_eq!(steps[24]["name"], "t39");
    }
}
