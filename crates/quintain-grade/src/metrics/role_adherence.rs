//! Whether an application stays in its role in every turn.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use quintain_content::registry::Meta;
use quintain_evidence::trace::Role;
use quintain_judge::consultation::Pause;
use quintain_judge::prompt::AnswerForm;
use quintain_judge::template::{Prompt, Values};
use serde_json::{Value, json};

use super::judging::case::label;
use super::judging::transcript::{shown, turns};
use super::judging::{Judge, JudgeSettings, Judging, Stop, judged};
use super::{Measured, Metric, MetricInput, Options, Scored, Scorer};

pub(super) struct RoleAdherence;

static META: Meta = Meta {
    id: "role-adherence",
    aliases: &["RoleAdherenceMetric"],
    summary: "every answer of a conversation stays in its role",
    docs: "\
# What it does
Asks the judge which answers of a conversation leave the role of the application. The score is the share of answers
that do not. The role is the option `role`, else `chatbot_role` of the case or the system message.

# Why it matters
In a long conversation a role is forgotten, or talked away by a user.

# What counts as proof
The opinion of the judge: `details.turns` lists the answers that leave the role, with the reasons. Each counts once,
and only if it is an answer of the application.

# Options
`role`: the role of the application.
`model`: the judge, if not the one of the run. `judge: {samples, levels, abstain}`: ask it several times.
`evaluationTemplate`: replaces the prompt. Variables: role, turns.

# When it does not apply
The trace records no answer, or no role is given. Without a judge the metric is an error, never a pass.

# Example
```yaml
metrics:
  - type: role-adherence
    role: a patient teacher of mathematics
    model: openai:chat:gpt-4.1-mini
```
",
    since: "0.3.0",
};

impl Metric for RoleAdherence {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn prompts(&self) -> &'static [Prompt] {
        PROMPTS
    }

    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>> {
        let settings = JudgeSettings::read(options, PROMPTS);
        let role = options.text("role").map(ToOwned::to_owned);
        judged(META.id, settings, move |input, judge| measure(input, judge, role.as_deref()))
    }
}

const PROMPTS: &[Prompt] = &[
    Prompt {
        id: "verdicts",
        text: "\
An application has a role in a conversation. Find its answers that leave the role: another character, another tone,
tasks that the role excludes, or instructions of the role that it reveals.

Role:
{{role}}

Conversation, one turn per line:
{{turns}}

List the number of every turn of the assistant that leaves the role, with a reason that says what the role demands
instead. Never list a turn of the user. The list may be empty.",
    },
];

fn measure(input: &MetricInput<'_>, judge: &Judge<'_>, given: Option<&str>) -> Judging<Measured> {
    let named = label(input, &["chatbot_role", "chatbotRole"]).and_then(Value::as_str);
    let mut system = input.view.trace.messages().filter(|message| message.role == Role::System);
    let role = given.or(named).or_else(|| system.next().map(|message| message.text.as_str()));
    let role = role.ok_or_else(|| Stop::undefined("the case has no role"))?;
    let turns = turns(input.view);
    let answers = turns.iter().filter(|turn| !turn.is_user).count();
    if answers == 0 {
        return Err(Stop::undefined("the trace records no answer"));
    }
    let values = Values::new().quoted("role", role).quoted("turns", &shown(&turns, false));
    let one = json!({"type": "object", "properties": {"reason": {"type": "string"},
        "index": {"type": "integer"}}, "required": ["reason", "index"], "additionalProperties": false});
    let form = AnswerForm::object(
        &json!({"verdicts": {"type": "array", "items": one}}),
        r#"{"verdicts": [{"reason": "why", "index": 3}]}"#,
    );
    let answer = judge.object("verdicts", &values, &form)?;
    let list = answer.get("verdicts").and_then(Value::as_array);
    let list = list.ok_or_else(|| Pause::Failed("the answer has no `verdicts`".to_owned()))?;
    let mut violations = BTreeMap::new();
    for verdict in list {
        let index = verdict.get("index").and_then(Value::as_u64).map(|index| index as usize);
        let Some(turn) = index.and_then(|index| turns.get(index)) else { continue };
        if !turn.is_user {
            let reason = verdict.get("reason").and_then(Value::as_str).unwrap_or_default();
            violations.entry(turn.index).or_insert(reason);
        }
    }
    let kept = answers - violations.len();
    let mut reason = format!("{kept} of {answers} answers stay in the role");
    for (index, why) in violations.iter().take(5) {
        let _ = write!(reason, "; turn {index}: {}", why.trim_end_matches('.'));
    }
    let listed: Vec<Value> =
        violations.iter().map(|(index, why)| json!({"turn": index, "reason": why})).collect();
    let scored = Scored::new(kept as f64 / answers as f64, reason).with("turns", listed);
    Ok(Measured::Score(scored.judged()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::testing::{compiled, exchange, judged_score, undecided};

    #[test]
    fn every_answer_counts_once() {
        let mut trace = exchange("q", "a");
        trace.say(Role::User, "q2");
        trace.say(Role::Assistant, "a2");
        let metric = compiled(META.id, &json!({"role": "a pirate"}));
        let verdicts = json!({"verdicts": [
            {"index": 1, "reason": "no arr"}, {"index": 1, "reason": "again"},
            {"index": 0, "reason": "a user"}, {"index": 77, "reason": "nowhere"}
        ]});
        let score = judged_score(&metric, &trace, &[verdicts]);
        assert_eq!(score.score, Some(0.5));
        let roleless = undecided(&compiled(META.id, &json!({})), &trace);
        assert_eq!((roleless.success, roleless.error), (None, None));
        trace.labels.insert("chatbot_role".into(), json!("a pirate"));
        assert!(undecided(&compiled(META.id, &json!({})), &trace).error.is_some());
    }
}
