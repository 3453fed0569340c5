//! Criteria in words, for a whole conversation.

use quintain_content::registry::Meta;
use quintain_judge::template::Prompt;

use super::judging::criteria::{self, Criteria};
use super::judging::params::Param;
use super::judging::{JudgeSettings, judged};
use super::{Metric, Options, Scorer};

pub(super) struct ConversationalGEval;

static META: Meta = Meta {
    id: "conversational-g-eval",
    aliases: &["ConversationalGEval", "ConversationalGEvalMetric"],
    summary: "the conversation satisfies criteria in words",
    docs: "\
# What it does
As `g-eval`, but the judge always sees the whole conversation with its calls, besides the parts of `evaluationParams`.
The score is a number from 0 to 10, or in the ranges of the rubric, scaled to 0 to 1.

# Why it matters
A conversation can fail although every answer in it is good.

# What counts as proof
The opinion of the judge: `details.steps` has the steps, `details.judge` the grade with its reason.

# Options
`criteria`: what is judged, in words. `evaluationSteps`: the steps, instead of steps that the judge writes.
`evaluationParams`: which parts of a case the judge sees: `input`, `actual_output`, `expected_output`, `context`,
`retrieval_context`, `tools_called`, `expected_tools`, `turns`, `scenario`, `expected_outcome` and so on. `rubric`:
what scores mean, `[{scoreRange: [0, 4], expectedOutcome: wrong}, ...]`.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `steps` and `score`. Variables: steps: criteria, parameters; score: steps,
criteria, case, rubric.

# When it does not apply
The case lacks one of the parts. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: conversational-g-eval
    name: Politeness
    criteria: The assistant stays polite
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for ConversationalGEval {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        criteria::PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, criteria::PROMPTS);
        let mut criteria = Criteria::read(options, Param::Turns, false)?;
        criteria.include(Param::Turns);
        judged(META.id, settings, move |input, judge| criteria.measure(input, judge))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn ten_of_ten_is_needed_in_strict_mode() {
        let trace = exchange("q", "a");
        let metric = compiled(META.id, &json!({"evaluationSteps": ["look"]}));
        assert_eq!(judged_score(&metric, &trace, &[json!({"score": 9})]).score, Some(0.9));
        let strict = compiled(META.id, &json!({"evaluationSteps": ["look"], "strictMode": true}));
        assert_eq!(judged_score(&strict, &trace, &[json!({"score": 9})]).score, Some(0.0));
        assert_eq!(judged_score(&strict, &trace, &[json!({"score": 10})]).score, Some(1.0));
    }
}
