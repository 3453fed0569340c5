//! What a run tells, without secrets: the form in which results are kept and reported. What cannot be
//! masked is withheld, never shown as it is.

use std::collections::BTreeMap;

use quintain_evidence::event::{Event, RunInfo};
use quintain_evidence::evidence::Evidence;
use quintain_evidence::finding::{Finding, Place};
use quintain_evidence::response::Response;
use quintain_evidence::result::{CaseResult, PromptText, TargetName};
use quintain_evidence::tally::Summary;
use quintain_wire::redact::{MASK, Masked, Redactor};
use serde_json::{Map, Value};

const WITHHELD: &str = "withheld: it contains a secret that cannot be masked in place";

/// Hands an event on without secrets. Reports get events from nowhere else.
pub fn event<R>(event: Event<'_>, redactor: &Redactor, tell: impl FnOnce(Event<'_>) -> R) -> R {
    match event {
        Event::Started(info) => tell(Event::Started(&run(info, redactor))),
        Event::Case(result) => tell(Event::Case(&case(result, redactor))),
        Event::Finished(summary) => tell(Event::Finished(&totals(summary, redactor))),
        Event::Phase(phase) => tell(Event::Phase(&redactor.text(phase))),
        Event::Finding(found) => tell(Event::Finding(&finding(found, redactor))),
    }
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

/// What is known of a run before it starts, without secrets.
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

/// What a run came to, without secrets.
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
