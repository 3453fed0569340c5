//! No column of any table contains a secret, whatever the store is given.

use quintain_evidence::event::{Event, RunEvent};
use quintain_evidence::evidence::Observation;
use quintain_evidence::finding::Place;
use quintain_evidence::redteam_report::RedteamReport;
use quintain_evidence::surface::Surface;
use quintain_evidence::tally::ColumnTally;
use quintain_evidence::tool_call::ToolCall;
use quintain_evidence::trial_record::{TrialKey, TrialRecord, TrialState};
use quintain_redteam::knowledge::Knowledge;
use quintain_wire::redact::MASK;
use secrecy::SecretString;
use serde_json::Value;
use sqlx::{Column as _, Row as _, ValueRef as _};

use super::*;

const CANARY: &str = "s3cr3t-canary-7Qx9";

#[tokio::test]
async fn no_column_of_any_table_contains_a_secret() {
    let (store, directory) = store().await;
    let redactor = Redactor::default();
    redactor.learn(&SecretString::from(CANARY));
    let mut info = info("eval-a", "2026-01-01T00:00:00Z");
    info.description = Some(CANARY.into());
    info.config = json!({CANARY: CANARY});
    info.tags = BTreeMap::from([(CANARY.to_owned(), CANARY.to_owned())]);
    info.columns[0].target.label = Some(CANARY.into());
    let suite = SuiteText {
        name: format!("{CANARY}.yaml"),
        base_dir: format!("/{CANARY}").into(),
        text: format!("token: {CANARY}\n").repeat(200).into(),
    };
    let run = NewRun { suite: &[suite], owner: CANARY, ..new(&info) };
    let writer = store.start(run, &redactor);
    let mut case = case_with_canaries();
    case.evidence.answers = vec![records::answer(CANARY, CANARY)];
    let metric = json!({"name": CANARY, "score": null, "success": null, "threshold": 0.5,
        "reason": CANARY, "findings": []});
    let graded = json!({"name": CANARY, "success": true, "findings": [], "metrics": [metric]});
    case.graded = serde_json::from_value(graded).unwrap();
    writer.case(&shared(case)).await;
    let surface: Surface = serde_json::from_value(surface_with_canaries()).unwrap();
    writer.surfaces(CANARY, &[(CANARY.to_owned(), surface)]).await;
    let call = ToolCall { tool: CANARY.into(), args: Map::new(), server: Some(CANARY.into()) };
    writer.knowledge(&(Knowledge::default(), vec![call])).await;
    let key = TrialKey { attack: CANARY.into(), place: CANARY.into(), nth: 0 };
    let place = Place::Tool { server: CANARY.into(), tool: CANARY.into() };
    let state = TrialState::Answered;
    let record = TrialRecord {
        key,
        place,
        attempts: 1,
        hit: true,
        findings: Vec::new(),
        state,
        prompts: None,
    };
    writer.trial(&record).await;
    writer.answer(&records::answer(CANARY, CANARY)).await;
    let event = Event::Warning(CANARY.to_owned());
    let event = RunEvent { run: "eval-a".into(), sequence: 1, event };
    writer.event_log().push(&event, &redactor).unwrap();
    let mut summary = summary();
    let mut report = RedteamReport::default();
    report.findings.push(records::finding("0123", CANARY));
    summary.redteam = Some(Box::new(report));
    summary.columns.push(ColumnTally::default());
    summary.columns[0].named_scores.insert(CANARY.to_owned(), 1.0);
    writer.finish(&summary, RunEnd::Finished).await.unwrap();
    let body = json!({"connection": {"headers": {"X-Key": CANARY}}});
    let body = redactor.masked(&body).unwrap();
    let (kind, now) = (EntityKind::Generator, "2026-01-01T00:00:00Z");
    let entity = NewEntity { owner: "ann", kind, id: "gen_1", name: "a", body: &body, now };
    assert!(store.insert_entity(entity).await.unwrap());

    let mut checked = 0;
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table'";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&store.pool).await.unwrap();
    for table in tables {
        let sql = sqlx::AssertSqlSafe(format!("SELECT * FROM {table}"));
        let rows = sqlx::query(sql).fetch_all(&store.pool).await.unwrap();
        assert!(!rows.is_empty(), "nothing is in `{table}`: write to it above");
        for (row, at) in rows.iter().flat_map(|row| (0..row.len()).map(move |at| (row, at))) {
            let name = row.column(at).name().to_owned();
            if row.try_get_raw(at).unwrap().is_null() {
                continue;
            }
            let text = row
                .try_get::<String, _>(at)
                .or_else(|_| row.try_get::<Vec<u8>, _>(at).map(|packed| unpacked(&packed)))
                .unwrap_or_default();
            assert!(!text.contains(CANARY), "{table}.{name}: {text}");
            checked += usize::from(text.contains(MASK));
        }
    }
    assert!(checked >= 25, "only {checked} columns were masked");
    store.close().await;
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(CANARY));
    }
}

fn unpacked(packed: &[u8]) -> String {
    String::from_utf8_lossy(&pack::bytes(packed).unwrap()).into_owned()
}

fn case_with_canaries() -> CaseResult {
    let mut result = case(0, CaseStatus::Failed);
    result.description = Some(CANARY.into());
    result.target.label = Some(CANARY.into());
    result.prompt = PromptText { raw: CANARY.into(), label: CANARY.into() };
    result.test = json!({"vars": {CANARY: CANARY}});
    result.vars.insert(CANARY.to_owned(), Value::from(CANARY));
    result.error = Some(CANARY.repeat(100));
    result.evidence.exchanges[0].outcome =
        Outcome::Garbled { why: CANARY.into(), bytes: format!("x{CANARY}").into_bytes() };
    result.evidence.observations.push(Observation::Exit { why: CANARY.into() });
    result.response.metadata.insert(CANARY.to_owned(), Value::from(CANARY));
    result
}

fn surface_with_canaries() -> Value {
    let mut surface = serde_json::to_value(Surface::default()).unwrap();
    surface["problems"] = json!([CANARY]);
    surface
}

#[tokio::test]
async fn a_masked_result_can_be_read_again() {
    let (store, _directory) = store().await;
    let redactor = Redactor::default();
    redactor.learn(&SecretString::from(CANARY));
    let writer = store.start(new(&info("eval-a", "2026-01-01T00:00:00Z")), &redactor);
    let mut case = case_with_canaries();
    case.evidence.answers = vec![records::answer(CANARY, CANARY)];
    let metric = json!({"name": CANARY, "score": null, "success": null, "threshold": 0.5,
        "reason": CANARY, "findings": []});
    let graded = json!({"name": CANARY, "success": true, "findings": [], "metrics": [metric]});
    case.graded = serde_json::from_value(graded).unwrap();
    writer.case(&shared(case)).await;
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
    let run = store.find("eval-a").await.unwrap();
    let read = store.case(&run, 0).await.unwrap().unwrap();
    assert_eq!(read.description.as_deref(), Some(MASK));
    assert_eq!(read.status, CaseStatus::Failed);
}
