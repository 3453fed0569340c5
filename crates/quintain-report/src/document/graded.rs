//! The document of `grade`: a result for each trace, then the totals.

use quintain_evidence::event::RunInfo;
use quintain_evidence::result::CaseResult;
use quintain_evidence::tally::Summary;
use serde_json::{Value, json};

/// The version of the layout.
const FORMAT_VERSION: u32 = 1;

/// One trace. A record that could not be read has an error instead of findings.
pub(crate) fn result(case: &CaseResult) -> Value {
    if let Some(graded) = &case.graded {
        return json!(graded);
    }
    json!({
        "name": case.description, "success": false, "findings": [], "metrics": [],
        "error": case.error,
    })
}

pub(crate) fn totals(summary: &Summary) -> Value {
    let mut totals = json!({
        "total": summary.total(),
        "passed": summary.passed,
        "failed": summary.failed,
        "errored": summary.errored,
        "interrupted": summary.interrupted,
        "durationMs": summary.duration_ms,
    });
    if let (Some(grade), Some(totals)) = (&summary.grade, totals.as_object_mut())
        && let Value::Object(grade) = json!(grade)
    {
        totals.extend(grade);
    }
    totals
}

pub(crate) fn own(run: &RunInfo) -> Value {
    json!({
        "version": run.version, "run": run.id, "format_version": FORMAT_VERSION,
        "created": run.created, "options": run.options,
    })
}
