//! One case as a row of the store: searchable columns, the evidence, and the rest of the result.

use std::collections::BTreeMap;

use quintain_evidence::evidence::Evidence;
use quintain_evidence::graded::GradedTrace;
use quintain_evidence::response::Response;
use quintain_evidence::result::{
    CaseResult, CaseStatus, Grade, PromptText, SourcePlace, TargetName,
};
use quintain_evidence::run_diff::{self, vars_hash};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sqlx::Row as _;

use super::pack::{self, Packed, Packer};
use super::records::{AnswerRow, TraceRow};
use super::sqlite::Row;
use super::{StoreError, index, number};
use crate::masked::MaskedCase;

pub(super) struct CaseRow {
    pub(super) ordinal: i64,
    pub(super) test_idx: i64,
    pub(super) prompt_idx: i64,
    pub(super) repeat: i64,
    pub(super) target: String,
    pub(super) status: &'static str,
    pub(super) score: f64,
    pub(super) latency_ms: f64,
    pub(super) description: Option<String>,
    pub(super) prompt: String,
    pub(super) vars_hash: i64,
    pub(super) result: Packed,
    pub(super) evidence: Packed,
    pub(super) answers: Vec<AnswerRow>,
    pub(super) trace: Option<TraceRow>,
}

/// A case of a run that has a result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finished {
    /// Position of the test after its variables are expanded.
    pub test_idx: usize,
    /// Position of the prompt.
    pub prompt_idx: usize,
    /// 0 for the first repetition.
    pub repeat: u32,
    /// Label or id of the target.
    pub target: String,
    /// A resumed run may retry errored cases.
    pub status: CaseStatus,
}

/// The parts of a result that are neither a column nor evidence.
#[derive(Clone, Serialize)]
struct Rest<'a> {
    group: usize,
    target: &'a TargetName,
    prompt: &'a PromptText,
    vars: &'a Map<String, Value>,
    test: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: &'a Option<SourcePlace>,
    named_scores: &'a BTreeMap<String, f64>,
    response: Response,
    /// `raw` of the response equals the result of the last exchange, so it is not stored twice.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    raw_in_evidence: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    grade: &'a Option<Grade>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: &'a Option<String>,
    attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    graded: &'a Option<Box<GradedTrace>>,
}

/// [`Rest`] for reading.
#[derive(Deserialize)]
struct Stored {
    #[serde(default)]
    group: usize,
    target: TargetName,
    prompt: PromptText,
    vars: Map<String, Value>,
    test: Value,
    place: Option<SourcePlace>,
    named_scores: BTreeMap<String, f64>,
    response: Response,
    #[serde(default)]
    raw_in_evidence: bool,
    grade: Option<Grade>,
    error: Option<String>,
    attempts: u32,
    graded: Option<Box<GradedTrace>>,
}

impl CaseRow {
    /// Identifies the row in its run.
    pub(super) fn key(&self) -> (i64, i64, &str, i64) {
        (self.test_idx, self.prompt_idx, &self.target, self.repeat)
    }

    /// Slow, since it compresses.
    pub(super) fn of(case: &MaskedCase, packer: &mut Packer) -> Result<Self, StoreError> {
        // Destructure, so that the compiler reports a new field that is missing here.
        let CaseResult {
            ordinal,
            test_idx,
            group,
            prompt_idx,
            repeat,
            target,
            prompt,
            description,
            vars,
            test,
            place,
            status,
            score,
            named_scores,
            response,
            evidence,
            grade,
            error,
            latency_ms,
            attempts,
            graded,
        } = &**case;
        let last = evidence.last().and_then(|exchange| exchange.outcome.result());
        let raw_in_evidence = response.raw.is_some() && response.raw.as_ref() == last;
        let raw = if raw_in_evidence { None } else { response.raw.clone() };
        let rest = case.part(|_| Rest {
            group: *group,
            target,
            prompt,
            vars,
            test,
            place,
            named_scores,
            response: Response { raw, ..without_raw(response) },
            raw_in_evidence,
            grade,
            error,
            attempts: *attempts,
            graded,
        });
        let answers = evidence.answers.iter();
        let answers = answers.map(|answer| AnswerRow::of(answer, Some(*ordinal))).collect();
        let trace = graded.as_deref().map(TraceRow::of);
        let mut packed = [Packed::json(&rest)?, Packed::json(&case.part(|_| evidence))?];
        packed.iter_mut().for_each(|packed| packed.shrink(packer));
        let [result, evidence] = packed;
        Ok(Self {
            ordinal: number(*ordinal),
            test_idx: number(*test_idx),
            prompt_idx: number(*prompt_idx),
            repeat: i64::from(*repeat),
            target: target.name().to_owned(),
            status: word(*status),
            // A script may return NaN, which the database cannot store.
            score: if score.is_nan() { 0.0 } else { *score },
            latency_ms: if latency_ms.is_nan() { 0.0 } else { *latency_ms },
            description: description.clone(),
            prompt: prompt.label.clone(),
            vars_hash: vars_hash(vars).cast_signed(),
            result,
            evidence,
            answers,
            trace,
        })
    }
}

/// Clones a response except `raw`, which may be large.
fn without_raw(response: &Response) -> Response {
    let Response {
        output,
        untransformed,
        error,
        raw: _,
        metadata,
        cached,
        token_usage,
        cost,
        finish_reason,
        guardrails,
        log_probs,
    } = response;
    Response {
        output: output.clone(),
        untransformed: untransformed.clone(),
        error: error.clone(),
        raw: None,
        metadata: metadata.clone(),
        cached: *cached,
        token_usage: token_usage.clone(),
        cost: *cost,
        finish_reason: finish_reason.clone(),
        guardrails: guardrails.clone(),
        log_probs: log_probs.clone(),
    }
}

pub(super) fn case(row: &Row) -> Result<CaseResult, StoreError> {
    let columns = || -> sqlx::Result<_> {
        Ok((
            (row.try_get::<i64, _>("ordinal")?, row.try_get::<i64, _>("test_idx")?),
            (row.try_get::<i64, _>("prompt_idx")?, row.try_get::<i64, _>("repeat")?),
            (row.try_get::<f64, _>("score")?, row.try_get::<f64, _>("latency_ms")?),
            row.try_get::<String, _>("status")?,
            row.try_get::<Option<String>, _>("description")?,
            row.try_get::<&[u8], _>("result")?,
            row.try_get::<&[u8], _>("evidence")?,
        ))
    };
    let read = columns().map_err(|error| StoreError::unreadable("case", error))?;
    let ((ordinal, test_idx), (prompt_idx, repeat), (score, latency_ms), status, ..) = &read;
    let (.., description, result, evidence) = &read;
    let stored: Stored = pack::json("result", result)?;
    let evidence: Evidence = pack::json("evidence", evidence)?;
    let mut response = stored.response;
    if stored.raw_in_evidence {
        let last = evidence.last().and_then(|exchange| exchange.outcome.result());
        response.raw = last.cloned();
    }
    Ok(CaseResult {
        ordinal: index(*ordinal),
        test_idx: index(*test_idx),
        group: stored.group,
        prompt_idx: index(*prompt_idx),
        repeat: u32::try_from(*repeat).unwrap_or_default(),
        target: stored.target,
        prompt: stored.prompt,
        description: description.clone(),
        vars: stored.vars,
        test: stored.test,
        place: stored.place,
        status: of_word(status)?,
        score: *score,
        named_scores: stored.named_scores,
        response,
        evidence,
        grade: stored.grade,
        error: stored.error,
        latency_ms: *latency_ms,
        attempts: stored.attempts,
        graded: stored.graded,
    })
}

pub(super) fn finished(row: &Row) -> Result<Finished, StoreError> {
    let read = || -> sqlx::Result<_> {
        Ok(Finished {
            test_idx: index(row.try_get("test_idx")?),
            prompt_idx: index(row.try_get("prompt_idx")?),
            repeat: u32::try_from(row.try_get::<i64, _>("repeat")?).unwrap_or_default(),
            target: row.try_get("target")?,
            status: CaseStatus::Errored,
        })
    };
    let finished = read().map_err(|error| StoreError::unreadable("case", error))?;
    Ok(Finished { status: status(row)?, ..finished })
}

pub(super) fn slim(row: &Row) -> Result<run_diff::Row, StoreError> {
    let read = || -> sqlx::Result<_> {
        Ok(run_diff::Row {
            key: run_diff::Key {
                description: row.try_get("description")?,
                vars: row.try_get::<i64, _>("vars_hash")?.cast_unsigned(),
                prompt: row.try_get("prompt")?,
                target: row.try_get("target")?,
            },
            test_idx: index(row.try_get("test_idx")?),
            repeat: u32::try_from(row.try_get::<i64, _>("repeat")?).unwrap_or_default(),
            status: CaseStatus::Errored,
            score: row.try_get("score")?,
            latency_ms: row.try_get("latency_ms")?,
        })
    };
    let slim = read().map_err(|error| StoreError::unreadable("case", error))?;
    Ok(run_diff::Row { status: status(row)?, ..slim })
}

fn status(row: &Row) -> Result<CaseStatus, StoreError> {
    let word: &str =
        row.try_get("status").map_err(|error| StoreError::unreadable("case", error))?;
    of_word(word)
}

fn word(status: CaseStatus) -> &'static str {
    match status {
        CaseStatus::Passed => "passed",
        CaseStatus::Failed => "failed",
        CaseStatus::Errored => "errored",
    }
}

fn of_word(word: &str) -> Result<CaseStatus, StoreError> {
    match word {
        "passed" => Ok(CaseStatus::Passed),
        "failed" => Ok(CaseStatus::Failed),
        "errored" => Ok(CaseStatus::Errored),
        other => Err(StoreError::unreadable("status", format!("`{other}` is unknown"))),
    }
}
