//! Masks secrets in everything that a run stores and reports. What cannot be masked is withheld, never shown
//! unmasked.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

use quintain_evidence::event::{Event, RunEvent, RunInfo};
use quintain_evidence::evidence::Evidence;
use quintain_evidence::finding::{Finding, Place};
use quintain_evidence::response::Response;
use quintain_evidence::result::{CaseResult, PromptText, TargetName};
use quintain_evidence::tally::Summary;
use quintain_wire::redact::{MASK, Masked, Redactor, SharedMasked};
use serde_json::{Map, Value};

const WITHHELD: &str = "withheld: it contains a secret that cannot be masked in place";

/// A masked result. The store and all listeners share it.
pub type MaskedCase = SharedMasked<CaseResult>;

/// What a run emits.
pub enum Emitted {
    /// A result, masked when it was complete.
    Case(MaskedCase),
    /// Not masked yet.
    Event(Event),
}

impl From<Event> for Emitted {
    fn from(event: Event) -> Self {
        Self::Event(event)
    }
}

/// An event without secrets. Reports accept nothing else.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskedEvent(Event);

impl Deref for MaskedEvent {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.0
    }
}

/// The emitter of a job masks its events.
impl From<RunEvent> for MaskedEvent {
    fn from(event: RunEvent) -> Self {
        Self(event.event)
    }
}

impl MaskedEvent {
    /// The event itself.
    pub fn into_inner(self) -> Event {
        self.0
    }
}

/// Masks what a run emits. Every event that leaves a run passes through here. A result is searched again only if
/// more secrets are known than when it was masked.
pub fn emitted(emitted: impl Into<Emitted>, redactor: &Redactor) -> MaskedEvent {
    MaskedEvent(match emitted.into() {
        Emitted::Case(result) => Event::Case(case_again(&result, redactor).into_inner()),
        Emitted::Event(plain) => event(plain, redactor),
    })
}

fn event(event: Event, redactor: &Redactor) -> Event {
    match event {
        Event::Started(info) => Event::Started(masked_arc(info, |info| run(info, redactor))),
        Event::Case(result) => Event::Case(case(result, redactor).into_inner()),
        Event::Finished(summary) => {
            Event::Finished(masked_arc(summary, |one| totals(one, redactor)))
        }
        Event::Finding(found) => {
            Event::Finding(masked_arc(found, |found| finding(found, redactor)))
        }
        Event::Warning(text) => Event::Warning(redactor.text(&text).into_owned()),
        Event::Phase(phase) => Event::Phase(phase),
    }
}

/// Returns the same `Arc` without a copy if nothing was masked.
fn masked_arc<T: Clone>(value: Arc<T>, mask: impl for<'a> Fn(&'a T) -> Masked<'a, T>) -> Arc<T> {
    let changed = mask(&value).into_changed();
    changed.map_or(value, Arc::new)
}

/// A result without secrets.
pub(crate) fn case(result: impl Into<Arc<CaseResult>>, redactor: &Redactor) -> MaskedCase {
    redactor.share_masked(result.into(), withheld)
}

/// The same result. Masks it again if this redactor knows more secrets than the one that masked it.
pub(crate) fn case_again(result: &MaskedCase, redactor: &Redactor) -> MaskedCase {
    redactor.share_again(result, withheld)
}

/// Replaces a result that cannot be masked.
fn withheld(result: &CaseResult) -> CaseResult {
    CaseResult {
        prompt: PromptText { raw: MASK.into(), label: MASK.into() },
        target: TargetName { id: MASK.into(), label: None },
        description: result.description.as_ref().map(|_| MASK.to_owned()),
        vars: Map::new(),
        test: Value::from(MASK),
        place: None,
        named_scores: BTreeMap::new(),
        response: Response::default(),
        evidence: Evidence::default(),
        grade: None,
        graded: None,
        error: Some(WITHHELD.to_owned()),
        ..result.clone()
    }
}

/// The information about a run, without secrets.
pub fn run<'a>(info: &'a RunInfo, redactor: &Redactor) -> Masked<'a, RunInfo> {
    redactor.masked_or(info, || RunInfo {
        description: Some(WITHHELD.to_owned()),
        config: Value::Null,
        columns: Vec::new(),
        options: Map::new(),
        tags: BTreeMap::new(),
        ..info.clone()
    })
}

/// The summary of a run, without secrets.
pub(crate) fn totals<'a>(summary: &'a Summary, redactor: &Redactor) -> Masked<'a, Summary> {
    redactor.masked_or(summary, || Summary {
        passed: summary.passed,
        failed: summary.failed,
        errored: summary.errored,
        missing: summary.missing,
        interrupted: summary.interrupted,
        duration_ms: summary.duration_ms,
        ..Summary::default()
    })
}

/// A finding without secrets.
pub(crate) fn finding<'a>(found: &'a Finding, redactor: &Redactor) -> Masked<'a, Finding> {
    redactor.masked_or(found, || Finding {
        title: WITHHELD.to_owned(),
        target: MASK.to_owned(),
        place: Place::Server { server: MASK.to_owned() },
        tool: None,
        argument: None,
        proofs: Vec::new(),
        reproduce: None,
        replay: None,
        places: Vec::new(),
        trial: None,
        strategies: Vec::new(),
        note: None,
        written: None,
        accepted: None,
        steps: Vec::new(),
        metadata: Map::new(),
        ..found.clone()
    })
}
