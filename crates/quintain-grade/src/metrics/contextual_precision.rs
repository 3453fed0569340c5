//! Whether the useful parts of what was retrieved come first.

use quintain_content::registry::Meta;
use quintain_judge::ballot::VoteTally;
use quintain_judge::template::{Prompt, Values};

use super::judging::case::{Case, numbered};
use super::judging::verdicts::{Verdicts, YES_IS_GOOD};
use super::judging::{Judge, JudgeSettings, Judging, judged};
use super::{Measured, Metric, MetricInput, Options, Scorer};

pub(super) struct ContextualPrecision;

static META: Meta = Meta {
    id: "contextual-precision",
    aliases: &["ContextualPrecisionMetric"],
    summary: "useful parts of the retrieved context come before useless ones",
    docs: "\
# What it does
Asks the judge whether each part of the retrieval context helps to arrive at the expected output. The score is the
mean precision at the positions of the useful parts, so useful parts at the front raise it. Without a useful part it
is 0.

# Why it matters
Models read the beginning of a long context best.

# What counts as proof
The opinion of the judge: `details.verdicts` lists every item with its verdict and reason.

# Options
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompt. Variables: request, expected, contexts.

# When it does not apply
The case has no request, no expected output, or no context. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: contextual-precision
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for ContextualPrecision {
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
        id: "verdicts",
        text: "\
A system retrieves parts of documents to answer a request. Judge whether each part helps to arrive at the expected
answer.
yes: it contains something that the expected answer needs.
no: it does not.

Request:
{{request}}

Expected answer:
{{expected}}

Parts in the order in which they were retrieved, one per line:
{{contexts}}

Give one verdict for each part, in their order. The reason quotes what is useful, or says what the part is about
instead.",
    },
];

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let case = Case::of(input);
    let (request, expected) = (case.request()?, case.expected()?);
    let contexts = case.retrieval_context()?;
    let values = Values::new()
        .quoted("request", request)
        .quoted("expected", expected)
        .quoted("contexts", &numbered(&contexts));
    let tallies = judge.verdicts("verdicts", &values, YES_IS_GOOD.all, contexts.len())?;
    let verdicts = Verdicts { words: YES_IS_GOOD, items: &contexts, tallies: &tallies };
    let value = mean_precision(&tallies);
    Ok(Measured::Score(verdicts.scored(judge.panel(), value, "parts of the context are useful")?))
}

/// The mean of the precision at each useful position.
fn mean_precision(tallies: &[VoteTally]) -> f64 {
    let (mut useful, mut sum) = (0.0, 0.0);
    for (index, _) in tallies.iter().enumerate().filter(|(_, tally)| YES_IS_GOOD.is_good(tally)) {
        useful += 1.0;
        sum += useful / (index + 1) as f64;
    }
    if useful > 0.0 { sum / useful } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn useful_parts_at_the_front_count_more() {
        let mut trace = exchange("q", "a");
        trace.expected.output = Some("e".into());
        trace.labels.insert("retrievalContext".into(), json!(["1", "2", "3"]));
        let value = |verdicts: [&str; 3]| {
            let list: Vec<_> = verdicts.iter().map(|verdict| json!({"verdict": verdict})).collect();
            let metric = compiled(META.id, &json!({}));
            judged_score(&metric, &trace, &[json!({"verdicts": list})]).score.unwrap()
        };
        assert!((value(["yes", "no", "no"]) - 1.0).abs() < 1e-9);
        assert!((value(["no", "yes", "yes"]) - f64::midpoint(0.5, 2.0 / 3.0)).abs() < 1e-9);
        assert!(value(["no", "no", "no"]).abs() < 1e-9);
    }
}
