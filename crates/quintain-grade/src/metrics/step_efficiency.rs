//! The share of calls that bring a task further.

use std::collections::BTreeSet;

use quintain_content::registry::Meta;
use quintain_evidence::graded::Level;
use quintain_judge::proof::combined;
use quintain_judge::template::{Prompt, Values};

use super::judging::transcript::{shown, turns};
use super::judging::{Judge, JudgeSettings, Judging, Scale, Stop, calls, grades, judged_or};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer, share};

pub(super) struct StepEfficiency;

static META: Meta = Meta {
    id: "step-efficiency",
    aliases: &["StepEfficiencyMetric"],
    summary: "calls are neither repeated, nor failed, nor useless",
    docs: "\
# What it does
Computes the share of calls that are not wasted. Wasted are calls that failed, that repeat an earlier call without need,
that are part of a loop, or whose result is used nowhere. If the case lists expected calls, more calls than those count as
wasted too.
With a judge, the judge grades whether fewer steps could have reached the goal, and sees the findings; a fault of severity
error that a check proves still limits the score. deepeval asks the judge for the task first; here it is the request.

# Why it matters
Every call costs time, tokens and load on a server.

# What counts as proof
`details.wasted` lists the positions of the calls, `details.judge` the opinion.

# Options
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompt. Variables: request, turns, facts.

# When it does not apply
No call is recorded, and there is no judge.

# Example
```yaml
metrics:
  - type: step-efficiency
    threshold: 0.7
```
",
    since: "0.2.0",
};

impl Metric for StepEfficiency {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn judge(&self) -> Option<&'static str> {
        Some("whether fewer steps could have reached the goal")
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        judged_or(META.id, settings, measure, judged)
    }
}

const PROMPTS: &[Prompt] = &[Prompt {
    id: "efficiency",
    text: "\
Judge how economically an application worked on a task. Every call and every message should bring it closer to the goal:
no needless call, no repetition, no detour, nothing that the user did not ask for. A call that failed for reasons that the
application could not know is not its fault. Whether the goal was reached does not matter.

Task:
{{request}}

What happened, one turn per line, with calls and their results:
{{turns}}

{{facts}}",
}];

const SCALE: Scale = Scale {
    question: "How economical were the steps?",
    worst: "most of them were needless",
    best: "none could be left out",
};

fn judged(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let turns = turns(input.view);
    let users = turns.iter().filter(|turn| turn.is_user).map(|turn| turn.text);
    let request = users.collect::<Vec<_>>().join("\n");
    if request.trim().is_empty() || turns.iter().all(|turn| turn.is_user) {
        return Err(Stop::undefined("the trace records no request with an answer"));
    }
    let findings = share::of_checks(input.findings, &WASTE, Level::Warning);
    let values = Values::new()
        .quoted("request", &request)
        .quoted("turns", &shown(&turns, true))
        .plain("facts", calls::facts(&findings, &WASTE, None));
    let grade = judge.grade("efficiency", &values, &SCALE)?;
    let (alone, wasted) = match measure(input) {
        Measured::Score(scored) => (Some(scored.value), scored.details.get("wasted").cloned()),
        _ => (None, None),
    };
    let is_proven = findings.iter().any(|finding| finding.severity == Level::Error);
    let value = combined(alone, grade.score, is_proven);
    let scored = grades::scored(value, &[("efficiency".to_owned(), &grade)])?;
    let scored = match wasted {
        Some(wasted) => scored.with("wasted", wasted),
        None => scored,
    };
    Ok(Measured::Score(scored.proven_by(findings)))
}

const WASTE: [&str; 4] = ["call", "result.unused", "resource.unused", "efficiency"];

fn measure(input: &MetricInput<'_>) -> Measured {
    let calls = &input.view.calls;
    let findings = share::of_checks(input.findings, &WASTE, Level::Warning);
    let mut wasted: BTreeSet<usize> = share::calls_of(&findings);
    let failed = calls.iter().filter(|call| call.failure().is_some());
    wasted.extend(failed.map(|call| call.position));
    let Some(useful) = share::spared(calls.iter().map(|call| call.position), &wasted) else {
        return Measured::undefined("no call is recorded");
    };
    let expected = input.view.trace.expected.calls.as_ref().map(Vec::len);
    let value =
        expected.map_or(useful, |expected| useful.min(expected as f64 / calls.len() as f64));
    let reason = match expected.filter(|expected| *expected < calls.len()) {
        Some(expected) => {
            format!("wasted calls: {}; expected calls: {expected} of {}", wasted.len(), calls.len())
        }
        None => format!("wasted calls: {} of {}", wasted.len(), calls.len()),
    };
    let scored = Scored::new(value, reason).with("wasted", wasted.into_iter().collect::<Vec<_>>());
    Measured::Score(scored.proven_by(findings))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{ExpectedCall, Role};
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{
        compiled, finding, judged_score, judged_score_with, measured_with, trace_with_tools,
    };

    fn value(measured: Measured) -> f64 {
        match measured {
            Measured::Score(scored) => scored.value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn repeated_calls_are_wasted_once() {
        let trace = trace_with_tools(&["a"], &["a", "a", "a", "a"]);
        let findings = [
            finding("call.redundant", Level::Warning, Some(1)),
            finding("call.loop", Level::Warning, Some(1)),
            finding("result.unused", Level::Info, Some(0)),
        ];
        let value = value(measured_with(&StepEfficiency, &trace, &findings));
        assert!((value - 0.75).abs() < 1e-9);
    }

    #[test]
    fn a_judge_grades_the_steps() {
        let mut trace = trace_with_tools(&["a"], &["a", "a"]);
        let metric = compiled(META.id, &json!({"model": "echo"}));
        trace.say(Role::Assistant, "done");
        let opinion = [json!({"score": 0.9, "reason": "short"})];
        assert_eq!(judged_score(&metric, &trace, &opinion).score, Some(0.9));
        let proof = [finding("call.loop", Level::Error, Some(1))];
        assert_eq!(judged_score_with(&metric, &trace, &proof, &opinion).score, Some(0.5));
    }

    #[test]
    fn more_calls_than_expected_are_wasted() {
        let mut trace = trace_with_tools(&["a"], &["a", "a"]);
        trace.expected.calls = Some(vec![ExpectedCall::default()]);
        let value = value(measured_with(&StepEfficiency, &trace, &[]));
        assert!((value - 0.5).abs() < 1e-9);
        let silent = trace_with_tools(&["a"], &[]);
        assert!(matches!(measured_with(&StepEfficiency, &silent, &[]), Measured::Undefined(_)));
    }
}
