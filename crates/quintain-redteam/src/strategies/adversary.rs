//! The adversary: who writes the messages of a conversation. Built-in messages need no model; a model gets the prompt in
//! `adversary.txt`, which a suite can replace.

use quintain_content::text::refusal::is_refusal;
use quintain_evidence::answer_record::KeptAnswer;
use quintain_evidence::model_reply::ModelReply;
use quintain_evidence::question::{
    Answer, ModelQuestion, ModelRequest, ModelRole, Question, Reaction,
};
use serde_json::{Value, json};

use super::options::Options;
use super::turn::Turn;
use crate::quoted::quoted;

/// The prompt for a model.
const PROMPT: &str = include_str!("adversary.txt");
/// What a prompt must contain.
const SLOTS: [&str; 3] = ["{task}", "{objective}", "{conversation}"];
/// The beginning of an answer is enough to learn from. Targets may send more than a model can read.
const MAX_SHOWN: usize = 8 * 1024;

/// Who writes the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// A model if one is named, or else built-in messages.
    Auto,
    /// Built-in messages.
    Scripted,
    /// A model, asked before each turn.
    Model,
}

/// The options of a conversation that decide who writes its messages.
#[derive(Debug, Clone)]
pub(super) struct AdversaryOptions {
    choice: Choice,
    /// `redteamProvider`: the model of this strategy.
    provider: Option<Value>,
    /// Replaces the prompt.
    prompt: Option<String>,
}

impl AdversaryOptions {
    pub(super) fn read(options: &mut Options<'_>) -> Self {
        let words =
            [("auto", Choice::Auto), ("scripted", Choice::Scripted), ("model", Choice::Model)];
        let choice = options.word("adversary", &words);
        let prompt = options.maybe_text("adversaryPrompt");
        if let Some(own) = &prompt
            && let Some(slot) = SLOTS.iter().find(|slot| !own.contains(**slot))
        {
            options.wrong::<()>(
                "adversaryPrompt",
                &format!("text with `{slot}`"),
                &own.as_str().into(),
            );
        }
        Self { choice, provider: options.get("redteamProvider").cloned(), prompt }
    }

    /// The model that writes the messages; none for built-in messages. `usual` is that of the whole run.
    pub(super) fn model<'a>(&'a self, usual: Option<&'a Value>) -> Option<&'a Value> {
        match self.choice {
            Choice::Scripted => None,
            Choice::Auto | Choice::Model => self.provider.as_ref().or(usual),
        }
    }

    /// The same with its prompt.
    pub(super) fn adversary(&self, usual: Option<&Value>) -> Option<Adversary> {
        let model = self.model(usual)?.clone();
        Some(Adversary { model, prompt: self.prompt.clone() })
    }

    /// Whether only a model will do.
    pub(super) fn needs_model(&self) -> bool {
        self.choice == Choice::Model
    }
}

/// A model that writes messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Adversary {
    model: Value,
    /// Replaces the built-in prompt.
    prompt: Option<String>,
}

/// What a model has to know to write the next message.
pub(super) struct Situation<'a> {
    pub(super) strategy: &'a str,
    /// How to proceed, in words.
    pub(super) task: &'a str,
    pub(super) objective: &'a str,
    /// The turns that the model sees.
    pub(super) shown: &'a [Turn],
    /// The number of the turn.
    pub(super) turn: usize,
}

impl Adversary {
    /// The question for the model.
    pub(super) fn question(&self, situation: &Situation<'_>) -> Question {
        let Situation { strategy, task, objective, shown, turn } = situation;
        let template = self.prompt.as_deref().unwrap_or(PROMPT);
        let prompt = template
            .replace("{task}", task)
            .replace("{objective}", &quoted(objective))
            .replace("{conversation}", &conversation(shown));
        let schema = json!({
            "type": "object",
            "required": ["message"],
            "additionalProperties": false,
            "properties": {"message": {"type": "string"}, "rationale": {"type": "string"}},
        });
        Question::Model(ModelQuestion {
            role: ModelRole::Adversary,
            asked_by: (*strategy).to_owned(),
            model: Some(self.model.clone()),
            request: ModelRequest::Chat { prompt, schema: Some(schema) },
            // Two branches that improve the same message need two answers.
            sample: *turn,
            repetition: 0,
        })
    }
}

fn conversation(turns: &[Turn]) -> String {
    if turns.is_empty() {
        return "Nothing was said yet.".to_owned();
    }
    let shown = turns.iter().map(|turn| {
        let end = turn.received.floor_char_boundary(MAX_SHOWN);
        let how = match turn.reaction {
            Reaction::Hit => "it reached the objective",
            Reaction::Refused => "it refused",
            Reaction::Answered => "it answered",
        };
        format!(
            "The user said:\n{}\nThe system replied ({how}):\n{}",
            quoted(&turn.sent),
            quoted(&turn.received[..end])
        )
    });
    shown.collect::<Vec<_>>().join("\n\n")
}

/// The message in an answer of a model; none if it wrote none or refused.
pub(super) fn message_in(answer: &Answer) -> Option<String> {
    let reply = ModelReply::of(answer).ok()?;
    if reply.refusal.is_some() {
        return None;
    }
    let object = match &reply.output {
        Value::String(text) => serde_json::from_str::<Value>(text).ok().filter(Value::is_object),
        value => Some(value.clone()),
    };
    let text = match &object {
        Some(object) => {
            ["message", "prompt", "output"].iter().find_map(|key| object.get(key)?.as_str())
        }
        None => reply.output.as_str(),
    };
    let text = text.map(str::trim).filter(|text| !text.is_empty() && !is_refusal(text));
    text.map(str::to_owned)
}

/// Whether a stored answer of a model contains a message.
pub fn is_message(answer: &KeptAnswer) -> bool {
    match answer {
        KeptAnswer::Value(value) => message_in(&Answer::Value(value.clone())).is_some(),
        KeptAnswer::Reply(_) | KeptAnswer::Failed(_) | KeptAnswer::Call { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_in_objects_and_texts_and_refusals_are_none() {
        let message = |output: Value| message_in(&Answer::Value(json!({"output": output})));
        assert_eq!(message(json!({"message": " hi "})).as_deref(), Some("hi"));
        assert_eq!(message(json!("{\"message\": \"hi\"}")).as_deref(), Some("hi"));
        assert_eq!(message(json!("hi")).as_deref(), Some("hi"));
        assert_eq!(message(json!({"message": "I'm sorry, but I cannot help with that."})), None);
        assert_eq!(message(json!({"text": "hi"})), None);
        let refused = json!({"output": "x", "refusal": "no"});
        assert_eq!(message_in(&Answer::Value(refused)), None);
        assert_eq!(message_in(&Answer::Failed("down".into())), None);
    }

    #[test]
    fn the_prompt_has_a_place_for_everything() {
        assert!(SLOTS.iter().all(|slot| PROMPT.contains(slot)));
    }
}
