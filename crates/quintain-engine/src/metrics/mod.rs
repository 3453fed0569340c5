//! Scores one trace with the metrics of a run, and asks what they ask. `grade` reads its traces; the cases of `eval` become
//! traces.

mod components;
mod suite;

use quintain_evidence::evidence::Evidence;
use quintain_grade::evaluate::{Graded, GradingSession};
use quintain_grade::metrics::JudgeMode;
use quintain_grade::readers::Router;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::inquiry::Asker;
use crate::models::ModelSettings;

pub(crate) use components::{assertion, check_components, metric_component, verdict};
pub use suite::SuiteMetrics;

/// A metric with its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricRequest {
    #[serde(rename = "type")]
    pub name: String,
    #[serde(flatten)]
    pub options: Map<String, Value>,
}

/// How a router is called; what is absent is recognised by its usual names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RouterRequest {
    pub tool: Option<String>,
    pub server_arg: Option<String>,
    pub tool_arg: Option<String>,
    pub params_arg: Option<String>,
}

impl From<&RouterRequest> for Router {
    fn from(request: &RouterRequest) -> Self {
        let RouterRequest { tool, server_arg, tool_arg, params_arg } = request.clone();
        Self { tool, server_arg, tool_arg, params_arg }
    }
}

/// Whether metrics ask a judge in a run with these models.
pub(crate) fn judge_mode(models: &ModelSettings) -> JudgeMode {
    if models.has_judge() { JudgeMode::Default } else { JudgeMode::None }
}

/// Finishes the grade of a trace. The answers to what metrics ask become evidence. `name` is used if the trace has neither
/// name nor id.
pub(crate) async fn score(
    mut session: GradingSession<'_, '_>,
    asker: &Asker<'_>,
    evidence: &mut Evidence,
    name: impl FnOnce() -> String,
) -> Graded {
    while !session.questions().is_empty() {
        let questions = session.questions().to_vec();
        let answers = asker.ask(&questions, evidence).await;
        session.answer(&answers);
    }
    asker.reject(&session.unusable(), evidence).await;
    session.finish(name)
}
