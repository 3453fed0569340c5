//! A run as a report of garak: JSON lines with the attempts and their evaluation, for tools that read such reports.

use std::collections::BTreeMap;

use quintain_engine::store::Run;
use quintain_evidence::result::{CaseResult, CaseStatus};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Platform;
use super::results::plain;
use crate::error::ToolError;

/// The detector of all attempts: the oracles and assertions of Quintain.
const DETECTOR: &str = "quintain.Oracle";

impl Platform {
    /// A run as JSON lines in the form of garak's `report.jsonl`.
    pub(super) async fn garak_report(&self, run: &Run) -> Result<String, ToolError> {
        let mut lines = vec![
            json!({"entry_type": "start_run setup", "run.seed": null, "run.generations": 1, "quintain.run": run.id}),
            json!({"entry_type": "init", "garak_version": null, "quintain_version": self.allowances.version, "start_time": run.created, "run": run.id}),
        ];
        // Probe: passed, hits, attempts without a verdict.
        let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
        for case in self.cases(run, |_| true).await? {
            let probe = probe(&case);
            let count = counts.entry(probe.clone()).or_default();
            let (at, score) = match case.status {
                CaseStatus::Passed => (0, Some(0.0)),
                CaseStatus::Failed => (1, Some(1.0)),
                CaseStatus::Errored => (2, None),
            };
            count[at] += 1;
            lines.push(attempt(run, &case, &probe, score));
        }
        for (probe, [passed, fails, nones]) in counts {
            lines.push(json!({
                "entry_type": "eval", "probe": probe, "detector": DETECTOR, "passed": passed, "fails": fails,
                "nones": nones, "total_evaluated": passed + fails, "total_processed": passed + fails + nones,
            }));
        }
        lines.push(json!({"entry_type": "completion", "run": run.id}));
        Ok(lines.into_iter().fold(String::new(), |text, line| format!("{text}{line}\n")))
    }
}

/// The attack of a case as a probe of garak: a module and a class.
fn probe(case: &CaseResult) -> String {
    let metadata = &case.test["metadata"];
    let named = ["pluginId", "plugin", "entry"].iter().find_map(|key| metadata[*key].as_str());
    named.map_or_else(|| "quintain.Test".to_owned(), |name| format!("quintain.{name}"))
}

fn attempt(run: &Run, case: &CaseResult, probe: &str, score: Option<f64>) -> Value {
    let digest = Sha256::digest(format!("{} {}", run.id, case.ordinal).as_bytes());
    let id = digest.iter().take(16).fold(String::new(), |id, byte| format!("{id}{byte:02x}"));
    json!({
        "entry_type": "attempt",
        "uuid": id,
        "seq": case.ordinal,
        // Sent and evaluated.
        "status": 2,
        "probe_classname": probe,
        "probe_params": {},
        "goal": case.description,
        "prompt": {"turns": [{"role": "user", "content": {"text": case.prompt.raw}}]},
        "outputs": [{"text": plain(&case.response.output)}],
        "detector_results": {DETECTOR: [score]},
        "notes": {"error": case.error},
    })
}
