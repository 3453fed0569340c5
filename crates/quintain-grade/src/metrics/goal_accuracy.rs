//! Whether an application reaches the goals of a conversation, and by a good plan.

use quintain_content::registry::Meta;
use quintain_judge::consultation::{all, both};
use quintain_judge::template::{Prompt, Values};

use super::judging::transcript::{shown, turns};
use super::judging::units::units;
use super::judging::{Grade, Judge, JudgeSettings, Judging, Scale, Stop, grades, judged};
use super::{Measured, Metric, MetricInput, Options, Scorer};

pub(super) struct GoalAccuracy;

static META: Meta = Meta {
    id: "goal-accuracy",
    aliases: &["GoalAccuracyMetric"],
    summary: "goals of the user are reached, with a plan that leads there",
    docs: "\
# What it does
Splits the conversation into goals: a request with everything up to the next one. The judge grades for each how far
the goal was reached, and how good the steps towards it were. The score is the mean of the mean grades of both.

# Why it matters
A goal that is reached by luck is missed the next time.

# What counts as proof
The opinion of the judge: `details.judge` lists every grade with its reason.

# Options
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `goal` and `plan`. Variables: goal: request, turns; plan: request, turns.

# When it does not apply
The trace records no request with an answer. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: goal-accuracy
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for GoalAccuracy {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        judged(META.id, settings, measure)
    }
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "goal",
        text: "\
Judge how far an application reached the goal of a user. Only what the user got counts, not how it was done.

Goal:
{{request}}

Steps, one turn per line, with calls and their results:
{{turns}}",
    },
    Prompt {
        id: "plan",
        text: "\
Judge the way in which an application tried to reach the goal of a user: were its steps complete, in a sensible order,
and each of them useful? Whether the goal was reached does not matter here. If it needed no plan, a direct answer is
the best way.

Goal:
{{request}}

Steps, one turn per line, with calls and their results:
{{turns}}",
    },
];

const GOAL: Scale =
    Scale { question: "How far is the goal reached?", worst: "not at all", best: "completely" };
const PLAN: Scale = Scale {
    question: "How good is the way?",
    worst: "aimless, or steps are missing",
    best: "complete, in a sensible order, without detours",
};

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let turns = turns(input.view);
    let units = units(&turns);
    if units.is_empty() {
        return Err(Stop::undefined("the trace records no request with an answer"));
    }
    let graded = |prompt: &str, scale: &Scale| {
        all(units.iter().map(|unit| {
            let values = Values::new()
                .quoted("request", &unit.request())
                .quoted("turns", &shown(unit.turns, true));
            judge.grade(prompt, &values, scale)
        }))
    };
    let (goals, plans) = both(graded("goal", &GOAL), graded("plan", &PLAN))?;
    let named = |what: &'static str, list: &'_ [Grade]| -> Vec<String> {
        (1..=list.len()).map(|number| format!("{what} {number}")).collect()
    };
    let names = named("goal", &goals).into_iter().chain(named("plan", &plans));
    let named: Vec<_> = names.zip(goals.iter().chain(&plans)).collect();
    let (goal, plan) =
        (grades::mean(&goals).unwrap_or_default(), grades::mean(&plans).unwrap_or_default());
    let scored = grades::scored(f64::midpoint(goal, plan), &named)?;
    Ok(Measured::Score(scored.with("goal", goal).with("plan", plan)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn goals_and_plans_count_the_same() {
        let answers = [json!({"score": 1, "reason": "there"}), json!({"score": 0.5})];
        let metric = compiled(META.id, &json!({}));
        let score = judged_score(&metric, &exchange("q", "a"), &answers);
        assert_eq!((score.score, &score.details["plan"]), (Some(0.75), &json!(0.5)));
        assert_eq!(score.reason.as_deref(), Some("goal 1: there"));
    }
}
