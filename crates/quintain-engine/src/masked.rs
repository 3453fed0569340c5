//! Masks secrets in everything that a run stores and reports. What cannot be masked is withheld, never shown
//! unmasked.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::evidence::Evidence;
use quintain_evidence::finding::{Finding, Place};
use quintain_evidence::response::Response;
use quintain_evidence::result::{CaseResult, PromptText, TargetName};
use quintain_evidence::tally::Summary;
use quintain_wire::redact::{MASK, Masked, Redactor};
use serde_json::{Map, Value};

const WITHHELD: &str = "withheld: it contains a secret that cannot be masked in place";

/// An event without secrets. Every event that leaves a run passes through here.
pub fn event(event: Event, redactor: &Redactor) -> Event {
    match event {
        Event::Started(info) => Event::Started(kept(info, |info| run(info, redactor))),
        Event::Case(result) => Event::Case(kept(result, |result| case(result, redactor))),
        Event::Finished(summary) => Event::Finished(kept(summary, |one| totals(one, redactor))),
        Event::Finding(found) => Event::Finding(kept(found, |found| finding(found, redactor))),
        Event::Warning(text) => Event::Warning(redactor.text(&text).into_owned()),
        Event::Phase(phase) => Event::Phase(phase),
    }
}

/// Returns the same `Arc` without a copy if nothing was masked.
fn kept<T: Clone>(value: Arc<T>, mask: impl for<'a> Fn(&'a T) -> Masked<'a, T>) -> Arc<T> {
    let changed = match mask(&value).into_inner() {
        Cow::Owned(changed) => Some(changed),
        Cow::Borrowed(_) => None,
    };
    changed.map_or(value, Arc::new)
}

/// A result without secrets.
pub(crate) fn case<'a>(result: &'a CaseResult, redactor: &Redactor) -> Masked<'a, CaseResult> {
    redactor.masked_or(result, || CaseResult {
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
        error: Some(WITHHELD.to_owned()),
        ..result.clone()
    })
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
        bout: None,
        strategies: Vec::new(),
        note: None,
        written: None,
        accepted: None,
        steps: Vec::new(),
        metadata: Map::new(),
        ..found.clone()
    })
}
