//! Whether every answer of a conversation is about what was said before it.

use quintain_content::registry::Meta;
use quintain_judge::consultation::all;
use quintain_judge::template::{Prompt, Values};

use super::judging::transcript::{shown, turns};
use super::judging::units::{Unit, units};
use super::judging::verdicts::{Verdicts, YES_IS_GOOD};
use super::judging::{Judge, JudgeSettings, Judging, Stop, judged};
use super::{Measured, Metric, MetricInput, Options, Scorer};

pub(super) struct TurnRelevancy;

static META: Meta = Meta {
    id: "turn-relevancy",
    aliases: &["TurnRelevancyMetric"],
    summary: "every answer of a conversation is about what was said before",
    docs: "\
# What it does
Asks the judge of every request in the conversation whether the answer to it is relevant, given the requests before
it. The score is the share of relevant answers.

# Why it matters
An answer can be right for another conversation.

# What counts as proof
The opinion of the judge: `details.verdicts` lists every item with its verdict and reason.

# Options
`windowSize`: how many requests the judge sees at once; 10 unless set.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompt. Variables: turns.

# When it does not apply
The trace records no request with an answer. Without a judge the metric is an error, never a pass. A trace of one turn
is a conversation with two messages.

# Example
```yaml
metrics:
  - type: turn-relevancy
    windowSize: 5
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for TurnRelevancy {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        let window = options.count("windowSize").unwrap_or(10);
        judged(META.id, settings, move |input, judge| measure(input, judge, window))
    }
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "verdict",
        text: "\
Judge whether the last answer of the assistant in a part of a conversation is relevant to what the user said before
it.
yes: it is about what the user wants, as the conversation shows it. A question back may be relevant.
no: it is about something else.

Conversation, one turn per line:
{{turns}}",
    },
];

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>, window: usize) -> Judging<Measured> {
    let turns = turns(input.view);
    let units = units(&turns);
    if units.is_empty() {
        return Err(Stop::undefined("the trace records no request with an answer"));
    }
    let first = |unit: usize| units[unit].turns.first().map_or(0, |turn| turn.index);
    let end = |unit: usize| units[unit].turns.last().map_or(0, |turn| turn.index + 1);
    let each = (0..units.len()).map(|last| {
        let from = first((last + 1).saturating_sub(window));
        let values = Values::new().quoted("turns", &shown(&turns[from..end(last)], false));
        judge.verdict("verdict", &values, YES_IS_GOOD.all)
    });
    let tallies = all(each)?;
    let requests: Vec<String> = units.iter().map(Unit::request).collect();
    let verdicts = Verdicts { words: YES_IS_GOOD, items: &requests, tallies: &tallies };
    let value = verdicts.share().unwrap_or(1.0);
    Ok(Measured::Score(verdicts.scored(judge.panel(), value, "answers are relevant")?))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::Role;
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn every_request_is_judged_in_its_window() {
        let mut trace = exchange("q", "a");
        trace.say(Role::User, "q2");
        trace.say(Role::Assistant, "a2");
        let metric = compiled(META.id, &json!({"windowSize": 1}));
        let answers = [json!({"verdict": "yes"}), json!({"verdict": "no"})];
        assert_eq!(judged_score(&metric, &trace, &answers).score, Some(0.5));
    }
}
