//! Findings, answers, conversations, scores and events are read as they were written.

use std::sync::Arc;
use std::time::Duration;

use quintain_evidence::answer_record::{AnswerRecord, Cost, KeptAnswer};
use quintain_evidence::event::{Event, Phase, RunEvent};
use quintain_evidence::finding::{Confidence, Finding, Place, Severity};
use quintain_evidence::question::Question;
use quintain_evidence::redteam_report::RedteamReport;

use super::*;

const DAY: &str = "2026-01-01T00:00:00Z";

pub(super) fn finding(fingerprint: &str, title: &str) -> Finding {
    serde_json::from_value(json!({
        "id": format!("F-{fingerprint}"),
        "rule": "sql-injection",
        "title": title,
        "severity": Severity::High,
        "confidence": Confidence::Confirmed,
        "target": "shop",
        "place": Place::Server { server: "shop".into() },
        "cwe": "CWE-89",
        "owasp": [],
        "proofs": [],
        "fingerprint": fingerprint,
    }))
    .unwrap()
}

/// A summary with these findings, the last of them suppressed.
pub(super) fn attacked(fingerprints: &[&str]) -> Summary {
    let mut findings: Vec<_> = fingerprints.iter().map(|one| finding(one, one)).collect();
    let suppressed = findings.pop().into_iter().collect();
    let report = RedteamReport { findings, suppressed, ..RedteamReport::default() };
    Summary { passed: 1, redteam: Some(Box::new(report)), ..Summary::default() }
}

#[tokio::test]
async fn findings_are_rows_and_return_with_the_summary() {
    let (store, _directory) = store().await;
    let summary = attacked(&["aaaa1", "bbbb2", "cccc3"]);
    let info = info("redteam-a", DAY);
    let run = NewRun { kind: RunKind::Redteam, ..new(&info) };
    let writer = store.start(run, &Redactor::default());
    writer.finish(&attacked(&["dddd4", "eeee5"]), RunEnd::Interrupted).await.unwrap();
    let run = store.find("redteam-a").await.unwrap();
    // The resumed run replaces the findings of the interrupted one.
    let writer = store.resume(&run, &Redactor::default());
    writer.finish(&summary, RunEnd::Finished).await.unwrap();
    assert_eq!(store.summary(&run).await.unwrap(), Some(summary.clone()));
    let report = summary.redteam.unwrap();
    let found = store.findings(&run).await.unwrap();
    assert_eq!((found.reported, found.suppressed), (report.findings, report.suppressed));
    let list = store.finding_list(&run).await.unwrap();
    let listed: Vec<_> = list.iter().map(|one| (one.title.as_str(), one.suppressed)).collect();
    assert_eq!(listed, [("aaaa1", false), ("bbbb2", false), ("cccc3", true)]);
    assert_eq!((list[0].severity.as_str(), list[0].rule.as_str()), ("high", "sql-injection"));
}

pub(super) fn answer(key: &str, content: &str) -> AnswerRecord {
    AnswerRecord {
        key: key.to_owned(),
        question: Question::Post { url: "http://judge".to_owned(), body: json!({"ask": key}) },
        answer: KeptAnswer::Value(json!({"content": content, "model": "judge"})),
        took: Duration::from_millis(12),
        cost: Cost { price: Some(0.25), ..Cost::default() },
        unusable: false,
    }
}

#[tokio::test]
async fn answers_of_no_case_are_stored_once_per_question() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("redteam-a", DAY));
    for one in [answer("a", "first"), answer("b", "other"), answer("a", "second")] {
        writer.answer(&one).await;
    }
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
    let run = store.find("redteam-a").await.unwrap();
    let stored = store.answers(&run).await.unwrap();
    let records: Vec<_> = stored.iter().filter_map(|one| one.record.clone()).collect();
    assert_eq!(records, [answer("a", "second"), answer("b", "other")]);
    assert_eq!((stored[0].case, stored[0].kind.as_str()), (None, "web"));
    assert_eq!(stored[0].model.as_deref(), Some("judge"));
}

/// The rows point at the cases, which have the records.
#[tokio::test]
async fn answers_traces_and_scores_of_cases_are_rows() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("grade-a", DAY));
    let metric = |name: &str, score: Option<f64>| {
        json!({"name": name, "score": score, "success": score.map(|score| score > 0.5),
            "threshold": 0.5, "reason": null, "findings": []})
    };
    for (at, score) in [(0, Some(0.5)), (1, Some(1.0)), (2, None)] {
        let mut case = case(at, CaseStatus::Passed);
        case.evidence.answers = vec![answer("a", "yes"), answer("b", "no")];
        let graded = json!({"name": format!("trace {at}"), "success": true, "findings": [],
            "metrics": [metric("task", score), metric("tools", Some(0.0))]});
        case.graded = serde_json::from_value(graded).unwrap();
        writer.case(&shared(case)).await;
    }
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
    let run = store.find("grade-a").await.unwrap();
    let answers = store.answers(&run).await.unwrap();
    assert_eq!(answers.len(), 6);
    assert_eq!((answers[5].case, &answers[5].record), (Some(2), &None));
    let totals = store.answer_totals(&run).await.unwrap();
    assert_eq!((totals.len(), totals[0].count, totals[0].cost), (1, 6, Some(1.5)));
    let means = store.mean_scores(&run).await.unwrap();
    let means: Vec<_> = means.iter().map(|one| (&*one.metric, one.score, one.count)).collect();
    assert_eq!(means, [("task", Some(0.75), 2), ("tools", Some(0.0), 3)]);
    assert_eq!(store.trace_named(&run, "trace 1").await.unwrap(), Some(1));
    assert_eq!(store.trace_named(&run, "trace 9").await.unwrap(), None);
}

#[tokio::test]
async fn events_come_back_in_order_and_refer_to_the_cases() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("eval-a", DAY));
    let log = writer.event_log();
    let redactor = Redactor::default();
    let (mut sent, mut sequence) = (Vec::new(), 0);
    let mut emit = |event: Event| {
        sequence += 1;
        let event = RunEvent { run: "eval-a".into(), sequence, event };
        log.push(&event, &redactor).unwrap();
        sent.push(event);
    };
    emit(Event::Phase(Phase::Probe));
    for ordinal in 0..300 {
        let result = case(ordinal, CaseStatus::Passed);
        if ordinal == 7 {
            writer.unfinished_case(&result);
        } else {
            writer.case(&shared(result.clone())).await;
        }
        emit(Event::Case(Arc::new(result)));
        if ordinal == 150 {
            emit(Event::Warning("in between".to_owned()));
            tokio::task::yield_now().await;
        }
    }
    emit(Event::Finished(Arc::new(summary())));
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
    let run = store.find("eval-a").await.unwrap();
    let mut read: Vec<RunEvent> = Vec::new();
    loop {
        let after = read.last().map_or(0, |event| event.sequence);
        let more = store.events(&run, after).await.unwrap();
        if more.is_empty() {
            break;
        }
        read.extend(more);
    }
    read.extend(store.last_event(&run, read.len() as u64 + 1).await.unwrap());
    assert_eq!(read.len(), sent.len());
    for (read, sent) in read.iter().zip(&sent) {
        assert_eq!(read.sequence, sent.sequence);
        assert_eq!(
            serde_json::to_value(read).unwrap(),
            serde_json::to_value(sent).unwrap(),
            "an event that was stored differs"
        );
    }
    assert_eq!(store.events(&run, 299).await.unwrap()[0].sequence, 300, "in the middle of a row");
}

#[tokio::test]
async fn a_discarded_run_leaves_nothing() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("eval-a", DAY));
    writer.case(&shared(case(0, CaseStatus::Passed))).await;
    writer.discard().await;
    assert_eq!(store.count().await.unwrap(), 0);
}
