//! Leads the conversation of an attempt: its own messages one after the other, or those that a strategy writes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_content::text::refusal::is_refusal;
use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
use quintain_evidence::probe::Step;
use quintain_evidence::question::{Answer, Question, Reaction, TurnMessage, TurnReply};
use quintain_redteam::attack::{Attempt, Chat, Hostile};
use quintain_redteam::attacks::disclosed;
use quintain_redteam::orders::model_name;
use quintain_redteam::strategies::{Done, History, StrategyKind, joined};
use serde_json::{Value, json};

use super::executor::Executor;
use super::text::{PastTurn, TextSender};
use crate::inquiry::{AnswerSources, AskTarget, Asker};

impl Executor<'_> {
    /// Sends the messages of a conversation, each after the reply to the one before.
    pub(super) async fn converse(&self, chat: &Chat, attempt: &Attempt) -> Evidence {
        let mut evidence = Evidence::default();
        let Some((sender, _)) = self.speaker.text() else { return evidence };
        let mut past = forged(chat, sender);
        let session = session_of(attempt, 0);
        // The budget is charged for the first message when the attempt starts.
        self.say_all(chat, &chat.messages, 1, &mut past, &session, &mut evidence).await;
        evidence
    }

    /// Sends messages one after the other, each in the conversation so far, as long as the target replies. `paid` of them
    /// are charged already.
    async fn say_all(
        &self,
        chat: &Chat,
        messages: &[String],
        paid: usize,
        past: &mut Vec<PastTurn>,
        session: &str,
        evidence: &mut Evidence,
    ) {
        let Some((sender, answer_sources)) = self.speaker.text() else { return };
        for (number, said) in messages.iter().enumerate() {
            if number >= paid && !self.budget.take() {
                break;
            }
            let outside = &answer_sources.external_services;
            let exchange = sender.say(chat, past, said, session, outside).await;
            self.charge(&exchange);
            let reply = reply(&exchange);
            evidence.exchanges.push(exchange);
            let Some(reply) = reply else { break };
            past.push(PastTurn { said: said.clone(), reply });
        }
    }

    /// Leads a conversation with the messages of a strategy until its oracle sees a hit, or the strategy ends.
    pub(super) async fn talk(&self, chat: &Chat, strategy: usize, attempt: &Attempt) -> Evidence {
        let mut evidence = Evidence::default();
        let Some((sender, answer_sources)) = self.speaker.text() else { return evidence };
        let tactic = self.orders.strategies.get(strategy);
        let Some((tactic, StrategyKind::Talk(talk))) = tactic.map(|one| (one, one.kind())) else {
            return evidence;
        };
        let objective = chat.hostile_text().unwrap_or_default();
        let conversation =
            talk.about(objective, self.orders.seed).with_adversary(self.orders.model.clone());
        let partner = Partner {
            executor: self,
            sender,
            answer_sources,
            chat,
            attempt,
            turns: Mutex::default(),
        };
        let asker = Asker { answer_sources, target: Some(&partner), repetition: 0 };
        let done = asker.run_rounds(&[conversation], &mut evidence).await.pop();
        self.charge_answers(&evidence);
        self.note_fallbacks(tactic.id(), talk.adversary(self.orders.model.as_ref()), &evidence);
        let turns = partner.turns.into_inner().unwrap_or_else(PoisonError::into_inner);
        evidence.exchanges.extend(turns.iter().map(|turn| turn.exchange.clone()));
        if tactic.id() == "chunked" {
            evidence.exchanges.extend(joined_parts(objective, self.orders.seed, &turns, attempt));
        }
        // What only shows the effect follows the conversation that a strategy led.
        if chat.hostile == Hostile::First && done != Some(Done::Hit) {
            self.follow(chat, &turns, attempt, &mut evidence).await;
        }
        evidence
    }

    /// Sends the messages after the hostile one in the conversation of the last turn.
    async fn follow(
        &self,
        chat: &Chat,
        turns: &[Turn],
        attempt: &Attempt,
        evidence: &mut Evidence,
    ) {
        let mut past = match turns.len().checked_sub(1) {
            Some(last) => path(turns, Some(last)),
            None => Vec::new(),
        };
        let session =
            turns.last().map_or_else(|| session_of(attempt, 0), |turn| turn.session.clone());
        let rest = chat.messages.get(1..).unwrap_or_default();
        self.say_all(chat, rest, 0, &mut past, &session, evidence).await;
    }

    /// Charges the budget for what a reply cost, and ends the run if the target does not work any more.
    fn charge(&self, exchange: &Exchange) {
        if let Some(why) = self.speaker.outage.record(exchange) {
            self.budget.halt(why);
        }
        if let Outcome::Reply(reply) = &exchange.outcome {
            self.budget.spend(reply.get("tokenUsage"), reply.get("cost").and_then(Value::as_f64));
        }
    }

    /// Charges the budget for the answers of models.
    pub(super) fn charge_answers(&self, evidence: &Evidence) {
        for record in &evidence.answers {
            if matches!(record.question, Question::Model(_)) {
                self.budget.spend(record.cost.token_usage.as_ref(), record.cost.price);
            }
        }
    }

    /// Notes that built-in messages were sent, because a model wrote none.
    fn note_fallbacks(&self, strategy: &str, adversary: Option<&Value>, evidence: &Evidence) {
        let Some(model) = adversary else { return };
        let asked =
            evidence.answers.iter().filter(|one| matches!(one.question, Question::Model(_)));
        let said =
            evidence.answers.iter().filter(|one| matches!(one.question, Question::Say(_))).count();
        let usable =
            asked.filter(|one| quintain_redteam::strategies::is_message(&one.answer)).count();
        if usable < said {
            self.speaker.note(
                format!("part of strategy {strategy}"),
                format!(
                    "{} wrote no usable message for some turns, so that built-in messages were sent",
                    model_name(model)
                ),
            );
        }
    }
}

/// One turn of a led conversation.
struct Turn {
    after: Option<usize>,
    said: String,
    reply: String,
    session: String,
    exchange: Exchange,
}

/// The target of a led conversation.
struct Partner<'a> {
    executor: &'a Executor<'a>,
    sender: &'a TextSender<'a>,
    answer_sources: &'a AnswerSources<'a>,
    chat: &'a Chat,
    attempt: &'a Attempt,
    turns: Mutex<Vec<Turn>>,
}

impl Partner<'_> {
    fn turns(&self) -> MutexGuard<'_, Vec<Turn>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn reply(&self, message: &TurnMessage) -> Answer {
        let budget = self.executor.budget;
        let number = self.turns().len();
        // The budget is charged for the first message when the attempt starts.
        if number > 0 && !budget.take() {
            let why = budget.why().unwrap_or_else(|| "interrupted".to_owned());
            return Answer::Unavailable(why);
        }
        let (mut past, session) = {
            let turns = self.turns();
            let continued = message.after.and_then(|after| turns.get(after));
            let session = continued.map(|turn| turn.session.clone());
            (
                path(&turns, message.after),
                session.unwrap_or_else(|| session_of(self.attempt, number)),
            )
        };
        past.splice(0..0, forged(self.chat, self.sender));
        let outside = &self.answer_sources.external_services;
        let exchange = self.sender.say(self.chat, &past, &message.text, &session, outside).await;
        self.executor.charge(&exchange);
        let Some(text) = reply(&exchange) else {
            let why =
                exchange.outcome.failure().unwrap_or_else(|| "the target did not reply".to_owned());
            let (after, said) = (message.after, message.text.clone());
            self.turns().push(Turn { after, said, reply: String::new(), session, exchange });
            return Answer::Failed(why);
        };
        let mut said = self.turns().iter().map(|turn| turn.said.clone()).collect::<Vec<_>>();
        said.push(message.text.clone());
        let reaction = reaction(self.attempt, &said.join("\n"), &text);
        let (after, said) = (message.after, message.text.clone());
        self.turns().push(Turn { after, said, reply: text.clone(), session, exchange });
        Answer::Reply(TurnReply { text, reaction })
    }
}

impl AskTarget for Partner<'_> {
    fn call<'f>(&'f self, _: &'f Step) -> BoxFuture<'f, Result<Exchange, String>> {
        async { Err("the target takes text, not calls".to_owned()) }.boxed()
    }

    fn say<'f>(&'f self, message: &'f TurnMessage) -> BoxFuture<'f, Answer> {
        self.reply(message).boxed()
    }
}

/// How the target reacted: by what the attempt looks for, or else by its words. A text that was said before, perhaps by a
/// model that leads the conversation, is an echo.
fn reaction(attempt: &Attempt, said: &str, reply: &str) -> Reaction {
    let sought = &attempt.role;
    let is_shown = !sought.is_empty()
        && disclosed(reply, sought).is_some()
        && !said.to_lowercase().contains(&sought.to_lowercase());
    if is_shown {
        Reaction::Hit
    } else if is_refusal(reply) {
        Reaction::Refused
    } else {
        Reaction::Answered
    }
}

/// The turns of the conversation that ends with a turn.
fn path(turns: &[Turn], last: Option<usize>) -> Vec<PastTurn> {
    let mut path = Vec::new();
    let mut at = last;
    while let Some(turn) = at.and_then(|at| turns.get(at)) {
        path.push(PastTurn { said: turn.said.clone(), reply: turn.reply.clone() });
        at = turn.after;
    }
    path.reverse();
    path
}

/// The parts of an answer that was asked for in parts, as one more exchange.
fn joined_parts(objective: &str, seed: u64, turns: &[Turn], attempt: &Attempt) -> Option<Exchange> {
    let turns = turns.iter().map(|turn| quintain_redteam::strategies::Turn {
        after: turn.after,
        sent: turn.said.clone(),
        received: turn.reply.clone(),
        reaction: reaction(attempt, &turn.said, &turn.reply),
    });
    let history = History {
        objective: objective.to_owned(),
        seed,
        turns: turns.collect(),
        ..History::default()
    };
    let whole = joined(&history);
    let reply = Outcome::Reply(json!({"output": whole}));
    (!whole.is_empty()).then(|| Exchange::new("", "joined parts", Value::Null, reply))
}

/// The id of a new conversation, for targets that keep it themselves.
fn session_of(attempt: &Attempt, number: usize) -> String {
    format!("quintain-{}-{number}", attempt.nonce)
}

/// Turns that never happened. A target that keeps the conversation itself cannot receive them.
fn forged(chat: &Chat, sender: &TextSender<'_>) -> Vec<PastTurn> {
    let turn =
        |(said, reply): &(String, String)| PastTurn { said: said.clone(), reply: reply.clone() };
    if sender.is_stateful() { Vec::new() } else { chat.forged.iter().map(turn).collect() }
}

/// The text of a reply; none if there is none.
fn reply(exchange: &Exchange) -> Option<String> {
    let Outcome::Reply(reply) = &exchange.outcome else { return None };
    Some(match reply.get("output")? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
}
