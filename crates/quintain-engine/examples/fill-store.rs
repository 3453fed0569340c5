//! `fill-store DIR N`: stores N red-team runs that found the same weakness, for measurements of a full store.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, SystemTime};

use quintain_engine::store::{LOCAL_OWNER, Moment, NewRun, RunEnd, RunKind, Store};
use quintain_evidence::event::RunInfo;
use quintain_evidence::finding::Finding;
use quintain_evidence::redteam_report::RedteamReport;
use quintain_evidence::tally::Summary;
use quintain_wire::redact::Redactor;
use serde_json::{Map, Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, count] = &words[..] else { return Err("Usage: fill-store DIR N".into()) };
    let store = Store::open(Path::new(folder)).await?;
    let redactor = Redactor::default();
    for number in 0..count.parse::<u64>()? {
        let created = SystemTime::UNIX_EPOCH + Duration::from_secs(number * 60);
        let info = RunInfo {
            id: format!("redteam-{number}"),
            created: Moment::from(created).to_string(),
            description: Some(format!("Run {number}")),
            config: json!({}),
            columns: Vec::new(),
            planned: 1,
            options: Map::new(),
            tags: [("number".to_owned(), number.to_string())].into(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            of_traces: false,
        };
        let kind = RunKind::Redteam;
        let new = NewRun { kind, owner: LOCAL_OWNER, info: &info, suite: &[], queued: false };
        let own = format!("{number:08x}");
        let findings = vec![finding("f00dfeed")?, finding(&own)?];
        let report = RedteamReport { findings, ..RedteamReport::default() };
        let summary = Summary { redteam: Some(Box::new(report)), ..Summary::default() };
        store.start(new, &redactor).finish(&summary, RunEnd::Finished).await?;
    }
    store.close().await;
    Ok(())
}

/// A finding with proofs as large as real ones.
fn finding(fingerprint: &str) -> Result<Finding, serde_json::Error> {
    let metadata: Value = json!({"proof": fingerprint.repeat(500)});
    serde_json::from_value(json!({
        "id": format!("F-{fingerprint}"),
        "rule": "sql-injection",
        "title": "SQL injection in `search.query`",
        "severity": "high",
        "confidence": "confirmed",
        "target": "shop",
        "place": {"server": "shop", "tool": "search", "kind": "tool"},
        "cwe": "CWE-89",
        "owasp": [],
        "proofs": [],
        "fingerprint": fingerprint,
        "metadata": metadata,
    }))
}
