//! Tests of the store: round trips, and failures caused by disks and other processes.

mod dialects;
mod entities;
mod failures;
mod lookup;
mod records;
mod round_trip;
mod secrets;
mod states;
mod upgrade;

use std::collections::BTreeMap;
use std::time::Duration;

use quintain_evidence::event::{Column, RunInfo};
use quintain_evidence::evidence::{Evidence, Exchange, Outcome};
use quintain_evidence::response::Response;
use quintain_evidence::result::{CaseResult, CaseStatus, PromptText, SourcePlace, TargetName};
use quintain_evidence::tally::{Summary, Tally};
use quintain_wire::redact::Redactor;
use serde_json::{Map, json};
use tempfile::TempDir;

use super::*;
use crate::masked::{self, MaskedCase};

async fn store() -> (Store, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    (Store::open(directory.path()).await.unwrap(), directory)
}

fn target() -> TargetName {
    TargetName { id: "mcp".into(), label: Some("payments".into()) }
}

fn info(id: &str, created: &str) -> RunInfo {
    RunInfo {
        id: id.into(),
        created: created.into(),
        description: Some(format!("about {id}")),
        config: json!({"prompts": ["x"]}),
        columns: vec![Column {
            target: target(),
            prompt_idx: 0,
            raw: "{{x}}".into(),
            label: "x".into(),
        }],
        planned: 3,
        options: Map::new(),
        tags: BTreeMap::from([("team".to_owned(), id.to_owned())]),
        version: "0".into(),
        of_traces: false,
    }
}

fn case(ordinal: usize, status: CaseStatus) -> CaseResult {
    let reply = json!({"content": [{"type": "text", "text": format!("answer {ordinal}")}]});
    let exchange = Exchange {
        server: "payments".into(),
        method: "tools/call".into(),
        sent: json!({"name": "pay", "arguments": {"n": ordinal}}),
        outcome: Outcome::Reply(reply),
        took: Duration::from_micros(1_500),
        notices: Vec::new(),
    };
    let evidence = Evidence { exchanges: vec![exchange], ..Evidence::default() };
    let vars = Map::from_iter([("n".to_owned(), json!(ordinal))]);
    CaseResult {
        ordinal,
        test_idx: ordinal,
        group: ordinal,
        prompt_idx: 0,
        repeat: 0,
        target: target(),
        prompt: PromptText { raw: format!("{ordinal}"), label: "x".into() },
        description: Some(format!("case {ordinal}")),
        vars,
        test: json!({"assert": [{"type": "is-json"}]}),
        place: Some(SourcePlace { file: "suite.yaml".into(), line: 3, column: 1 }),
        status,
        score: 0.75,
        named_scores: BTreeMap::from([("m".to_owned(), 0.5)]),
        response: Response::of_mcp(&evidence),
        evidence,
        grade: None,
        error: None,
        latency_ms: 1.5,
        attempts: 1,
        graded: None,
    }
}

/// A result that a redactor without secrets masked. A writer masks it again.
fn shared(case: CaseResult) -> MaskedCase {
    masked::case(case, &Redactor::default())
}

fn new(info: &RunInfo) -> NewRun<'_> {
    NewRun { kind: RunKind::Eval, owner: LOCAL_OWNER, info, suite: &[], queued: false }
}

/// Starts a run without secrets.
fn begin(store: &Store, info: &RunInfo) -> Writer {
    store.start(new(info), &Redactor::default())
}

/// Stores a finished run with `cases` passed cases.
async fn stored(store: &Store, id: &str, created: &str, cases: usize) -> Run {
    let info = info(id, created);
    let writer = begin(store, &info);
    let mut tally = Tally::new(&info);
    for ordinal in 0..cases {
        let case = case(ordinal, CaseStatus::Passed);
        tally.add(&case);
        writer.case(&shared(case.clone())).await;
    }
    let summary = tally.finish(Duration::from_secs(1), false);
    writer.finish(&summary, RunEnd::Finished).await.unwrap();
    store.find(id).await.unwrap()
}

fn summary() -> Summary {
    Summary::default()
}
