//! `gradingResult`: the grade of a case with the verdicts behind it, sets nested and flattened.

use quintain_evidence::result::{CaseResult, Component, SourcePlace};
use quintain_evidence::tally::Tokens;
use quintain_evidence::verdict::{Status, Verdict};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::totals::TokensUsed;
use crate::number::{Number, Numbers};

/// Scripts may nest their verdicts to any depth; deeper ones are dropped.
const MAX_DEPTH: usize = 8;

pub(super) struct Grading<'a>(pub(super) &'a CaseResult);

impl Serialize for Grading<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut map = out.serialize_map(None)?;
        if let Some(grade) = &self.0.grade {
            map.serialize_entry("pass", &grade.pass)?;
            map.serialize_entry("score", &Number(grade.score))?;
            map.serialize_entry("reason", &grade.reason)?;
            map.serialize_entry("namedScores", &Numbers(&grade.named_scores))?;
            if !grade.named_weights.is_empty() {
                map.serialize_entry("namedScoreWeights", &Numbers(&grade.named_weights))?;
            }
            let used = Tokens::of_models(&self.0.evidence);
            map.serialize_entry("tokensUsed", &TokensUsed::from(&used))?;
            if !grade.components.is_empty() {
                map.serialize_entry("componentResults", &Flattened(&grade.components))?;
            }
        }
        map.end()
    }
}

/// Every component followed by the parts that a script reported.
struct Flattened<'a>(&'a [Component]);

impl Serialize for Flattened<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut list = out.serialize_seq(None)?;
        for (at, component) in self.0.iter().enumerate() {
            let members = if component.is_set() { members(self.0, at) } else { Vec::new() };
            list.serialize_element(&Part::of(component, members))?;
            for part in &component.verdict.components {
                let assertion = Some(&component.assertion);
                let part = Part { assertion, ..Part::of_verdict(part, MAX_DEPTH) };
                list.serialize_element(&part)?;
            }
        }
        list.end()
    }
}

fn members(components: &[Component], set: usize) -> Vec<Part<'_>> {
    let members = components.iter().filter(|component| component.set == Some(set));
    members.map(|member| Part::of(member, Vec::new())).collect()
}

struct Part<'a> {
    verdict: &'a Verdict,
    assertion: Option<&'a Value>,
    parts: Vec<Part<'a>>,
    metadata: Option<Value>,
    place: Option<&'a SourcePlace>,
}

impl<'a> Part<'a> {
    fn of(component: &'a Component, members: Vec<Self>) -> Self {
        let mut part = Self::of_verdict(&component.verdict, MAX_DEPTH);
        part.place = component.place.as_ref();
        if component.is_set() {
            part.metadata = Some(set_metadata(component, members.len()));
            part.parts.extend(members);
        } else {
            part.assertion = Some(&component.assertion);
        }
        part
    }

    fn of_verdict(verdict: &'a Verdict, depth: usize) -> Self {
        let parts = verdict.components.iter().take(if depth == 0 { 0 } else { usize::MAX });
        let parts = parts.map(|part| Self::of_verdict(part, depth.saturating_sub(1))).collect();
        Self { verdict, assertion: None, parts, metadata: None, place: None }
    }
}

/// A set has no `assertion`; its metadata describes it instead.
fn set_metadata(set: &Component, members: usize) -> Value {
    let mut about = Map::new();
    about.insert("type".into(), json!("assert-set"));
    about.insert("assertionCount".into(), json!(members));
    for key in ["metric", "threshold", "weight"] {
        if let Some(value) = set.assertion.get(key) {
            about.insert(key.into(), value.clone());
        }
    }
    let mut metadata = match &set.verdict.metadata {
        Some(Value::Object(map)) => map.clone(),
        _ => Map::new(),
    };
    metadata.entry("assertionSet").or_insert(Value::Object(about));
    Value::Object(metadata)
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let verdict = self.verdict;
        let mut map = out.serialize_map(None)?;
        map.serialize_entry("pass", &verdict.passed())?;
        map.serialize_entry("score", &Number(verdict.score))?;
        map.serialize_entry("reason", &verdict.reason)?;
        if !verdict.named_scores.is_empty() {
            map.serialize_entry("namedScores", &Numbers(&verdict.named_scores))?;
        }
        if !self.parts.is_empty() {
            map.serialize_entry("componentResults", &self.parts)?;
        }
        if let Some(assertion) = self.assertion {
            map.serialize_entry("assertion", assertion)?;
        }
        if let Some(used) = &verdict.tokens_used {
            map.serialize_entry("tokensUsed", used)?;
        }
        match (&self.metadata, &verdict.metadata) {
            (Some(metadata), _) | (None, Some(metadata)) => {
                map.serialize_entry("metadata", metadata)?;
            }
            (None, None) => {}
        }
        let undecided = verdict.status == Status::Error;
        if undecided || self.place.is_some() {
            map.serialize_entry("quintain", &Extra { undecided, place: self.place })?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct Extra<'a> {
    /// The check could not be decided.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    undecided: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<&'a SourcePlace>,
}
