//! One entry of `results.results`.

use quintain_evidence::evidence::Evidence;
use quintain_evidence::response::Response;
use quintain_evidence::result::{CaseResult, CaseStatus, SourcePlace};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::grading::Grading;
use super::totals::TokenUsage;
use crate::number::{Number, Numbers, millis};

pub(crate) struct Row<'a> {
    pub(super) case: &'a CaseResult,
    pub(super) id: String,
    pub(super) prompt_id: String,
    pub(super) prompt_idx: usize,
    /// Whether to write the exchanges.
    pub(super) evidence: bool,
}

pub(super) fn passed(case: &CaseResult) -> bool {
    case.status == CaseStatus::Passed
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let case = self.case;
        let mut row = out.serialize_map(None)?;
        row.serialize_entry("cost", &Number(case.response.cost.unwrap_or_default()))?;
        if let Some(description) = &case.description {
            row.serialize_entry("description", description)?;
        }
        if let (false, Some(error)) = (passed(case), &case.error) {
            row.serialize_entry("error", error)?;
        }
        row.serialize_entry("gradingResult", &case.grade.as_ref().map(|_| Grading(case)))?;
        row.serialize_entry("id", &self.id)?;
        row.serialize_entry("latencyMs", &millis(case.latency_ms))?;
        row.serialize_entry("namedScores", &Numbers(&case.named_scores))?;
        row.serialize_entry("prompt", &Prompt::of(case))?;
        row.serialize_entry("promptId", &self.prompt_id)?;
        row.serialize_entry("promptIdx", &self.prompt_idx)?;
        row.serialize_entry("provider", &Provider::of(case))?;
        row.serialize_entry("response", &WrittenResponse(&case.response))?;
        row.serialize_entry("score", &Number(case.score))?;
        row.serialize_entry("success", &passed(case))?;
        row.serialize_entry("testCase", &case.test)?;
        row.serialize_entry("testIdx", &case.test_idx)?;
        match &case.response.token_usage {
            Some(usage) => row.serialize_entry("tokenUsage", usage)?,
            None => row.serialize_entry("tokenUsage", &TokenUsage::one_request())?,
        }
        row.serialize_entry("vars", &case.vars)?;
        row.serialize_entry("metadata", &Metadata(case))?;
        let reason = match case.status {
            CaseStatus::Passed => 0,
            CaseStatus::Failed => 1,
            CaseStatus::Errored => 2,
        };
        row.serialize_entry("failureReason", &reason)?;
        if let Some(graded) = &case.graded {
            row.serialize_entry("findings", &graded.findings)?;
            row.serialize_entry("metrics", &graded.metrics)?;
        }
        row.serialize_entry("quintain", &Extra::of(case, self.evidence))?;
        row.end()
    }
}

#[derive(Serialize)]
struct Prompt<'a> {
    raw: &'a str,
    label: &'a str,
    config: Empty,
}

#[derive(Serialize)]
struct Empty {}

impl<'a> Prompt<'a> {
    fn of(case: &'a CaseResult) -> Self {
        Self { raw: &case.prompt.raw, label: &case.prompt.label, config: Empty {} }
    }
}

#[derive(Serialize)]
struct Provider<'a> {
    id: &'a str,
    label: &'a str,
}

impl<'a> Provider<'a> {
    fn of(case: &'a CaseResult) -> Self {
        Self { id: &case.target.id, label: case.target.label.as_deref().unwrap_or_default() }
    }
}

/// The response without empty fields: a refusal is `{"error": ...}` and nothing else.
struct WrittenResponse<'a>(&'a Response);

impl Serialize for WrittenResponse<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let answer = self.0;
        let mut map = out.serialize_map(None)?;
        if let Some(error) = &answer.error {
            map.serialize_entry("error", error)?;
        }
        if answer.error.is_none() || !answer.output.is_null() {
            map.serialize_entry("output", &answer.output)?;
        }
        if let Some(raw) = &answer.raw {
            map.serialize_entry("raw", raw)?;
        }
        if let Some(cost) = answer.cost {
            map.serialize_entry("cost", &Number(cost))?;
        }
        if answer.cached {
            map.serialize_entry("cached", &true)?;
        }
        if let Some(usage) = &answer.token_usage {
            map.serialize_entry("tokenUsage", usage)?;
        }
        if let Some(reason) = &answer.finish_reason {
            map.serialize_entry("finishReason", reason)?;
        }
        if let Some(guardrails) = &answer.guardrails {
            map.serialize_entry("guardrails", guardrails)?;
        }
        if let Some(probabilities) = &answer.log_probs {
            map.serialize_entry("logProbs", probabilities)?;
        }
        if !answer.metadata.is_empty() || answer.error.is_none() {
            map.serialize_entry("metadata", &answer.metadata)?;
        }
        map.end()
    }
}

/// The metadata of the test, overridden by that of the response.
struct Metadata<'a>(&'a CaseResult);

impl Serialize for Metadata<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let answer = &self.0.response.metadata;
        let test = self.0.test.get("metadata").and_then(Value::as_object);
        let test = test.into_iter().flatten().filter(|(key, _)| !answer.contains_key(*key));
        out.collect_map(test.chain(answer))
    }
}

/// What promptfoo's layout has no key for.
#[derive(Serialize)]
struct Extra<'a> {
    ordinal: usize,
    repeat: u32,
    attempts: u32,
    status: CaseStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a SourcePlace>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    proofs: Vec<Cited<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'a Evidence>,
}

#[derive(Serialize)]
struct Cited<'a> {
    /// Index of the entry of `assert`, counting members of sets.
    assertion: usize,
    exchange: usize,
    pointer: &'a str,
}

impl<'a> Extra<'a> {
    fn of(case: &'a CaseResult, evidence: bool) -> Self {
        let components = case.grade.iter().flat_map(|grade| &grade.components).enumerate();
        let proofs = components.flat_map(|(assertion, component)| {
            let proofs = component.verdict.proofs.iter();
            proofs.map(move |proof| Cited {
                assertion,
                exchange: proof.exchange,
                pointer: &proof.pointer,
            })
        });
        let sent = !case.evidence.exchanges.is_empty() || !case.evidence.extra.is_empty();
        Self {
            ordinal: case.ordinal,
            repeat: case.repeat,
            attempts: case.attempts,
            status: case.status,
            place: case.place.as_ref(),
            proofs: proofs.collect(),
            evidence: (evidence && sent).then_some(&case.evidence),
        }
    }
}
