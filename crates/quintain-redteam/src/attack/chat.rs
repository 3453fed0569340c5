//! A conversation with a target that takes text. Does not know how a prompt is composed or sent.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A conversation of its own: no other attempt continues it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Chat {
    /// The prompt of the suite, by its position.
    pub prompt: usize,
    /// What the user says, turn by turn, in the variable that the attack fills. Each is sent after the reply to the one
    /// before.
    pub messages: Vec<String>,
    /// Turns that never happened, sent as if they had: message and reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forged: Vec<(String, String)>,
    /// Values of other variables of the prompt.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub vars: Map<String, Value>,
    /// A random text that only the instructions of the target contain: the value of `{{canary}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canary: Option<String>,
    /// What Quintain adds to the instructions of the target, or the value of `{{planted}}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planted: Option<String>,
    /// Where the hostile text is.
    pub hostile: Hostile,
}

/// The part of a conversation that is hostile, which strategies rewrite.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hostile {
    /// The last message.
    #[default]
    Last,
    /// The first message; the others only show its effect.
    First,
    /// The value of this variable.
    Variable(String),
    /// Nothing: the conversation is for comparison.
    Nothing,
}

impl Chat {
    /// The hostile text.
    pub fn hostile_text(&self) -> Option<&str> {
        match &self.hostile {
            Hostile::Last => self.messages.last().map(String::as_str),
            Hostile::First => self.messages.first().map(String::as_str),
            Hostile::Variable(name) => self.vars.get(name).and_then(Value::as_str),
            Hostile::Nothing => None,
        }
    }

    /// The same conversation with another hostile text.
    #[must_use]
    pub fn with_hostile_text(mut self, text: impl Into<String>) -> Self {
        let text = text.into();
        let place = match &self.hostile {
            Hostile::Last => self.messages.last_mut(),
            Hostile::First => self.messages.first_mut(),
            Hostile::Variable(name) => {
                self.vars.insert(name.clone(), text.into());
                return self;
            }
            Hostile::Nothing => None,
        };
        if let Some(place) = place {
            *place = text;
        }
        self
    }

    /// Everything that the user sends, which an echo may repeat. What is planted is not part of it.
    pub fn sent(&self) -> String {
        let mut sent = self.messages.join("\n");
        for (message, reply) in &self.forged {
            sent.push('\n');
            sent.push_str(message);
            sent.push('\n');
            sent.push_str(reply);
        }
        for value in self.vars.values() {
            sent.push('\n');
            match value.as_str() {
                Some(text) => sent.push_str(text),
                None => sent.push_str(&value.to_string()),
            }
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hostile_text_is_replaced_where_it_is() {
        let two = Chat { messages: vec!["a".into(), "b".into()], ..Chat::default() };
        assert_eq!(two.clone().with_hostile_text("x").messages, ["a", "x"]);
        let first = Chat { hostile: Hostile::First, ..two.clone() };
        assert_eq!(first.with_hostile_text("x").messages, ["x", "b"]);
        let data = Chat { hostile: Hostile::Variable("doc".into()), ..two.clone() };
        let data = data.with_hostile_text("x");
        assert_eq!((data.hostile_text(), data.sent().as_str()), (Some("x"), "a\nb\nx"));
        let none = Chat { hostile: Hostile::Nothing, ..two };
        assert_eq!(none.hostile_text(), None);
        assert_eq!(none.clone().with_hostile_text("x"), none);
    }
}
