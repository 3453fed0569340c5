//! Criteria in words.

use quintain_content::registry::Meta;
use quintain_judge::template::Prompt;

use super::judging::criteria::{self, Criteria};
use super::judging::params::Param;
use super::judging::{JudgeSettings, judged};
use super::{Metric, Options, Scorer};

pub(super) struct GEval;

static META: Meta = Meta {
    id: "g-eval",
    aliases: &["GEval", "GEvalMetric"],
    summary: "the case satisfies criteria in words",
    docs: "\
# What it does
The judge turns the criteria into steps, and grades the case by them with a number from 0 to 10, or in the ranges of
the rubric. The score is that number, scaled to 0 to 1. In strict mode the judge decides between 0 and 1. Without
`evaluationParams` it sees the whole conversation.

# Why it matters
Most of what matters to an application is written nowhere but in its criteria.

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
  - type: g-eval
    name: Correctness
    criteria: The actual output agrees with the expected output
    evaluationParams: [actual_output, expected_output]
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for GEval {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        criteria::PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, criteria::PROMPTS);
        let is_strict = options.flag("strictMode").unwrap_or(false);
        let criteria = Criteria::read(options, Param::Turns, is_strict)?;
        judged(META.id, settings, move |input, judge| criteria.measure(input, judge))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score, undecided};

    fn score(options: &Value, answers: &[Value]) -> Option<f64> {
        let score = judged_score(&compiled(META.id, options), &exchange("q", "a"), answers);
        assert_eq!(score.error, None);
        score.score
    }

    #[test]
    fn criteria_become_steps_and_steps_a_score() {
        let answers = [json!({"steps": ["look"]}), json!({"score": 7, "reason": "good"})];
        assert_eq!(score(&json!({"criteria": "It is good"}), &answers), Some(0.7));
        let steps =
            json!({"evaluationSteps": ["look"], "evaluationParams": ["input", "ACTUAL_OUTPUT"]});
        assert_eq!(score(&steps, &[json!({"score": "7"})]), Some(0.7));
        assert_eq!(score(&steps, &[json!({"score": 70})]), Some(1.0), "scores are clamped");
    }

    #[test]
    fn rubrics_scale_scores() {
        let rubric = json!([
            {"scoreRange": [5, 8], "expectedOutcome": "right"},
            {"score_range": [0, 4], "expected_outcome": "wrong"},
        ]);
        let options = json!({"evaluationSteps": ["look"], "rubric": rubric});
        assert_eq!(score(&options, &[json!({"score": 6})]), Some(0.75));
    }

    #[test]
    fn strict_mode_is_all_or_nothing() {
        let options = json!({"evaluationSteps": ["look"], "strictMode": true});
        assert_eq!(score(&options, &[json!({"score": 1})]), Some(1.0));
        assert_eq!(score(&options, &[json!({"score": 0.9})]), Some(0.0));
    }

    #[test]
    fn a_careful_judge_chooses_levels() {
        let options = json!({"evaluationSteps": ["look"], "judge": {"samples": 2, "levels": 5}});
        let answers = [json!({"level": "half"}), json!({"level": "half"})];
        assert_eq!(score(&options, &answers), Some(0.5));
        let rubric = json!([
            {"scoreRange": [0, 2], "expectedOutcome": "wrong"},
            {"scoreRange": [3, 6], "expectedOutcome": "fair"},
            {"scoreRange": [7, 10], "expectedOutcome": "right"},
        ]);
        let options =
            json!({"evaluationSteps": ["look"], "rubric": rubric, "judge": {"samples": 1}});
        assert_eq!(score(&options, &[json!({"level": "3-6"})]), Some(0.45));
    }

    #[test]
    fn mistakes_in_options_are_reported() {
        for (options, expected) in [
            (json!({}), "expected `criteria` or `evaluationSteps`"),
            (json!({"criteria": " "}), "`criteria` is empty"),
            (json!({"evaluationSteps": []}), "`evaluationSteps` is empty"),
            (json!({"criteria": "x", "evaluationParams": ["y"]}), "expected one of input"),
            (json!({"criteria": "x", "rubric": [{"scoreRange": [3, 11]}]}), "from 0 to 10"),
            (json!({"criteria": "x", "rubric": [{"scoreRange": [3, 3]}]}), "a single score"),
            (
                json!({"criteria": "x", "rubric": [{"scoreRange": [0, 5]}, {"scoreRange": [5, 9]}]}),
                "the ranges 0-5 and 5-9 overlap",
            ),
        ] {
            let errors = crate::metrics::compile(META.id, options.as_object().unwrap());
            let text = errors.err().expect("a mistake").to_string();
            assert!(text.contains(expected), "{text}");
        }
    }

    #[test]
    fn parts_that_are_missing_make_it_undefined() {
        let options = json!({"criteria": "x", "evaluationParams": ["expected_output"]});
        let score = undecided(&compiled(META.id, &options), &exchange("q", "a"));
        assert_eq!((score.success, score.error), (None, None));
    }
}
