//! What a stored run found, for tools and resources. Text of targets is untrusted: it is made visible where it is shown, and
//! is below a key `untrusted`.

use futures_util::TryStreamExt as _;
use quintain_engine::store::{EntityKind, Run, RunFilter, RunKind};
use quintain_evidence::finding::Finding;
use quintain_evidence::result::{CaseResult, CaseStatus};
use quintain_evidence::tally::Summary;
use quintain_evidence::trial_record::{TrialRecord, TrialState};
use quintain_report::{Options, StoredRun};
use quintain_source::visible;
use serde_json::{Value, json};

use super::Platform;
use crate::error::{ErrorCode, ToolError};
use crate::principal::Principal;

/// Maximum length of a text of a target in a list.
const EXCERPT: usize = 500;
/// Runs among which a finding is looked for.
const RUNS: usize = 200;
/// Minimum length of the beginning of a fingerprint.
const MIN_DIGITS: usize = 4;

/// The counts of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counts {
    pub attempts: usize,
    pub hits: usize,
    pub errors: usize,
    pub hit_at_k: Vec<(usize, f64)>,
}

impl Counts {
    /// Counts prompts of a suite, or attacked places of a red-team run.
    pub fn of(summary: &Summary) -> Self {
        let Some(report) = &summary.redteam else {
            return Self {
                attempts: summary.passed + summary.failed,
                hits: summary.failed,
                errors: summary.errored,
                hit_at_k: Vec::new(),
            };
        };
        let mut counts = Self::default();
        for attack in &report.attacks {
            counts.attempts += attack.trials;
            counts.hits += attack.hits;
            counts.errors += attack.unanswered;
        }
        let repeated: Vec<_> =
            report.attacks.iter().filter(|one| !one.pass_at.is_empty()).collect();
        let deepest = repeated.iter().map(|one| one.pass_at.len()).max().unwrap_or_default();
        for at in 0..deepest {
            let found: Vec<(usize, f64)> =
                repeated.iter().filter_map(|one| one.pass_at.get(at).copied()).collect();
            let mean = found.iter().map(|(_, rate)| rate).sum::<f64>() / found.len() as f64;
            counts.hit_at_k.extend(found.first().map(|(k, _)| (*k, mean)));
        }
        counts
    }

    /// Counts what a red-team run has finished so far.
    pub fn of_trials(trials: &[TrialRecord]) -> Self {
        let mut counts = Self::default();
        for trial in trials {
            match (trial.state, &trial.prompts) {
                (TrialState::Answered, Some(prompts)) => {
                    counts.attempts += prompts.iter().map(|count| count.sent).sum::<usize>();
                    counts.hits += prompts.iter().map(|count| count.hits).sum::<usize>();
                }
                (TrialState::Answered, None) => {
                    counts.attempts += 1;
                    counts.hits += usize::from(trial.hit);
                }
                (TrialState::Unanswered, _) => counts.errors += 1,
                (TrialState::NotSent, _) => {}
            }
        }
        counts
    }

    pub fn as_json(&self) -> Value {
        let Self { attempts, hits, errors, hit_at_k } = self;
        let rate = if *attempts == 0 { 0.0 } else { *hits as f64 / *attempts as f64 };
        let (low, high) = wilson(*hits, *attempts);
        let hit_at_k: Vec<Value> =
            hit_at_k.iter().map(|(k, rate)| json!({"k": k, "rate": rate})).collect();
        json!({
            "attempts": attempts, "hits": hits, "hit_rate": rate, "ci95": [low, high],
            "hit_at_k": hit_at_k, "errors": errors,
        })
    }
}

/// The 95 % confidence interval of a rate (Wilson).
pub fn wilson(hits: usize, attempts: usize) -> (f64, f64) {
    if attempts == 0 {
        return (0.0, 1.0);
    }
    let (n, z) = (attempts as f64, 1.959_963_984_540_054_f64);
    let p = hits as f64 / n;
    let centre = p + z * z / (2.0 * n);
    let spread = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    (((centre - spread) / scale).max(0.0), ((centre + spread) / scale).min(1.0))
}

/// The id of a finding: the same weakness has the same one in every run.
pub fn finding_id(finding: &Finding) -> String {
    format!("fnd_{}", finding.fingerprint)
}

/// A finding in a list.
pub fn finding_json(finding: &Finding, run: &str) -> Value {
    let proof = finding.proofs.first();
    json!({
        "id": finding_id(finding),
        "finding_id": finding_id(finding),
        "fingerprint": finding.fingerprint,
        "run_id": run,
        "rule": finding.rule,
        "title": visible(&finding.title),
        "severity": finding.severity.word(),
        "confidence": finding.confidence.word(),
        "tool": finding.tool,
        "argument": finding.argument,
        "place": visible(&finding.place.to_string()),
        "cwe": finding.cwe.iter().map(|number| format!("CWE-{number}")).collect::<Vec<_>>(),
        "owasp": finding.owasp,
        "strategies": finding.strategies,
        "proof": proof.map(|proof| shown(&proof.what)),
        "untrusted": {"payload": proof.and_then(|proof| proof.payload.as_ref()).map(|value| shown(&plain(value)))},
    })
}

/// A case in a list.
pub fn case_json(case: &CaseResult, is_detailed: bool) -> Value {
    let components = case.grade.iter().flat_map(|grade| &grade.components);
    let scores: Vec<Value> = components
        .map(|one| {
            json!({
                "scorer": one.assertion.get("type"),
                "value": one.verdict.score,
                "pass": one.verdict.passed(),
                "reason": shown(&one.verdict.reason),
            })
        })
        .collect();
    let status = match case.status {
        CaseStatus::Passed => "passed",
        CaseStatus::Failed => "hit",
        CaseStatus::Errored => "error",
    };
    let cut = |text: &str| if is_detailed { visible(text).into_owned() } else { shown(text) };
    json!({
        "index": case.ordinal,
        "status": status,
        "description": case.description.as_deref().map(shown),
        "score": case.score,
        "scores": scores,
        "latency_ms": case.latency_ms,
        "error": case.error.as_deref().map(cut),
        "untrusted": {"prompt": cut(&case.prompt.raw), "output": cut(&plain(&case.response.output))},
    })
}

/// A value as text.
pub fn plain(value: &Value) -> String {
    value.as_str().map_or_else(
        || if value.is_null() { String::new() } else { value.to_string() },
        str::to_owned,
    )
}

/// Text of a target as it is shown: short, and without characters that are invisible or control terminals.
pub fn shown(text: &str) -> String {
    let mut cut: String = text.chars().take(EXCERPT).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    visible(&cut).into_owned()
}

impl Platform {
    /// The counts of a run; of one that has not ended, those so far.
    pub async fn counts(&self, run: &Run) -> Result<(Counts, Option<Summary>), ToolError> {
        let summary = self.store.summary(run).await?;
        let counts = if let Some(summary) = &summary {
            Counts::of(summary)
        } else if run.kind == RunKind::Redteam {
            // The same unit as in a summary, so that counts never shrink when the run ends.
            Counts::of_trials(&self.store.trials(run).await?)
        } else {
            let mut counts = Counts::default();
            for case in self.store.finished(run).await? {
                match case.status {
                    CaseStatus::Passed => counts.attempts += 1,
                    CaseStatus::Failed => {
                        counts.attempts += 1;
                        counts.hits += 1;
                    }
                    CaseStatus::Errored => counts.errors += 1,
                }
            }
            counts
        };
        Ok((counts, summary))
    }

    /// The findings of a run, one per place.
    pub async fn findings(&self, run: &Run) -> Result<Vec<Finding>, ToolError> {
        let found = self.store.findings(run).await?;
        Ok(found.reported.iter().flat_map(Finding::parts).cloned().collect())
    }

    /// The cases of a run that `keep` selects.
    pub async fn cases(
        &self,
        run: &Run,
        mut keep: impl FnMut(&CaseResult) -> bool + Send,
    ) -> Result<Vec<CaseResult>, ToolError> {
        let mut cases = self.store.cases(run);
        let mut kept = Vec::new();
        while let Some(case) = cases.try_next().await? {
            if keep(&case) {
                kept.push(case);
            }
        }
        Ok(kept)
    }

    /// A finding of a principal by its id or the beginning of its fingerprint, with the latest run that has it.
    pub async fn found_finding(
        &self,
        principal: &Principal,
        wanted: &str,
    ) -> Result<(Run, Finding), ToolError> {
        let digits = wanted.strip_prefix("fnd_").or(wanted.strip_prefix("F-")).unwrap_or(wanted);
        let missing =
            || ToolError::new(ErrorCode::NotFound, format!("there is no finding `{wanted}`"));
        if digits.len() < MIN_DIGITS {
            return Err(missing());
        }
        let filter = RunFilter {
            owner: Some(principal.owner.clone()),
            limit: Some(RUNS),
            ..RunFilter::default()
        };
        for run in self.store.runs(&filter).await? {
            if let Some(finding) = self.store.finding(&run, digits).await? {
                return Ok((run, finding));
            }
        }
        Err(missing())
    }

    /// What the principal said about a finding.
    pub async fn mark_of(
        &self,
        principal: &Principal,
        finding: &Finding,
    ) -> Result<Option<Value>, ToolError> {
        let kind = EntityKind::Mark;
        let mark = self.store.entity(&principal.owner, kind, &finding.fingerprint).await?;
        Ok(mark.map(|mark| mark.body))
    }

    /// A run as a report in a format.
    pub async fn report(&self, run: &Run, format: &str) -> Result<String, ToolError> {
        if format == "garak_jsonl" {
            return self.garak_report(run).await;
        }
        let reporter = quintain_report::find(format).ok_or_else(|| {
            let what = format!("there is no format `{format}`");
            ToolError::new(ErrorCode::UnsupportedCapability, what)
        })?;
        let buffer = SharedBuffer::default();
        let stored = StoredRun {
            kind: run.kind.word().to_owned(),
            owner: run.owner.clone(),
            state: run.state.word().to_owned(),
        };
        let options = Options { stored: Some(stored), ..Options::default() };
        let mut report = reporter.open(Box::new(buffer.clone()), &options);
        let mut failure = None;
        self.store
            .replay(run, |event| {
                if let Err(error) = report.event(&event) {
                    failure.get_or_insert(error);
                }
            })
            .await?;
        if let Some(error) = failure {
            return Err(ToolError::new(ErrorCode::Internal, format!("the report failed: {error}")));
        }
        drop(report);
        Ok(buffer.text())
    }
}

/// Whether a run attacks.
pub fn is_attack(run: &Run) -> bool {
    matches!(run.kind, RunKind::Redteam | RunKind::Replay)
}

/// A buffer that the writer and its reader share.
#[derive(Clone, Default)]
struct SharedBuffer(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl SharedBuffer {
    fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl std::io::Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_wilson() {
        let (low, high) = wilson(5, 10);
        assert!((low - 0.2366).abs() < 1e-3 && (high - 0.7634).abs() < 1e-3, "{low} {high}");
        assert_eq!(wilson(0, 0), (0.0, 1.0));
        assert!(wilson(0, 10).0 < 1e-9 && wilson(0, 10).1 > 0.2);
    }

    #[test]
    fn text_of_targets_is_made_visible() {
        let text = shown("a\u{202e}b\u{1b}[31m\u{200b}\u{e0041}");
        assert!(!text.contains(['\u{202e}', '\u{1b}', '\u{200b}', '\u{e0041}']), "{text}");
    }
}
