//! Conversations: what was said so far decides what is said next, and nothing else does.

use std::fmt;

use quintain_evidence::question::{Answer, JudgeQuestion, Question};
use serde_json::{Value, json};

use super::options::Options;
use super::rewrite::MAX_TEXT;

/// How a target took what it was sent, by the word of an oracle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// The attack worked.
    Hit,
    Refused,
    /// Neither.
    Answered,
}

impl Reaction {
    fn word(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Refused => "refused",
            Self::Answered => "answered",
        }
    }
}

/// One message to the target and what came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The turn before it in the same conversation; none if it opened one.
    pub after: Option<usize>,
    pub sent: String,
    pub received: String,
    pub reaction: Reaction,
}

/// All that happened.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The text of the probe as the attack made it.
    pub objective: String,
    pub seed: u64,
    pub turns: Vec<Turn>,
    /// The answers of the model that plays the adversary, one for each question, in their order.
    pub advice: Vec<Answer>,
}

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Send this in the conversation that ends with the turn `after`; without it, open a new one.
    Say {
        text: String,
        after: Option<usize>,
    },
    /// Ask a model, append its answer to `advice`, and come back.
    Ask(Question),
    Done(Done),
}

/// Why a conversation is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    Hit,
    /// All turns are used, or all that there was to say is said.
    Finished,
    /// Refused once too often.
    Refused,
    /// It needs a model to go on.
    NobodyToAsk(String),
}

/// The part of a conversation that differs from strategy to strategy.
pub(super) trait Script: Send + Sync {
    /// Asked only while the limits allow another turn. The last turn was no hit.
    fn next(&self, history: &History) -> Next;
}

/// A script within its limits.
pub struct Talk {
    max_turns: usize,
    /// promptfoo goes on after a hit if asked to.
    past_hits: bool,
    script: Box<dyn Script>,
}

/// No conversation takes more turns, whatever the options say.
pub const MAX_TURNS: usize = 256;

impl Talk {
    /// Reads the options that all conversations share.
    pub(super) fn new(
        options: &mut Options<'_>,
        turns: usize,
        script: impl Script + 'static,
    ) -> Self {
        options.without_effect(&["redteamProvider", "purpose", "label"]);
        Self {
            max_turns: options.whole("maxTurns", 1..=MAX_TURNS, turns),
            past_hits: options.flag("continueAfterSuccess", false),
            script: Box::new(script),
        }
    }

    /// The same conversation with another script around its own.
    pub(super) fn within<S: Script + 'static>(
        self,
        wrap: impl FnOnce(Box<dyn Script>) -> S,
    ) -> Self {
        Self { script: Box::new(wrap(self.script)), ..self }
    }

    pub fn follow_up(&self, history: &History) -> Next {
        let hit = history.turns.iter().any(|turn| turn.reaction == Reaction::Hit);
        if hit && !self.past_hits {
            return Next::Done(Done::Hit);
        }
        if history.turns.len() >= self.max_turns {
            return Next::Done(if hit { Done::Hit } else { Done::Finished });
        }
        match self.script.next(history) {
            Next::Say { mut text, after } => {
                let end = text.floor_char_boundary(MAX_TEXT);
                text.truncate(end);
                // A turn that is not there cannot be continued.
                Next::Say { text, after: after.filter(|turn| *turn < history.turns.len()) }
            }
            other => other,
        }
    }
}

impl fmt::Debug for Talk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Talk").field("max_turns", &self.max_turns).finish_non_exhaustive()
    }
}

/// Who writes the messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Adversary {
    /// The moves that are built in.
    Scripted,
    /// A model, asked before each turn.
    Model,
}

impl Adversary {
    pub(super) fn read(options: &mut Options<'_>) -> Self {
        options.word("adversary", &[("scripted", Self::Scripted), ("model", Self::Model)])
    }
}

impl History {
    /// The last turn.
    pub(super) fn last(&self) -> Option<(usize, &Turn)> {
        self.turns.iter().enumerate().next_back()
    }

    /// The message that a model writes for the turn that comes next: the question if it was not
    /// asked yet, or its answer.
    pub(super) fn advised(&self, strategy: &str, task: &str, after: Option<usize>) -> Next {
        match self.advised_on(strategy, task, &self.turns) {
            Next::Say { text, .. } => Next::Say { text, after },
            other => other,
        }
    }

    /// The same in a new conversation, with these turns shown to the model and no others.
    pub(super) fn advised_on(&self, strategy: &str, task: &str, shown: &[Turn]) -> Next {
        let Some(answer) = self.advice.get(self.turns.len()) else {
            return Next::Ask(self.question(strategy, task, shown));
        };
        match advice(answer) {
            Ok(text) => Next::Say { text, after: None },
            Err(why) => Next::Done(Done::NobodyToAsk(why)),
        }
    }

    fn question(&self, strategy: &str, task: &str, shown: &[Turn]) -> Question {
        let turns: Vec<Value> = shown
            .iter()
            .map(|turn| {
                json!({
                    "sent": turn.sent,
                    "received": beginning(&turn.received),
                    "reaction": turn.reaction.word(),
                })
            })
            .collect();
        let criteria = json!({
            "strategy": strategy,
            "task": task,
            "objective": self.objective,
            "turns": turns,
        });
        let output = shown.last().map_or(Value::Null, |turn| beginning(&turn.received).into());
        Question::Judge(JudgeQuestion { kind: "adversary".to_owned(), criteria, output })
    }
}

/// Enough of an answer to learn from; targets may send more than a model reads.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(8 * 1024)]
}

/// The message in an answer: text, or the text of `message` or `prompt`.
fn advice(answer: &Answer) -> Result<String, String> {
    match answer {
        Answer::Value(value) => {
            let keys = ["message", "prompt"];
            let inner = keys.iter().find_map(|key| value.get(key)).unwrap_or(value);
            let text = inner.as_str().map(str::trim).filter(|text| !text.is_empty());
            text.map(str::to_owned).ok_or_else(|| "the model wrote no message".to_owned())
        }
        Answer::Failed(why) | Answer::Unavailable(why) => Err(why.clone()),
        Answer::Exchange(_) => Err("the model wrote no message".to_owned()),
    }
}

#[cfg(test)]
pub(super) mod testing {
    use serde_json::{Map, Value};

    use super::*;
    use crate::strategies::parse;

    /// What is sent in which conversation, if the target reacts like this; and how it ends.
    pub(crate) fn play(
        entry: &Value,
        objective: &str,
        mut react: impl FnMut(usize, &str) -> (Reaction, String),
        mut advise: impl FnMut(&Question) -> Answer,
    ) -> (Vec<Turn>, Done) {
        let tactic = parse(entry).expect("no mistakes").remove(0);
        let mut history =
            History { objective: objective.to_owned(), seed: 7, ..History::default() };
        for _ in 0..2 * MAX_TURNS + 2 {
            match tactic.follow_up(&history).expect("a conversation") {
                Next::Say { text: sent, after } => {
                    let (reaction, received) = react(history.turns.len(), &sent);
                    history.turns.push(Turn { after, sent, received, reaction });
                }
                Next::Ask(question) => history.advice.push(advise(&question)),
                Next::Done(done) => return (history.turns, done),
            }
        }
        panic!("endless");
    }

    pub(crate) fn entry(id: &str, config: Value) -> Value {
        let mut entry = Map::new();
        entry.insert("id".to_owned(), id.into());
        entry.insert("config".to_owned(), config);
        Value::Object(entry)
    }

    pub(crate) fn answered(_: usize, _: &str) -> (Reaction, String) {
        (Reaction::Answered, "Well.".to_owned())
    }

    pub(crate) fn refused(_: usize, _: &str) -> (Reaction, String) {
        (Reaction::Refused, "No.".to_owned())
    }

    pub(crate) fn nobody(_: &Question) -> Answer {
        Answer::Unavailable("no model".to_owned())
    }
}
