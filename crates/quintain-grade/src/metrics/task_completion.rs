//! Whether an application did what it was asked to do.

use quintain_content::registry::Meta;
use quintain_judge::template::{Prompt, Values};

use super::judging::transcript::{shown, turns};
use super::judging::{Judge, JudgeSettings, Judging, Scale, Stop, calls, grades, judged};
use super::{Measured, Metric, MetricInput, Options, Scorer};

pub(super) struct TaskCompletion;

static META: Meta = Meta {
    id: "task-completion",
    aliases: &["TaskCompletionMetric"],
    summary: "the task of the user is completed",
    docs: "\
# What it does
Asks the judge how far the outcome of the trace completes the task: what the application said, and what its calls
returned. The task is the option `task`, else what the user asked for. deepeval asks the judge for task and outcome
first; here both are taken from the trace as they are.

# Why it matters
Everything else is a means to this end.

# What counts as proof
The opinion of the judge: `details.judge` lists every grade with its reason.

# Options
`task`: the task in words, if the request does not say it.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompt. Variables: task, turns, facts.

# When it does not apply
The trace records no request or no answer. Without a judge the metric is an error, never a pass; `mcp-task-completion`
looks for signs of failure without one.

# Example
```yaml
metrics:
  - type: task-completion
    model: openai:chat:gpt-4.1-mini
    threshold: 0.7
```
",
    since: "0.3.0",
};

impl Metric for TaskCompletion {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        let task = options.text("task").map(ToOwned::to_owned);
        judged(META.id, settings, move |input, judge| measure(input, judge, task.as_deref()))
    }
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "completion",
        text: "\
Judge how far an application completed a task. Compare the task with the outcome: what it said and what its calls
returned. Judge the outcome, not the effort. A promise is not an outcome, and a claim that the results contradict is
none either.

Task:
{{task}}

What happened, one turn per line, with calls and their results:
{{turns}}

{{facts}}",
    },
];

const SCALE: Scale = Scale {
    question: "How far does the outcome complete the task?",
    worst: "not at all",
    best: "completely and correctly",
};

/// Checks whose findings speak against a completed task.
const SIGNS: [&str; 3] = ["recovery", "claim", "result.error"];

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>, task: Option<&str>) -> Judging<Measured> {
    let turns = turns(input.view);
    if !turns.iter().any(|turn| !turn.is_user) {
        return Err(Stop::undefined("the trace records no answer"));
    }
    let users = turns.iter().filter(|turn| turn.is_user).map(|turn| turn.text);
    let request = users.collect::<Vec<_>>().join("\n");
    let task = task.unwrap_or(&request);
    if task.trim().is_empty() {
        return Err(Stop::undefined("the trace records no request"));
    }
    let values = Values::new()
        .quoted("task", task)
        .quoted("turns", &shown(&turns, true))
        .plain("facts", calls::facts(input.findings, &SIGNS, None));
    let grade = judge.grade("completion", &values, &SCALE)?;
    let named = [("completion".to_owned(), &grade)];
    Ok(Measured::Score(grades::scored(grade.score, &named)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn the_grade_of_the_judge_counts() {
        let metric = compiled(META.id, &json!({"task": "be kind"}));
        let answer = json!({"score": 0.8, "reason": "nearly"});
        let score = judged_score(&metric, &exchange("q", "a"), &[answer]);
        assert_eq!((score.score, score.reason.as_deref()), (Some(0.8), Some("nearly")));
        let too_high = judged_score(&metric, &exchange("q", "a"), &[json!({"score": 7})]);
        assert_eq!(too_high.score, Some(1.0), "scores are clamped");
        let silent = judged_score(&metric, &exchange("q", "a"), &[json!({"reason": "?"})]);
        assert!(silent.error.is_some(), "no score is an error");
    }

    #[test]
    fn several_careful_opinions_are_counted() {
        let options = json!({"judge": {"samples": 3, "levels": 4, "abstain": true}});
        let metric = compiled(META.id, &options);
        let level = |name: &str| json!({"level": name, "reason": name});
        let same = [level("mostly"), level("mostly")];
        let score = judged_score(&metric, &exchange("q", "a"), &same);
        assert!((score.score.unwrap() - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(score.details["judge"][0]["agreement"], json!(1.0));
        let split = [level("fully"), level("not at all"), level("mostly")];
        let open = judged_score(&metric, &exchange("q", "a"), &split);
        assert_eq!((open.score, open.success, open.error), (None, None, None));
        assert!(open.reason.unwrap().starts_with("the judge abstains"));
    }
}
