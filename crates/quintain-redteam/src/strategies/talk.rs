//! Conversations: the next message depends only on the history. A conversation is an inquiry: it sends messages to the
//! target, and asks a model for advice, until it is over.

use std::fmt;

use quintain_evidence::evidence::Evidence;
use quintain_evidence::inquiry::{Inquiry, Next, Rounds};
use quintain_evidence::question::{Answer, JudgeQuestion, Message, Question, Reaction};
use serde_json::{Value, json};

use super::options::Options;
use super::rewrite::MAX_TEXT;

/// One message to the target and its reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// The previous turn of the same conversation; none for the first.
    pub after: Option<usize>,
    pub sent: String,
    pub received: String,
    pub reaction: Reaction,
}

/// Everything that happened so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The text of the probe as the attack created it.
    pub objective: String,
    pub seed: u64,
    pub turns: Vec<Turn>,
    /// The answers of the adversary model, one for each question, in order.
    pub advice: Vec<Answer>,
}

/// Why a conversation is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    Hit,
    /// All turns are used, or nothing is left to send.
    Finished,
    /// Refused too often.
    Refused,
    /// The target or the model did not respond.
    Unanswered(String),
}

/// The strategy-specific part of a conversation.
pub(super) trait Script: Send + Sync {
    /// Called only while the limits allow another turn. The last turn was not a hit.
    fn next(&self, history: &History) -> Next<Done>;
}

/// A script and its limits.
pub struct Talk {
    max_turns: usize,
    /// promptfoo can continue after a hit.
    past_hits: bool,
    script: Box<dyn Script>,
}

/// Maximum number of turns, whatever the options say.
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

    /// The same conversation with its script wrapped in another one.
    pub(super) fn within<S: Script + 'static>(
        self,
        wrap: impl FnOnce(Box<dyn Script>) -> S,
    ) -> Self {
        Self { script: Box::new(wrap(self.script)), ..self }
    }

    /// A conversation with this objective. The same seed leads to the same messages.
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
                // A turn that does not exist cannot be continued.
                message.after = message.after.filter(|turn| *turn < history.turns.len());
            }),
            done @ Next::Done(_) => done,
        }
    }
}

/// The same questions with reworded messages.
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

/// One conversation, ready to run as an inquiry.
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

    /// A message and a question to the model for each turn.
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
    /// Built-in messages.
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
    /// The conversation so far, from the questions and answers.
    ///
    /// # Errors
    /// The reason why the target did not reply to a message.
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
                    return Err("the answer is not a reply to a message".to_owned());
                }
                (_, answer) => history.advice.push(answer.clone()),
            }
        }
        Ok(history)
    }

    /// Sends this in the conversation that ends with the turn `after`; none starts a new one.
    pub(super) fn say(&self, text: impl Into<String>, after: Option<usize>) -> Next<Done> {
        let message = Message { text: text.into(), after, turn: self.turns.len() };
        Next::Ask(vec![Question::Say(message)])
    }

    /// The last turn.
    pub(super) fn last(&self) -> Option<(usize, &Turn)> {
        self.turns.iter().enumerate().next_back()
    }

    /// The message that a model writes for the next turn: the question if it was not asked yet, or else its answer.
    pub(super) fn advised(&self, strategy: &str, task: &str, after: Option<usize>) -> Next<Done> {
        match self.advised_on(strategy, task, &self.turns) {
            Next::Ask(questions) => reworded(questions, |message| message.after = after),
            done @ Next::Done(_) => done,
        }
    }

    /// The same in a new conversation; the model sees only these turns.
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
            // Two branches that improve the same message need two answers.
            "turn": self.turns.len(),
            "turns": turns,
        });
        let output = shown.last().map_or(Value::Null, |turn| beginning(&turn.received).into());
        Question::Judge(JudgeQuestion { kind: "adversary".to_owned(), criteria, output })
    }
}

/// The beginning of an answer, which is enough to learn from. Targets may send more than a model can read.
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
    use crate::strategies::{StrategyKind, parse};

    /// What is sent in which conversation if the target reacts like this, and how it ends.
    pub(crate) fn play(
        entry: &Value,
        objective: &str,
        mut react: impl FnMut(usize, &str) -> (Reaction, String),
        mut advise: impl FnMut(&Question) -> Answer,
    ) -> (Vec<Turn>, Done) {
        let tactic = parse(entry).expect("no mistakes").remove(0);
        let StrategyKind::Talk(talk) = tactic.kind() else { panic!("a conversation") };
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
