//! Whether what was retrieved is about the request.

use quintain_content::registry::Meta;
use quintain_judge::consultation::all;
use quintain_judge::template::{Prompt, Values};

use super::judging::case::{Case, numbered};
use super::judging::verdicts::{Verdicts, YES_IS_GOOD};
use super::judging::{Judge, JudgeSettings, Judging, judged};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer};

pub(super) struct ContextualRelevancy;

static META: Meta = Meta {
    id: "contextual-relevancy",
    aliases: &["ContextualRelevancyMetric"],
    summary: "the retrieved context is about the request",
    docs: "\
# What it does
Asks the judge to list the statements of every part of the retrieval context, and then which of them are relevant to
the request. The score is the share of relevant statements. A context without statements scores 0.

# Why it matters
Useless context costs tokens and distracts the model.

# What counts as proof
The opinion of the judge: `details.verdicts` lists every item with its verdict and reason.

# Options
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `statements` and `verdicts`. Variables: statements: context; verdicts:
request, statements.

# When it does not apply
The case has no request, or no context. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: contextual-relevancy
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for ContextualRelevancy {
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
List the pieces of information in a part of a document, each as one short sentence. Leave out nothing that matters,
and add nothing. If it contains no information, the list is empty.

Part:
{{context}}",
    },
    Prompt {
        id: "verdicts",
        text: "\
A system retrieves documents to answer a request. Judge whether each statement of them is relevant to the request.
yes: somebody who answers the request could use it.
no: nobody could.

Request:
{{request}}

Statements, one per line:
{{statements}}

Give one verdict for each statement, in their order. For `no`, the reason says what the statement is about instead.",
    },
];

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let case = Case::of(input);
    let (request, contexts) = (case.request()?, case.retrieval_context()?);
    let lists = contexts.iter().map(|context| {
        judge.texts("statements", &Values::new().quoted("context", context), "statements")
    });
    let statements: Vec<String> = all(lists)?.into_iter().flatten().collect();
    if statements.is_empty() {
        let reason = "the context contains no information";
        return Ok(Measured::Score(Scored::new(0.0, reason).judged()));
    }
    let values =
        Values::new().quoted("request", request).quoted("statements", &numbered(&statements));
    let tallies = judge.verdicts("verdicts", &values, YES_IS_GOOD.all, statements.len())?;
    let verdicts = Verdicts { words: YES_IS_GOOD, items: &statements, tallies: &tallies };
    let value = verdicts.share().unwrap_or(0.0);
    let are_good = "statements of the context are relevant";
    Ok(Measured::Score(verdicts.scored(judge.panel(), value, are_good)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn statements_of_all_parts_count_the_same() {
        let mut trace = exchange("q", "a");
        trace.labels.insert("retrieval_context".into(), json!(["one", "two"]));
        let answers = [
            json!({"statements": ["x"]}),
            json!({"statements": ["y", "z"]}),
            json!({"verdicts": [{"verdict": "no"}, {"verdict": "yes"}, {"verdict": "yes"}]}),
        ];
        let metric = compiled(META.id, &json!({}));
        let score = judged_score(&metric, &trace, &answers).score.unwrap();
        assert!((score - 2.0 / 3.0).abs() < 1e-9);
        let nothing = [json!({"statements": []}), json!({"statements": []})];
        assert_eq!(judged_score(&metric, &trace, &nothing).score, Some(0.0));
    }
}
