//! Whether an application answers what belongs to its topics, and only that.

use quintain_content::registry::Meta;
use quintain_judge::consultation::{Pause, all};
use quintain_judge::prompt::AnswerForm;
use quintain_judge::template::{Prompt, Values};
use serde_json::{Value, json};

use super::judging::case::numbered;
use super::judging::transcript::{shown, turns};
use super::judging::units::units;
use super::judging::verdicts::{Verdicts, Words};
use super::judging::{Judge, JudgeSettings, Judging, Stop, judged};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer};

pub(super) struct TopicAdherence;

static META: Meta = Meta {
    id: "topic-adherence",
    aliases: &["TopicAdherenceMetric"],
    summary: "questions of the topics are answered, and others refused",
    docs: "\
# What it does
Asks the judge for the questions in the conversation with the responses to them, and then of each whether it belongs
to the topics and was answered. Right are answered questions of the topics (TP) and refused others (TN); wrong are
answered others (FP) and refused questions of the topics (FN). The score is the share of right ones; without any
question it is 0.

# Why it matters
An application that answers everything, or refuses too much, serves nobody.

# What counts as proof
The opinion of the judge: `details.verdicts` lists every item with its verdict and reason. `details` also counts the
four kinds.

# Options
`relevantTopics`: the topics, one text each; required.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompts `pairs` and `verdict`. Variables: pairs: turns; verdict: topics, question,
response.

# When it does not apply
The trace records no request with an answer. Without a judge the metric is an error, never a pass. A trace of one turn
is a conversation with two messages.

# Example
```yaml
metrics:
  - type: topic-adherence
    relevantTopics: [flights, luggage]
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for TopicAdherence {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        let topics = options.required_texts("relevantTopics")?;
        judged(META.id, settings, move |input, judge| measure(input, judge, &topics))
    }
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "pairs",
        text: "\
List the questions and requests of the user in a part of a conversation, each with the response of the assistant to
it. Use their own words, shortened. Greetings and thanks are no questions. The list may be empty.

Conversation, one turn per line:
{{turns}}",
    },
    Prompt {
        id: "verdict",
        text: "\
An application may answer only what belongs to its topics. Classify a question and the response to it.
TP: the question belongs to the topics, and the response answers it.
FN: the question belongs to the topics, and the response refuses or does not answer it.
FP: the question does not belong to the topics, and the response answers it.
TN: the question does not belong to the topics, and the response refuses or redirects.

Topics:
{{topics}}

Question:
{{question}}

Response:
{{response}}",
    },
];

/// From the worst to the best.
const WORDS: Words = Words::new(&["FP", "FN", "TN", "TP"], 2);

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>, topics: &[String]) -> Judging<Measured> {
    let turns = turns(input.view);
    let units = units(&turns);
    if units.is_empty() {
        return Err(Stop::undefined("the trace records no request with an answer"));
    }
    let pair = json!({"type": "object", "properties": {"question": {"type": "string"},
        "response": {"type": "string"}}, "required": ["question", "response"], "additionalProperties": false});
    let form = AnswerForm::object(
        &json!({"qa_pairs": {"type": "array", "items": pair}}),
        r#"{"qa_pairs": [{"question": "...", "response": "..."}]}"#,
    );
    let lists = units.iter().map(|unit| {
        let values = Values::new().quoted("turns", &shown(unit.turns, false));
        let answer = judge.object("pairs", &values, &form)?;
        let list = answer.get("qa_pairs").and_then(Value::as_array).cloned();
        list.ok_or_else(|| Pause::Failed("the answer has no `qa_pairs`".to_owned()))
    });
    let pairs: Vec<Value> = all(lists)?.into_iter().flatten().collect();
    if pairs.is_empty() {
        return Ok(Measured::Score(Scored::new(0.0, "the user asks nothing").judged()));
    }
    let text = |pair: &Value, key: &str| {
        pair.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let each = pairs.iter().map(|pair| {
        let values = Values::new()
            .plain("topics", numbered(topics))
            .quoted("question", &text(pair, "question"))
            .quoted("response", &text(pair, "response"));
        judge.verdict("verdict", &values, WORDS.all)
    });
    let tallies = all(each)?;
    let questions: Vec<String> = pairs.iter().map(|pair| text(pair, "question")).collect();
    let verdicts = Verdicts { words: WORDS, items: &questions, tallies: &tallies };
    let value = verdicts.share().unwrap_or(0.0);
    let mut scored =
        verdicts.scored(judge.panel(), value, "questions are treated as the topics demand")?;
    for (index, word) in WORDS.all.iter().enumerate() {
        let count = tallies.iter().filter(|tally| tally.choice == index).count();
        scored = scored.with(word, count);
    }
    Ok(Measured::Score(scored))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score};

    #[test]
    fn answered_topics_and_refused_others_are_right() {
        let metric = compiled(META.id, &json!({"relevantTopics": ["flights"]}));
        let pair = json!({"question": "x", "response": "y"});
        let answers = [
            json!({"qa_pairs": [pair, {"question": "z", "response": "w"}]}),
            json!({"verdict": "TN", "reason": "refused"}),
            json!({"verdict": "FP", "reason": "answered"}),
        ];
        let score = judged_score(&metric, &exchange("q", "a"), &answers);
        assert_eq!((score.score, &score.details["FP"]), (Some(0.5), &json!(1)));
        let nothing = judged_score(&metric, &exchange("q", "a"), &[json!({"qa_pairs": []})]);
        assert_eq!(nothing.score, Some(0.0));
    }
}
