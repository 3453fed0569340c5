//! Conversations: the next message depends only on the history. A conversation is an inquiry: it sends messages to the
//! target, and asks a model for advice, until it is over.

use std::fmt;

use quintain_evidence::evidence::Evidence;
use quintain_evidence::inquiry::{Inquiry, Next, Rounds};
use quintain_evidence::question::{Answer, Question, Reaction, TurnMessage};
use serde_json::Value;

use super::adversary::{Adversary, AdversaryOptions, Situation, message_in};
use super::options::Options;
use super::rewrite::MAX_TEXT;
pub use super::turn::Turn;

/// Everything that happened so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The text of the probe as the attack created it.
    pub objective: String,
    pub seed: u64,
    pub turns: Vec<Turn>,
    /// The model that writes messages; none for built-in messages.
    pub adversary: Option<Adversary>,
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
    adversary: AdversaryOptions,
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
        options.without_effect(&["purpose", "label"]);
        Self {
            adversary: AdversaryOptions::read(options),
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
        Conversation { talk: self, objective: objective.into(), seed, usual: None }
    }

    /// The model that writes the messages; none for built-in messages. `usual` is that of the whole run.
    pub fn adversary<'a>(&'a self, usual: Option<&'a Value>) -> Option<&'a Value> {
        self.adversary.model(usual)
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
    mut reword: impl FnMut(&mut TurnMessage),
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
    /// The model that writes messages, unless the strategy names another one.
    usual: Option<Value>,
}

impl Conversation<'_> {
    /// The same with a model that writes messages, unless the strategy decides otherwise.
    #[must_use]
    pub fn with_adversary(mut self, model: Option<Value>) -> Self {
        self.usual = model;
        self
    }
}

impl Inquiry for Conversation<'_> {
    type Conclusion = Done;

    fn next(&self, _: &Evidence, rounds: &Rounds) -> Next<Done> {
        match History::of(&self.objective, self.seed, rounds) {
            Ok(history) => {
                let adversary = self.talk.adversary.adversary(self.usual.as_ref());
                if adversary.is_none() && self.talk.adversary.needs_model() {
                    let why = "no model is named (`redteam.provider` or `redteamProvider`)";
                    return Next::Done(Done::Unanswered(why.to_owned()));
                }
                self.talk.follow_up(&History { adversary, ..history })
            }
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
        let message = TurnMessage { text: text.into(), after, turn: self.turns.len() };
        Next::Ask(vec![Question::Say(message)])
    }

    /// The last turn.
    pub(super) fn last(&self) -> Option<(usize, &Turn)> {
        self.turns.iter().enumerate().next_back()
    }

    /// The next message of the conversation that ends with the turn `after`: that of a model if one is named, or else the
    /// built-in one. A model that refuses or fails is replaced by the built-in message for this turn.
    pub(super) fn led(
        &self,
        lead: &Lead<'_>,
        after: Option<usize>,
        built_in: impl FnOnce() -> Next<Done>,
    ) -> Next<Done> {
        let Some(adversary) = &self.adversary else { return built_in() };
        let Some(answer) = self.advice.get(self.turns.len()) else {
            let situation = Situation {
                strategy: lead.strategy,
                task: lead.task,
                objective: &self.objective,
                shown: lead.shown.unwrap_or(&self.turns),
                turn: self.turns.len(),
            };
            return Next::Ask(vec![adversary.question(&situation)]);
        };
        match message_in(answer) {
            Some(text) => self.say(text, after),
            None => built_in(),
        }
    }
}

/// How a model leads a conversation.
pub(super) struct Lead<'a> {
    pub(super) strategy: &'a str,
    /// How to proceed, in words.
    pub(super) task: &'a str,
    /// The turns that the model sees; all if none.
    pub(super) shown: Option<&'a [Turn]>,
}

#[cfg(test)]
pub(super) mod testing {
    use quintain_evidence::question::{ModelQuestion, ModelRequest, TurnReply};
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
        let named =
            Some("scripted:adversary".into()).filter(|_| entry.to_string().contains("model"));
        let conversation = talk.about(objective, 7).with_adversary(named);
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
                    Answer::Reply(TurnReply { text, reaction })
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

    /// The prompt of a question for the adversary.
    pub(crate) fn asked_of_model(question: &Question) -> &str {
        let Question::Model(ModelQuestion { request: ModelRequest::Chat { prompt, .. }, .. }) =
            question
        else {
            panic!("a question for a model")
        };
        prompt
    }

    /// A message of the adversary.
    pub(crate) fn writes(text: &str) -> Answer {
        Answer::Value(serde_json::json!({"output": {"message": text, "rationale": "it may work"}}))
    }

    pub(crate) fn nobody(_: &Question) -> Answer {
        Answer::Unavailable("no model".to_owned())
    }
}
