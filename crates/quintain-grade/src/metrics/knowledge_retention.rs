//! Whether an application remembers what the user said.

use quintain_content::registry::Meta;
use quintain_judge::consultation::all;
use quintain_judge::template::{Prompt, Values};

use super::judging::case::numbered;
use super::judging::transcript::{shown, turns};
use super::judging::verdicts::{NO_IS_GOOD, Verdicts};
use super::judging::{Judge, JudgeSettings, Judging, Stop, judged};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer};

pub(super) struct KnowledgeRetention;

static META: Meta = Meta {
    id: "knowledge-retention",
    aliases: &["KnowledgeRetentionMetric"],
    summary: "answers do not forget what the user said before",
    docs: "\
# What it does
Asks the judge which facts the user gives in each message, and then of every answer after them whether it forgets or
contradicts one, or asks for it again. The score is the share of answers that do not. If the user gives no facts it is
1.

# Why it matters
Nobody likes to say everything twice.

# What counts as proof
The opinion of the judge: `details.verdicts` lists every item with its verdict and reason.

# Options
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `facts` and `verdict`. Variables: facts: turns, message; verdict: facts,
answer.

# When it does not apply
The trace records no request with an answer. Without a judge the metric is an error, never a pass. A trace of one turn
is a conversation with two messages.

# Example
```yaml
metrics:
  - type: knowledge-retention
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for KnowledgeRetention {
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
        id: "facts",
        text: "\
List the facts that a user gives in their last message of a conversation: names, numbers, wishes, conditions, each as
one short sentence. Also list corrections of earlier facts. Questions are no facts. The list may be empty.

Earlier turns, one per line:
{{turns}}

Last message of the user:
{{message}}",
    },
    Prompt {
        id: "verdict",
        text: "\
A user gave facts in a conversation. Judge whether an answer of the assistant forgets one of them: it contradicts a
fact, or asks for something that the user already said.
yes: it forgets something.
no: it does not. An answer need not mention facts, and may ask to confirm them.

Facts, one per line:
{{facts}}

Answer:
{{answer}}",
    },
];

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>) -> Judging<Measured> {
    let turns = turns(input.view);
    if !turns.iter().any(|turn| turn.is_user) || !turns.iter().any(|turn| !turn.is_user) {
        return Err(Stop::undefined("the trace records no request with an answer"));
    }
    let users = turns.iter().filter(|turn| turn.is_user);
    let lists = users.map(|turn| {
        let values = Values::new()
            .quoted("turns", &shown(&turns[..turn.index], false))
            .quoted("message", turn.text);
        judge.texts("facts", &values, "facts")
    });
    let mut lists = all(lists)?.into_iter();
    let mut known: Vec<String> = Vec::new();
    let mut asked = Vec::new();
    for turn in &turns {
        if turn.is_user {
            known.extend(lists.next().unwrap_or_default());
        } else if !known.is_empty() {
            let values =
                Values::new().quoted("facts", &numbered(&known)).quoted("answer", turn.text);
            asked.push((turn.text.to_owned(), judge.verdict("verdict", &values, NO_IS_GOOD.all)));
        }
    }
    if asked.is_empty() {
        let reason = "the user gave no facts before an answer";
        return Ok(Measured::Score(Scored::new(1.0, reason).judged()));
    }
    let (items, heard): (Vec<String>, Vec<_>) = asked.into_iter().unzip();
    let tallies = all(heard)?;
    let verdicts = Verdicts { words: NO_IS_GOOD, items: &items, tallies: &tallies };
    let value = verdicts.share().unwrap_or(1.0);
    Ok(Measured::Score(verdicts.scored(judge.panel(), value, "answers forget nothing")?))
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::Role;
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn answers_after_facts_are_judged() {
        let mut trace = exchange("I am Ada.", "Hello!");
        trace.say(Role::User, "Book it");
        trace.say(Role::Assistant, "What is your name?");
        let metric = compiled(META.id, &json!({}));
        let answers = [
            json!({"facts": ["The user is Ada"]}),
            json!({"facts": []}),
            json!({"verdict": "no"}),
            json!({"verdict": "yes", "reason": "asks for the name"}),
        ];
        assert_eq!(judged_score(&metric, &trace, &answers).score, Some(0.5));
        let nothing = [json!({"facts": []}), json!({"facts": []})];
        assert_eq!(judged_score(&metric, &trace, &nothing).score, Some(1.0));
    }
}
