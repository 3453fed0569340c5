//! Attempts and their evidence.

use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
use quintain_evidence::finding::{Confidence, Place, Severity};
use quintain_evidence::indicator::Indicator;
use quintain_evidence::question::Question;
use serde_json::Value;

use super::attempt::Attempt;
use super::marks::Nonce;
use super::target_view::TargetView;
use crate::knowledge::Aim;

/// An attempt and its evidence.
#[derive(Debug, Clone)]
pub struct Tried {
    pub attempt: Attempt,
    pub evidence: Evidence,
}

impl Tried {
    pub fn last(&self) -> Option<&Exchange> {
        self.evidence.last()
    }

    /// The whole response as text: content, structured data, errors.
    pub fn said(&self) -> String {
        self.evidence.exchanges.iter().map(|exchange| exchange.outcome.said()).collect()
    }

    /// The last reply of a target that takes text.
    pub fn reply(&self) -> String {
        self.last().map(|exchange| replied(&exchange.outcome)).unwrap_or_default()
    }

    /// All replies of a target that takes text, one per line.
    pub fn replies(&self) -> String {
        let replies = self.evidence.exchanges.iter().map(|one| replied(&one.outcome));
        replies.collect::<Vec<_>>().join("\n")
    }

    /// All replies of a target that takes text, each with everything that the user had sent before it. In a conversation
    /// that a strategy leads, these are its messages: a model that writes them may say what an attack looks for, and the
    /// target may echo it.
    pub fn exchanged(&self) -> Vec<(String, String)> {
        let Some(chat) = self.attempt.action.chat() else { return Vec::new() };
        let mut sent = chat.sent();
        let mut written =
            self.evidence.answers.iter().filter_map(|record| match &record.question {
                Question::Say(message) => Some(message.text.as_str()),
                _ => None,
            });
        let exchanges = self.evidence.exchanges.iter().map(|exchange| {
            if let Some(text) = written.next() {
                sent.push('\n');
                sent.push_str(text);
            }
            (sent.clone(), replied(&exchange.outcome))
        });
        exchanges.collect()
    }

    /// Everything that the user sent to a target that takes text.
    pub fn sent(&self) -> String {
        let last = self.exchanged().pop().map(|(sent, _)| sent);
        last.or_else(|| Some(self.attempt.action.chat()?.sent())).unwrap_or_default()
    }

    /// What the last reply cost in tokens, if the target reports it.
    pub fn tokens(&self) -> Option<u64> {
        let Outcome::Reply(reply) = &self.last()?.outcome else { return None };
        let usage = reply.get("tokenUsage")?;
        usage.get("completion").or_else(|| usage.get("total"))?.as_u64()
    }
}

/// The text of a reply.
fn replied(outcome: &Outcome) -> String {
    let Outcome::Reply(reply) = outcome else { return String::new() };
    match reply.get("output") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// All attempts at one aim, and the baseline call.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    pub view: &'a TargetView<'a>,
    pub aim: &'a Aim,
    pub tried: &'a [Tried],
}

impl Trial<'_> {
    /// The baseline call, if there is a valid one.
    pub fn baseline(&self) -> Option<&Exchange> {
        self.aim.baseline.as_ref().map(|baseline| &baseline.exchange)
    }

    /// The attempts, grouped by set.
    pub fn sets(&self) -> impl Iterator<Item = (usize, Vec<&Tried>)> {
        let mut numbers: Vec<usize> = self.tried.iter().map(|tried| tried.attempt.set).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
            .into_iter()
            .map(|set| (set, self.tried.iter().filter(|tried| tried.attempt.set == set).collect()))
    }
}

/// What an attack found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Where, if not at the aim.
    pub place: Option<Place>,
    /// The set of attempts that shows it; none if the surface alone shows it.
    pub set: Option<usize>,
    /// The attempt of the set that shows it; the others are for comparison.
    pub shown_by: Option<Nonce>,
    /// What is wrong, in one line without a full stop; includes the form.
    pub title: String,
    /// What proves it.
    pub what: String,
    pub confidence: Confidence,
    /// If it differs from that of the attack.
    pub severity: Option<Severity>,
    /// Why this is by design.
    pub note: Option<String>,
    /// Shared by all hits of one fault, which one fix removes. Part of the fingerprint.
    pub fault: &'static str,
    /// JSON pointer into the outcome of the last exchange.
    pub pointer: Option<String>,
    /// How the last response shows it, if it does.
    pub sign: Option<Indicator>,
    /// Whether it counts only if it reproduces, because another client may have caused it.
    pub must_repeat: bool,
}

impl Hit {
    pub fn new(confidence: Confidence, title: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            place: None,
            set: None,
            shown_by: None,
            title: title.into(),
            what: what.into(),
            confidence,
            severity: None,
            note: None,
            fault: "",
            pointer: None,
            sign: None,
            must_repeat: false,
        }
    }

    #[must_use]
    pub fn must_repeat(mut self) -> Self {
        self.must_repeat = true;
        self
    }

    pub fn confirmed(title: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new(Confidence::Confirmed, title, what)
    }

    pub fn suspected(title: impl Into<String>, what: impl Into<String>) -> Self {
        Self::new(Confidence::Suspected, title, what)
    }

    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    #[must_use]
    pub fn by(mut self, tried: &Tried) -> Self {
        self.set = Some(tried.attempt.set);
        self.shown_by = Some(tried.attempt.nonce.clone());
        self
    }

    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    #[must_use]
    pub fn fault(mut self, fault: &'static str) -> Self {
        self.fault = fault;
        self
    }

    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// Sets how the last response shows it.
    #[must_use]
    pub fn sign(mut self, sign: Indicator) -> Self {
        self.sign = Some(sign);
        self
    }

    /// Sets the sign to this text, if the response to an attempt contains it and does not merely echo it.
    #[must_use]
    pub fn said(mut self, tried: &Tried, text: &str) -> Self {
        let sent = tried.attempt.payload.as_ref().map(ToString::to_string).unwrap_or_default();
        if !text.is_empty() && !sent.contains(text) && tried.said().contains(text) {
            self.sign = Some(Indicator::says(text));
        }
        self
    }
}
