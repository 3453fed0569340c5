//! Whether an answer follows given instructions.

use quintain_content::registry::Meta;
use quintain_judge::template::{Prompt, Values};

use super::judging::case::{Case, numbered};
use super::judging::verdicts::{Verdicts, YES_IS_GOOD};
use super::judging::{Judge, JudgeSettings, Judging, judged};
use super::{Measured, Metric, MetricInput, Options, Scorer};

pub(super) struct PromptAlignment;

static META: Meta = Meta {
    id: "prompt-alignment",
    aliases: &["PromptAlignmentMetric"],
    summary: "the answer follows the instructions",
    docs: "\
# What it does
Asks the judge whether the answer follows each of the instructions. The score is the share of instructions that it
follows.

# Why it matters
Instructions that nobody checks are wishes.

# What counts as proof
The opinion of the judge: `details.verdicts` lists every item with its verdict and reason.

# Options
`promptInstructions`: the instructions, one text each; required.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompt. Variables: request, answer, instructions.

# When it does not apply
The trace records no request or no answer. Without a judge the metric is an error, never a pass. In a conversation,
the last request and the answer to it count.

# Example
```yaml
metrics:
  - type: prompt-alignment
    promptInstructions: [Reply in upper case, Name the source]
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for PromptAlignment {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        let instructions = options.required_texts("promptInstructions")?;
        judged(META.id, settings, move |input, judge| measure(input, judge, &instructions))
    }
}

const PROMPTS: &[Prompt] = &[Prompt {
    id: "verdicts",
    text: "\
Judge whether an answer follows each of several instructions.
yes: it follows the instruction completely, or the instruction does not apply to this request.
no: it does not.

Request:
{{request}}

Answer:
{{answer}}

Instructions, one per line:
{{instructions}}

Give one verdict for each instruction, in their order. For `no`, the reason quotes what breaks it.",
}];

fn measure(
    input: &MetricInput<'_>,
    judge: &Judge<'_>,
    instructions: &[String],
) -> Judging<Measured> {
    let case = Case::of(input);
    let (request, answer) = (case.request()?, case.answer()?);
    let values = Values::new()
        .quoted("request", request)
        .quoted("answer", answer)
        .plain("instructions", numbered(instructions));
    let tallies = judge.verdicts("verdicts", &values, YES_IS_GOOD.all, instructions.len())?;
    let verdicts = Verdicts { words: YES_IS_GOOD, items: instructions, tallies: &tallies };
    let value = verdicts.share().unwrap_or(1.0);
    Ok(Measured::Score(verdicts.scored(judge.panel(), value, "instructions are followed")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn the_share_of_followed_instructions_counts() {
        let metric = compiled(META.id, &json!({"promptInstructions": ["shout", "rhyme"]}));
        let verdicts = json!({"verdicts": [{"verdict": "no"}, {"verdict": "yes"}]});
        let score = judged_score(&metric, &exchange("q", "a"), &[verdicts]);
        assert_eq!(score.score, Some(0.5));
        assert!(crate::metrics::compile(META.id, &serde_json::Map::new()).is_err());
    }
}
