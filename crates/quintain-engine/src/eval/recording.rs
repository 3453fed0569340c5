//! The answers of a stored run, for judging them again.

use std::collections::{HashMap, VecDeque};

use futures_util::TryStreamExt as _;
use quintain_evidence::result::CaseResult;
use quintain_evidence::surface::Surface;
use quintain_suite::plan::{Plan, PlannedCase, Sameness};
use quintain_suite::suite::Suite;
use quintain_wire::redact::Redactor;
use serde_json::Value;

use super::mask::stored_sameness;
use crate::inquiry::AskMode;
use crate::store::{Run, Store, StoreError};

#[derive(Debug)]
pub(crate) struct StoredResponses {
    store: Store,
    run: Run,
    /// For each case of the plan, its position in the stored run.
    places: Vec<usize>,
    /// By target name.
    surfaces: HashMap<String, Vec<(String, Surface)>>,
}

/// Identifies a case even if the suite was edited since.
type Key = (Sameness, String, String, u32);

impl StoredResponses {
    /// Finds the stored responses for the cases of a plan, and removes cases without one from the plan.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(crate) async fn of(
        store: Store,
        run: Run,
        suite: &Suite,
        plan: &mut Plan,
        redactor: &Redactor,
    ) -> Result<Self, StoreError> {
        let mut stored: HashMap<Key, VecDeque<usize>> = HashMap::new();
        let mut cases = store.cases(&run);
        while let Some(case) = cases.try_next().await? {
            stored.entry(key(&case)).or_default().push_back(case.ordinal);
        }
        drop(cases);
        let mut places = Vec::new();
        plan.cases.retain_mut(|planned_case| {
            // Stored values are masked.
            let text = |text: &str| redactor.text(text).into_owned();
            let target = text(suite.targets[planned_case.target].name());
            let prompt = text(&suite.tests.prompts[planned_case.prompt].label);
            let case = planned_case.case(suite);
            let same = stored_sameness(case.test.description.as_deref(), case.vars(), redactor);
            let place = stored.get_mut(&(same, prompt, target, planned_case.repeat));
            let Some(place) = place.and_then(VecDeque::pop_front) else { return false };
            planned_case.ordinal = places.len();
            places.push(place);
            true
        });
        let surfaces = store.surfaces(&run).await?.into_iter().collect();
        Ok(Self { store, run, places, surfaces })
    }

    pub(super) fn surfaces(&self, target: &str) -> Vec<(String, Surface)> {
        self.surfaces.get(target).cloned().unwrap_or_default()
    }

    /// The stored result of a case, with the answers that `ask` allows to reuse.
    pub(super) async fn result(
        &self,
        planned_case: &PlannedCase,
        ask: AskMode,
    ) -> Result<CaseResult, String> {
        let missing = || "the run has no stored response for this test".to_owned();
        let place = *self.places.get(planned_case.ordinal).ok_or_else(missing)?;
        let stored = self.store.case(&self.run, place).await;
        let mut result = stored.map_err(|error| error.to_string())?.ok_or_else(missing)?;
        ask.keep_answers(&mut result.evidence);
        Ok(result)
    }
}

fn key(case: &CaseResult) -> Key {
    let vars = case.test.get("vars").and_then(Value::as_object).unwrap_or(&case.vars);
    let same = Sameness::new(case.description.as_deref(), vars);
    (same, case.prompt.label.clone(), case.target.name().to_owned(), case.repeat)
}
