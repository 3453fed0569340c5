//! Whether an answer is about the request.

use quintain_content::registry::Meta;
use quintain_judge::template::{Prompt, Values};

use super::judging::case::{Case, numbered};
use super::judging::verdicts::{ALL_BUT_NO, Verdicts};
use super::judging::{Judge, JudgeSettings, Judging, judged};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer};

pub(super) struct AnswerRelevancy;

static META: Meta = Meta {
    id: "answer-relevancy",
    aliases: &["AnswerRelevancyMetric"],
    summary: "the statements of the answer are about the request",
    docs: "\
# What it does
Asks the judge to split the answer into statements, and then whether each of them is relevant to the request. The
score is the share of statements that are not irrelevant; `borderline` counts as relevant, as in deepeval. An answer
without statements scores 1.

# Why it matters
Answers that wander hide that a question was not answered.

# What counts as proof
The opinion of the judge: `details.verdicts` lists every item with its verdict and reason.

# Options
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `statements` and `verdicts`. Variables: statements: answer; verdicts:
request, statements.

# When it does not apply
The trace records no request or no answer. Without a judge the metric is an error, never a pass. In a conversation,
the last request and the answer to it count.

# Example
```yaml
metrics:
  - type: answer-relevancy
    model: openai:chat:gpt-4.1-mini
    threshold: 0.7
```
",
    since: "0.3.0",
};

impl Metric for AnswerRelevancy {
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
        id: "statements",
        text: "\
Split an answer into its statements: everything that it says, each as one short sentence that can be understood alone.
Leave nothing out and add nothing. A greeting or a polite phrase is a statement, too.

Answer:
{{answer}}",
    },
    Prompt {
        id: "verdicts",
        text: "\
Judge whether each statement of an answer is relevant to the request.
yes: it helps to answer the request.
borderline: it does not answer the request, but supports or explains what does.
no: it has nothing to do with the request.

Request:
{{request}}

Statements, one per line:
{{statements}}

Give one verdict for each statement, in their order. For `no`, the reason names what is irrelevant.",
    },
];

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let case = Case::of(input);
    let (request, answer) = (case.request()?, case.answer()?);
    let statements =
        judge.texts("statements", &Values::new().quoted("answer", answer), "statements")?;
    if statements.is_empty() {
        return Ok(Measured::Score(Scored::new(1.0, "the answer makes no statement").judged()));
    }
    let values =
        Values::new().quoted("request", request).quoted("statements", &numbered(&statements));
    let tallies = judge.verdicts("verdicts", &values, ALL_BUT_NO.all, statements.len())?;
    let verdicts = Verdicts { words: ALL_BUT_NO, items: &statements, tallies: &tallies };
    let value = verdicts.share().unwrap_or(1.0);
    Ok(Measured::Score(verdicts.scored(judge.panel(), value, "statements are relevant")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score, undecided};

    #[test]
    fn the_share_of_relevant_statements_counts() {
        let metric = compiled(META.id, &json!({}));
        let trace = exchange("What is 1 + 1?", "Two. I like cats. Twice one.");
        let answers = [
            json!({"statements": ["Two", "I like cats", "Twice one", " "]}),
            json!({"verdicts": [
                {"verdict": "yes"}, {"verdict": "no", "reason": "cats"}, {"verdict": "borderline"}
            ]}),
        ];
        let score = judged_score(&metric, &trace, &answers);
        assert!((score.score.unwrap() - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(score.reason.as_deref(), Some("2 of 3 statements are relevant: cats"));
        assert_eq!(score.details["verdicts"][1]["item"], "I like cats");
        let silent = judged_score(&metric, &trace, &[json!({"statements": []})]);
        assert_eq!(silent.score, Some(1.0));
    }

    #[test]
    fn without_a_judge_it_is_an_error() {
        let metric = compiled(META.id, &json!({}));
        let score = undecided(&metric, &exchange("q", "a"));
        assert!(score.error.is_some_and(|error| error.starts_with("needs a judge")));
        let silent = undecided(&metric, &exchange("q", " "));
        assert_eq!((silent.success, silent.error), (None, None), "nothing to judge");
    }
}
