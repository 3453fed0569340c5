//! Attempts and what came of them.

use quintain_evidence::evidence::{Evidence, Exchange};
use quintain_evidence::finding::{Confidence, Place, Severity};
use quintain_evidence::indicator::Indicator;

use super::attempt::Attempt;
use super::target_view::TargetView;
use crate::knowledge::Aim;

/// An attempt and what came of it.
#[derive(Debug, Clone)]
pub struct Tried {
    pub attempt: Attempt,
    pub evidence: Evidence,
}

impl Tried {
    pub fn last(&self) -> Option<&Exchange> {
        self.evidence.last()
    }

    /// Everything that came back as text: contents, structured data, errors.
    pub fn said(&self) -> String {
        self.evidence.exchanges.iter().map(|exchange| exchange.outcome.said()).collect()
    }
}

/// All attempts at one aim, with the innocent call beside them.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    pub field: &'a TargetView<'a>,
    pub aim: &'a Aim,
    pub tried: &'a [Tried],
}

impl Trial<'_> {
    /// The innocent call, if there is one that works.
    pub fn baseline(&self) -> Option<&Exchange> {
        self.aim.baseline.as_ref().map(|baseline| &baseline.exchange)
    }

    /// The attempts set by set.
    pub fn sets(&self) -> impl Iterator<Item = (usize, Vec<&Tried>)> {
        let mut numbers: Vec<usize> = self.tried.iter().map(|tried| tried.attempt.set).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
            .into_iter()
            .map(|set| (set, self.tried.iter().filter(|tried| tried.attempt.set == set).collect()))
    }
}

/// What an attack saw.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Where, if not where the attack was aimed at.
    pub place: Option<Place>,
    /// The set of attempts that shows it; none for what the surface alone shows.
    pub set: Option<usize>,
    /// What is wrong, in one line without a full stop; names the form.
    pub title: String,
    /// What was seen.
    pub what: String,
    pub confidence: Confidence,
    /// If it is not that of the attack.
    pub severity: Option<Severity>,
    /// By design, in words.
    pub note: Option<String>,
    /// Hits of one fault share it: one fix mends them all. Part of the fingerprint.
    pub fault: &'static str,
    /// JSON pointer into the outcome of the last exchange.
    pub pointer: Option<String>,
    /// What the last answer shows of it, if it is seen there.
    pub sign: Option<Indicator>,
    /// Whether it means nothing if it does not come again: somebody else may have caused it.
    pub must_repeat: bool,
}

impl Hit {
    pub fn new(confidence: Confidence, title: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            place: None,
            set: None,
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

    /// What the last answer shows of it.
    #[must_use]
    pub fn sign(mut self, sign: Indicator) -> Self {
        self.sign = Some(sign);
        self
    }

    /// The answer to an attempt holds this text, if it does and is no repetition.
    #[must_use]
    pub fn said(mut self, tried: &Tried, text: &str) -> Self {
        let sent = tried.attempt.payload.as_ref().map(ToString::to_string).unwrap_or_default();
        if !text.is_empty() && !sent.contains(text) && tried.said().contains(text) {
            self.sign = Some(Indicator::says(text));
        }
        self
    }
}
