//! Whether an answer agrees with what was retrieved.

use quintain_content::registry::Meta;
use quintain_judge::consultation::both;
use quintain_judge::template::{Prompt, Values};

use super::judging::case::{Case, numbered};
use super::judging::verdicts::{ALL_BUT_NO, ONLY_YES, Verdicts};
use super::judging::{Judge, JudgeSettings, Judging, judged};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer};

pub(super) struct Faithfulness;

static META: Meta = Meta {
    id: "faithfulness",
    aliases: &["FaithfulnessMetric"],
    summary: "the claims of the answer agree with the retrieved context",
    docs: "\
# What it does
Asks the judge to list the claims of the answer, and then whether each of them agrees with the retrieval context. The
score is the share of claims that do not contradict it; `borderline` claims count as good unless
`penalizeAmbiguousClaims` is set. An answer without claims scores 1. The context is `retrieval_context` of the case,
else what the calls of the trace returned.

# Why it matters
An answer that contradicts its sources misleads users who trust them.

# What counts as proof
The opinion of the judge: `details.verdicts` lists every item with its verdict and reason.

# Options
`penalizeAmbiguousClaims`: count claims that the context does not decide as bad. `truthsExtractionLimit`: compare with this number of the most important facts of the context instead of all of it.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `truths`, `claims` and `verdicts`. Variables: truths: limit, context;
claims: answer; verdicts: context, claims.

# When it does not apply
The trace records no answer, or there is no context. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: faithfulness
    model: openai:chat:gpt-4.1-mini
    penalizeAmbiguousClaims: true
```
",
    since: "0.3.0",
};

impl Metric for Faithfulness {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        let is_strict = options.flag("penalizeAmbiguousClaims").unwrap_or(false);
        let limit = options.count("truthsExtractionLimit");
        judged(META.id, settings, move |input, judge| measure(input, judge, is_strict, limit))
    }
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "truths",
        text: "\
List the {{limit}} most important facts that a text states. Each is one sentence that can be understood alone. Add
nothing that the text does not state.

Text:
{{context}}",
    },
    Prompt {
        id: "claims",
        text: "\
List the claims of an answer: every statement of fact, each as one sentence that can be understood alone. Opinions,
questions, greetings and offers are no claims. Do not correct the claims.

Answer:
{{answer}}",
    },
    Prompt {
        id: "verdicts",
        text: "\
Judge whether each claim agrees with the context. Use the context alone, not what you know.
yes: the context supports the claim.
borderline: the context neither supports nor contradicts it.
no: the context contradicts it.

Context:
{{context}}

Claims, one per line:
{{claims}}

Give one verdict for each claim, in their order. For `no` and `borderline`, the reason says what the context states
instead.",
    },
];

fn measure(
    input: &MetricInput<'_>,
    judge: &Judge<'_>,
    is_strict: bool,
    limit: Option<usize>,
) -> Judging<Measured> {
    let case = Case::of(input);
    let (answer, context) = (case.answer()?, case.retrieval_context()?.join("\n\n"));
    let truths = match limit {
        None => Ok(context),
        Some(limit) => {
            let values =
                Values::new().plain("limit", limit.to_string()).quoted("context", &context);
            judge.texts("truths", &values, "truths").map(|truths| truths.join("\n"))
        }
    };
    let claims = judge.texts("claims", &Values::new().quoted("answer", answer), "claims");
    let (context, claims) = both(truths, claims)?;
    if claims.is_empty() {
        return Ok(Measured::Score(Scored::new(1.0, "the answer makes no claim").judged()));
    }
    let values = Values::new().quoted("context", &context).quoted("claims", &numbered(&claims));
    let words = if is_strict { ONLY_YES } else { ALL_BUT_NO };
    let tallies = judge.verdicts("verdicts", &values, words.all, claims.len())?;
    let verdicts = Verdicts { words, items: &claims, tallies: &tallies };
    let value = verdicts.share().unwrap_or(1.0);
    Ok(Measured::Score(verdicts.scored(judge.panel(), value, "claims agree with the context")?))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, CallOutcome, Role};
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score, undecided};

    #[test]
    fn ambiguous_claims_count_as_asked() {
        let mut trace = exchange("q", "a");
        trace.labels.insert("retrieval_context".into(), json!(["one", "two"]));
        let answers = [
            json!({"claims": ["x", "y", "z"]}),
            json!({"verdicts": [{"verdict": "yes"}, {"verdict": "borderline"}, {"verdict": "no"}]}),
        ];
        let lenient = judged_score(&compiled(META.id, &json!({})), &trace, &answers);
        assert!((lenient.score.unwrap() - 2.0 / 3.0).abs() < 1e-9);
        let strict = compiled(META.id, &json!({"penalize_ambiguous_claims": true}));
        assert!((judged_score(&strict, &trace, &answers).score.unwrap() - 1.0 / 3.0).abs() < 1e-9);
        let limited = compiled(META.id, &json!({"truthsExtractionLimit": 2}));
        let truths = json!({"truths": ["t"]});
        let answers = [truths, answers[0].clone(), answers[1].clone()];
        assert!(judged_score(&limited, &trace, &answers).score.is_some());
    }

    #[test]
    fn results_of_calls_are_a_context() {
        let mut trace = exchange("q", "a");
        assert_eq!(undecided(&compiled(META.id, &json!({})), &trace).error, None);
        let mut call = Call::tool("search", json!({}));
        call.outcome = CallOutcome::Result(json!({"content": [{"type": "text", "text": "7"}]}));
        trace.call(call);
        trace.say(Role::Assistant, "It is 7.");
        assert!(undecided(&compiled(META.id, &json!({})), &trace).error.is_some());
    }
}
