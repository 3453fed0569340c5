//! Whether a conversation gives the user what they came for.

use quintain_content::registry::Meta;
use quintain_judge::consultation::all;
use quintain_judge::template::{Prompt, Values};

use super::judging::transcript::{shown, turns};
use super::judging::verdicts::{Verdicts, YES_IS_GOOD};
use super::judging::{Judge, JudgeSettings, Judging, Stop, judged};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer};

pub(super) struct ConversationCompleteness;

static META: Meta = Meta {
    id: "conversation-completeness",
    aliases: &["ConversationCompletenessMetric"],
    summary: "every intention of the user is satisfied in the conversation",
    docs: "\
# What it does
Asks the judge what the user wants in the conversation, and then of each intention whether it is satisfied. The score
is the share of satisfied intentions. A user without intentions gives 1.

# Why it matters
An application can answer every message politely and still not help.

# What counts as proof
The opinion of the judge: `details.verdicts` lists every item with its verdict and reason.

# Options
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `intentions` and `verdict`. Variables: intentions: turns; verdict:
intention, turns.

# When it does not apply
The trace records no request with an answer. Without a judge the metric is an error, never a pass. A trace of one turn
is a conversation with two messages.

# Example
```yaml
metrics:
  - type: conversation-completeness
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for ConversationCompleteness {
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
        id: "intentions",
        text: "\
List what the user wants to achieve in a conversation, each intention once, as one sentence. Only what the user
expresses counts. The list may be empty.

Conversation, one turn per line:
{{turns}}",
    },
    Prompt {
        id: "verdict",
        text: "\
Judge whether an intention of the user is satisfied in a conversation.
yes: the user got what they wanted, as far as the application could give it.
no: they did not, or only a part of it.

Intention:
{{intention}}

Conversation, one turn per line, with calls:
{{turns}}",
    },
];

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let turns = turns(input.view);
    if !turns.iter().any(|turn| turn.is_user) || !turns.iter().any(|turn| !turn.is_user) {
        return Err(Stop::undefined("the trace records no request with an answer"));
    }
    let values = Values::new().quoted("turns", &shown(&turns, false));
    let intentions = judge.texts("intentions", &values, "intentions")?;
    if intentions.is_empty() {
        return Ok(Measured::Score(Scored::new(1.0, "the user wants nothing").judged()));
    }
    let values = Values::new().quoted("turns", &shown(&turns, true));
    let each = intentions.iter().map(|intention| {
        let values = values.clone().quoted("intention", intention);
        judge.verdict("verdict", &values, YES_IS_GOOD.all)
    });
    let tallies = all(each)?;
    let verdicts = Verdicts { words: YES_IS_GOOD, items: &intentions, tallies: &tallies };
    let value = verdicts.share().unwrap_or(1.0);
    Ok(Measured::Score(verdicts.scored(judge.panel(), value, "intentions are satisfied")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn every_intention_is_judged() {
        let metric = compiled(META.id, &json!({}));
        let trace = exchange("q", "a");
        let answers = [
            json!({"intentions": ["a", "b", "c", "d"]}),
            json!({"verdict": "yes"}),
            json!({"verdict": "no"}),
            json!({"verdict": "yes"}),
            json!({"verdict": "yes"}),
        ];
        assert_eq!(judged_score(&metric, &trace, &answers).score, Some(0.75));
        assert_eq!(judged_score(&metric, &trace, &[json!({"intentions": []})]).score, Some(1.0));
    }
}
