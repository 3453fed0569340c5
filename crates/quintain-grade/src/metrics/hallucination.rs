//! Whether an answer agrees with what is known to be true.

use quintain_content::registry::Meta;
use quintain_judge::template::{Prompt, Values};

use super::judging::case::{Case, numbered};
use super::judging::verdicts::{Verdicts, YES_IS_GOOD};
use super::judging::{Judge, JudgeSettings, Judging, judged};
use super::{Measured, Metric, MetricInput, Options, Scorer};

pub(super) struct Hallucination;

static META: Meta = Meta {
    id: "hallucination",
    aliases: &["HallucinationMetric"],
    summary: "the answer agrees with the context",
    docs: "\
# What it does
Asks the judge whether the answer agrees with each part of the context. The score is the share of parts that it does
not contradict: higher is better, as in deepeval since 4.x. The context is `context` of the case, else what the calls
of the trace returned.

# Why it matters
An invented fact looks like a known one.

# What counts as proof
The opinion of the judge: `details.verdicts` lists every item with its verdict and reason.

# Options
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompt. Variables: answer, contexts.

# When it does not apply
The trace records no answer, or there is no context. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: hallucination
    model: openai:chat:gpt-4.1-mini
    threshold: 1
```
",
    since: "0.3.0",
};

impl Metric for Hallucination {
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
Judge whether an answer agrees with each part of a context. Take the context for true, whatever you know.
yes: the answer agrees with the part, or the part is about something else.
no: the answer contradicts the part.
An answer that leaves details out does not contradict.

Answer:
{{answer}}

Parts of the context, one per line:
{{contexts}}

Give one verdict for each part, in their order. For `no`, the reason quotes both sides.",
    },
];

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let case = Case::of(input);
    let (answer, contexts) = (case.answer()?, case.context()?);
    let values = Values::new().quoted("answer", answer).quoted("contexts", &numbered(&contexts));
    let tallies = judge.verdicts("verdicts", &values, YES_IS_GOOD.all, contexts.len())?;
    let verdicts = Verdicts { words: YES_IS_GOOD, items: &contexts, tallies: &tallies };
    let value = verdicts.share().unwrap_or(1.0);
    Ok(Measured::Score(verdicts.scored(judge.panel(), value, "parts of the context agree")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn higher_is_better() {
        let mut trace = exchange("q", "a");
        trace.labels.insert("context".into(), json!(["one", "two"]));
        let verdicts = json!({"verdicts": [{"verdict": "yes"}, {"verdict": "No, it is 2."}]});
        let score = judged_score(&compiled(META.id, &json!({})), &trace, &[verdicts]);
        assert_eq!(score.score, Some(0.5));
    }
}
