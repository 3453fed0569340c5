//! Findings, answers, conversations, scores and events are read as they were written.

use quintain_evidence::finding::{Confidence, Finding, Place, Severity};
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

#[tokio::test]
async fn answers_are_stored_once_per_question() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("eval-a", DAY));
    let answer = |key: &str, content: &str| AnswerRecord {
        key: key.into(),
        model: Some("judge".into()),
        cost: Some(0.25),
        duration_ms: 12.5,
        content: json!({"answer": content}),
    };
    let call = AnswerRecord { model: None, cost: None, ..answer("b", "called") };
    for one in [&answer("a", "first"), &call, &answer("a", "second")] {
        writer.put_answer(one).await;
    }
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
    let run = store.find("eval-a").await.unwrap();
    let all = [answer("a", "second"), call];
    assert_eq!(store.answers(&run).await.unwrap(), all);
    assert_eq!(store.answer(&run, "b").await.unwrap().as_ref(), Some(&all[1]));
    assert_eq!(store.answer(&run, "c").await.unwrap(), None);
}

#[tokio::test]
async fn traces_and_scores_come_back() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("eval-a", DAY));
    let trace = |ordinal: usize| TraceRecord {
        ordinal,
        name: format!("conversation {ordinal}"),
        content: json!({"turns": vec!["turn"; 500]}),
    };
    let score = |metric: &str, score, passed| ScoreRecord {
        ordinal: 0,
        metric: metric.into(),
        score,
        passed,
        content: json!({"reason": "because"}),
    };
    let scores = [score("a", Some(0.5), Some(false)), score("b", None, None)];
    writer.put_trace(&trace(1)).await;
    writer.put_trace(&trace(0)).await;
    for score in &scores {
        writer.put_score(score).await;
    }
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
    let run = store.find("eval-a").await.unwrap();
    assert_eq!(store.traces(&run).await.unwrap(), [trace(0), trace(1)]);
    assert_eq!(store.scores(&run).await.unwrap(), scores);
}

#[tokio::test]
async fn a_late_listener_reads_the_events_so_far_and_then_the_next() {
    let (store, _directory) = store().await;
    let writer = begin(&store, &info("eval-a", DAY));
    for sequence in 0..1_500_u64 {
        writer.append_event(sequence, &json!({"n": sequence})).await;
    }
    writer.finish(&summary(), RunEnd::Finished).await.unwrap();
    let run = store.find("eval-a").await.unwrap();
    let mut read = Vec::new();
    loop {
        let after = read.last().map(|event: &EventRecord| event.sequence);
        let more = store.events(&run, after).await.unwrap();
        if more.is_empty() {
            break;
        }
        read.extend(more);
    }
    assert_eq!(read.len(), 1_500);
    assert!(read.iter().enumerate().all(|(at, event)| event.sequence == at as u64));
    assert_eq!(read[7].content, json!({"n": 7}));
    assert_eq!(store.events(&run, Some(1_498)).await.unwrap().len(), 1);
}
