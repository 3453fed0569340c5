//! Whether what was retrieved covers the expected answer.

use quintain_content::registry::Meta;
use quintain_judge::template::{Prompt, Values};

use super::judging::case::{Case, numbered};
use super::judging::verdicts::{Verdicts, YES_IS_GOOD};
use super::judging::{Judge, JudgeSettings, Judging, judged};
use super::{Measured, Metric, MetricInput, Options, Scorer};

pub(super) struct ContextualRecall;

static META: Meta = Meta {
    id: "contextual-recall",
    aliases: &["ContextualRecallMetric"],
    summary: "the retrieved context covers the expected output",
    docs: "\
# What it does
Splits the expected output into sentences, and asks the judge whether each of them can be attributed to the retrieval
context. The score is the share of sentences that can.

# Why it matters
What was not retrieved, no answer can contain.

# What counts as proof
The opinion of the judge: `details.verdicts` lists every item with its verdict and reason.

# Options
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompt. Variables: contexts, sentences.

# When it does not apply
The case has no expected output, or no context. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: contextual-recall
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for ContextualRecall {
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
Judge whether each sentence of an expected answer can be attributed to the context.
yes: some part of the context states it, in whatever words.
no: no part does.

Context, one part per line:
{{contexts}}

Sentences of the expected answer, one per line:
{{sentences}}

Give one verdict for each sentence, in their order. The reason names the part and quotes it briefly.",
    },
];

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let case = Case::of(input);
    let (expected, contexts) = (case.expected()?, case.retrieval_context()?);
    let sentences = sentences(expected);
    let values = Values::new()
        .quoted("contexts", &numbered(&contexts))
        .quoted("sentences", &numbered(&sentences));
    let tallies = judge.verdicts("verdicts", &values, YES_IS_GOOD.all, sentences.len())?;
    let verdicts = Verdicts { words: YES_IS_GOOD, items: &sentences, tallies: &tallies };
    let value = verdicts.share().unwrap_or(0.0);
    let are_good = "sentences of the expected output are in the context";
    Ok(Measured::Score(verdicts.scored(judge.panel(), value, are_good)?))
}

/// The sentences of a text: they end with a mark and white space, or with their line.
fn sentences(text: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    for line in text.lines() {
        let mut start = 0;
        let mut letters = line.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let end = at + letter.len_utf8();
            let is_wide = matches!(letter, '。' | '！' | '？');
            let is_end = matches!(letter, '.' | '!' | '?')
                && letters.peek().is_some_and(|(_, next)| next.is_whitespace());
            if is_wide || is_end {
                sentences.push(line[start..end].trim().to_owned());
                start = end;
            }
        }
        sentences.push(line[start..].trim().to_owned());
    }
    sentences.retain(|sentence| sentence.chars().any(char::is_alphanumeric));
    if sentences.is_empty() {
        sentences.push(text.trim().to_owned());
    }
    sentences
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn expected_outputs_are_split_into_sentences() {
        assert_eq!(
            sentences("It is 2.5 m. Really! Yes?\n- one"),
            ["It is 2.5 m.", "Really!", "Yes?", "- one"]
        );
        assert_eq!(sentences("一。二"), ["一。", "二"]);
        assert_eq!(sentences(" ... "), ["..."]);
    }

    #[test]
    fn the_share_of_covered_sentences_counts() {
        let mut trace = exchange("q", "a");
        trace.expected.output = Some("One. Two.".into());
        trace.labels.insert("retrieval_context".into(), json!("one"));
        let verdicts = json!({"verdicts": [{"verdict": "yes"}, {"verdict": "no"}]});
        let score = judged_score(&compiled(META.id, &json!({})), &trace, &[verdicts]);
        assert_eq!((score.score, score.success), (Some(0.5), Some(true)));
    }
}
