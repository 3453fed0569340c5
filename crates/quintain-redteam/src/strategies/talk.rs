//! Conversations: what was said so far decides what is said next, and nothing else does. A conversation
//! is an inquiry: it asks the target with messages and a model for advice until it is over.

use std::fmt;

use quintain_evidence::evidence::Evidence;
use quintain_evidence::inquiry::{Inquiry, Next, Rounds};
use quintain_evidence::question::{Answer, JudgeQuestion, Message, Question, Reaction};
use serde_json::{Value, json};

use super::options::Options;
use super::rewrite::MAX_TEXT;

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

/// Why a conversation is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    Hit,
    /// All turns are used, or all that there was to say is said.
    Finished,
    /// Refused once too often.
    Refused,
    /// The target or the model did not answer.
    Unanswered(String),
}

/// The part of a conversation that differs from strategy to strategy.
pub(super) trait Script: Send + Sync {
    /// Asked only while the limits allow another turn. The last turn was no hit.
    fn next(&self, history: &History) -> Next<Done>;
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

    /// A conversation about this text. The same seed leads to the same messages.
    pub fn about(&self, objective: impl Into<String>, seed: u64) -> Conversation<'_> {
        Conversation { talk: self, objective: objective.into(), seed }
    }

    fn follow_up(&self, history: &History) -> Next<Done> {
        let hit = history.turns.iter().any(|turn| turn.reaction == Reaction::Hit);
        if hit && !self.past_hits {
            return Next::Done(Done::Hit);
        }
        if history.turns.len() >= self.max_turns {
            return Next::Done(if hit { Done::Hit } else { Done::Finished });
        }
        match self.script.next(history) {
            Next::Ask(questions) => reworded(questions, |message| {
                let end = message.text.floor_char_boundary(MAX_TEXT);
                message.text.truncate(end);
                // A turn that is not there cannot be continued.
                message.after = message.after.filter(|turn| *turn < history.turns.len());
            }),
            done @ Next::Done(_) => done,
        }
    }
}

/// The same questions with other messages.
pub(super) fn reworded(
    mut questions: Vec<Question>,
    mut reword: impl FnMut(&mut Message),
) -> Next<Done> {
    for question in &mut questions {
        if let Question::Say(message) = question {
            reword(message);
        }
    }
    Next::Ask(questions)
}

/// One conversation, ready to be pursued by whoever asks questions.
#[derive(Debug)]
pub struct Conversation<'t> {
    talk: &'t Talk,
    objective: String,
    seed: u64,
}

impl Inquiry for Conversation<'_> {
    type Outcome = Done;

    fn next(&self, _: &Evidence, rounds: &Rounds) -> Next<Done> {
        match History::of(&self.objective, self.seed, rounds) {
            Ok(history) => self.talk.follow_up(&history),
            Err(why) => Next::Done(Done::Unanswered(why)),
        }
    }

    /// A message and a question to a model for each turn.
    fn max_rounds(&self) -> usize {
        2 * self.talk.max_turns
    }

    fn unfinished(&self) -> Done {
        Done::Finished
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
    /// What was asked and answered, as a conversation.
    ///
    /// # Errors
    /// Why the target did not answer a message.
    pub fn of(objective: &str, seed: u64, rounds: &Rounds) -> Result<Self, String> {
        let mut history = Self { objective: objective.to_owned(), seed, ..Self::default() };
        for (question, answer) in rounds.asked() {
            match (question, answer) {
                (Question::Say(message), Answer::Reply(reply)) => history.turns.push(Turn {
                    after: message.after,
                    sent: message.text.clone(),
                    received: reply.text.clone(),
                    reaction: reply.reaction,
                }),
                (Question::Say(_), Answer::Failed(why) | Answer::Unavailable(why)) => {
                    return Err(why.clone());
                }
                (Question::Say(_), Answer::Value(_) | Answer::Exchange(_)) => {
                    return Err("that is not a reply to a message".to_owned());
                }
                (_, answer) => history.advice.push(answer.clone()),
            }
        }
        Ok(history)
    }

    /// Sends this in the conversation that ends with the turn `after`; without it, opens a new one.
    pub(super) fn say(&self, text: impl Into<String>, after: Option<usize>) -> Next<Done> {
        let message = Message { text: text.into(), after, turn: self.turns.len() };
        Next::Ask(vec![Question::Say(message)])
    }

    /// The last turn.
    pub(super) fn last(&self) -> Option<(usize, &Turn)> {
        self.turns.iter().enumerate().next_back()
    }

    /// The message that a model writes for the turn that comes next: the question if it was not
    /// asked yet, or its answer.
    pub(super) fn advised(&self, strategy: &str, task: &str, after: Option<usize>) -> Next<Done> {
        match self.advised_on(strategy, task, &self.turns) {
            Next::Ask(questions) => reworded(questions, |message| message.after = after),
            done @ Next::Done(_) => done,
        }
    }

    /// The same in a new conversation, with these turns shown to the model and no others.
    pub(super) fn advised_on(&self, strategy: &str, task: &str, shown: &[Turn]) -> Next<Done> {
        let Some(answer) = self.advice.get(self.turns.len()) else {
            return Next::Ask(vec![self.question(strategy, task, shown)]);
        };
        match advice(answer) {
            Ok(text) => self.say(text, None),
            Err(why) => Next::Done(Done::Unanswered(why)),
        }
    }

    fn question(&self, strategy: &str, task: &str, shown: &[Turn]) -> Question {
        let turns: Vec<Value> = shown
            .iter()
            .map(|turn| {
                json!({
                    "sent": turn.sent,
                    "received": beginning(&turn.received),
                    "reaction": turn.reaction,
                })
            })
            .collect();
        let criteria = json!({
            "strategy": strategy,
            "task": task,
            "objective": self.objective,
            // Two branches that improve the same message are to get two answers.
            "turn": self.turns.len(),
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
        Answer::Exchange(_) | Answer::Reply(_) => Err("the model wrote no message".to_owned()),
    }
}

#[cfg(test)]
pub(super) mod testing {
    use quintain_evidence::question::Reply;
    use serde_json::{Map, Value};

    use super::*;
    use crate::strategies::{Way, parse};

    /// What is sent in which conversation, if the target reacts like this; and how it ends.
    pub(crate) fn play(
        entry: &Value,
        objective: &str,
        mut react: impl FnMut(usize, &str) -> (Reaction, String),
        mut advise: impl FnMut(&Question) -> Answer,
    ) -> (Vec<Turn>, Done) {
        let tactic = parse(entry).expect("no mistakes").remove(0);
        let Way::Talk(talk) = tactic.way() else { panic!("a conversation") };
        let conversation = talk.about(objective, 7);
        let mut rounds = Rounds::default();
        loop {
            let questions = match conversation.next(&Evidence::default(), &rounds) {
                Next::Ask(questions) => questions,
                Next::Done(done) => {
                    let history = History::of(objective, 7, &rounds).expect("replies");
                    return (history.turns, done);
                }
            };
            assert!(rounds.len() < conversation.max_rounds(), "endless");
            let answer = |question: &Question| match question {
                Question::Say(message) => {
                    let (reaction, text) = react(message.turn, &message.text);
                    Answer::Reply(Reply { text, reaction })
                }
                question => advise(question),
            };
            let answers = questions.iter().map(answer).collect();
            rounds.push(questions, answers);
        }
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
