//! The plan of an application: given, or found by the judge in what it said.

use quintain_judge::template::Values;

use super::scorer::{Judge, Judging, Stop};
use super::transcript::{shown, turns};
use crate::metrics::MetricInput;

/// A task with the plan for it.
pub(in crate::metrics) struct Planned {
    pub(in crate::metrics) request: String,
    /// What happened, for a prompt.
    pub(in crate::metrics) turns: String,
    pub(in crate::metrics) plan: Vec<String>,
}

/// Asks with the prompt `plan`, unless the plan is given. Without a plan there is nothing to grade.
pub(in crate::metrics) fn find(
    input: &MetricInput<'_>,
    judge: &Judge<'_>,
    given: Option<&[String]>,
) -> Judging<Planned> {
    let turns = turns(input.view);
    let users = turns.iter().filter(|turn| turn.is_user).map(|turn| turn.text);
    let request = users.collect::<Vec<_>>().join("\n");
    if request.trim().is_empty() || turns.iter().all(|turn| turn.is_user) {
        return Err(Stop::undefined("the trace records no request with an answer"));
    }
    let shown = shown(&turns, true);
    let plan = if let Some(plan) = given {
        plan.to_vec()
    } else {
        let values = Values::new().quoted("request", &request).quoted("turns", &shown);
        judge.texts("plan", &values, "plan")?
    };
    if plan.is_empty() {
        return Err(Stop::undefined("the trace contains no plan"));
    }
    Ok(Planned { request, turns: shown, plan })
}
