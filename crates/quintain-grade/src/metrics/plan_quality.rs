//! Whether the plan of an application is good.

use quintain_content::registry::Meta;
use quintain_judge::template::{Prompt, Values};

use super::judging::case::numbered;
use super::judging::plan::{self, Planned};
use super::judging::{Judge, JudgeSettings, Judging, Scale, grades, judged};
use super::{Measured, Metric, MetricInput, Options, Scorer};

pub(super) struct PlanQuality;

static META: Meta = Meta {
    id: "plan-quality",
    aliases: &["PlanQualityMetric"],
    summary: "the plan of the application leads to the goal",
    docs: "\
# What it does
Takes the plan from the option `plan`, else asks the judge for the plan that the application writes before or while it
acts. Then the judge grades how complete, logical and economical the plan is for the task. Without a plan the metric
does not apply; deepeval scores that 1.

# Why it matters
A bad plan that is followed well is still a bad plan.

# What counts as proof
The opinion of the judge: `details.judge` lists every grade with its reason. `details.plan` has the plan.

# Options
`plan`: the steps of the plan, if the trace does not contain them.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `plan` and `quality`. Variables: plan: request, turns; quality: request,
plan.

# When it does not apply
The trace records no request, or no plan. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: plan-quality
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for PlanQuality {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        let given = options.texts("plan");
        judged(META.id, settings, move |input, judge| measure(input, judge, given.as_deref()))
    }
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "plan",
        text: "\
Find the plan of an application in what it said and did: steps that it announces before it takes them. List the steps
in their order and in its words. Steps that it took without announcing them are no plan; then the list is empty.

Task:
{{request}}

What happened, one turn per line, with calls:
{{turns}}",
    },
    Prompt {
        id: "quality",
        text: "\
Judge the plan of an application for a task: is it complete, are its steps in a logical order, and is none of them
needless? Whether it was followed does not matter.

Task:
{{request}}

Plan, one step per line:
{{plan}}",
    },
];

const SCALE: Scale = Scale {
    question: "How good is the plan for the task?",
    worst: "it does not lead to the goal",
    best: "complete, logical, and without needless steps",
};

fn measure(
    input: &MetricInput<'_>,
    judge: &Judge<'_>,
    given: Option<&[String]>,
) -> Judging<Measured> {
    let Planned { request, plan, .. } = plan::find(input, judge, given)?;
    let values = Values::new().quoted("request", &request).quoted("plan", &numbered(&plan));
    let grade = judge.grade("quality", &values, &SCALE)?;
    let scored = grades::scored(grade.score, &[("quality".to_owned(), &grade)])?;
    Ok(Measured::Score(scored.with("plan", plan)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn a_plan_is_found_and_graded() {
        let metric = compiled(META.id, &json!({}));
        let answers = [json!({"plan": ["search", "book"]}), json!({"score": 0.6})];
        let score = judged_score(&metric, &exchange("q", "a"), &answers);
        assert_eq!((score.score, &score.details["plan"]), (Some(0.6), &json!(["search", "book"])));
        let none = judged_score(&metric, &exchange("q", "a"), &[json!({"plan": []})]);
        assert_eq!((none.score, none.success, none.error), (None, None, None));
        let given = compiled(META.id, &json!({"plan": ["a"]}));
        assert_eq!(
            judged_score(&given, &exchange("q", "a"), &[json!({"score": 1})]).score,
            Some(1.0)
        );
    }
}
