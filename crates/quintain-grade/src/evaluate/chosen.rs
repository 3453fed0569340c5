//! Metrics by the names of their classes in deepeval, for use from Rust.

use serde_json::{Map, Value};

/// A metric with its options, not yet checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenMetric {
    id: String,
    options: Map<String, Value>,
}

impl ChosenMetric {
    /// A metric by its id or alias.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), options: Map::new() }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn options(&self) -> &Map<String, Value> {
        &self.options
    }

    #[must_use]
    pub fn threshold(self, threshold: f64) -> Self {
        self.option("threshold", threshold)
    }

    #[must_use]
    pub fn strict_mode(self, is_strict: bool) -> Self {
        self.option("strictMode", is_strict)
    }

    #[must_use]
    pub fn include_reason(self, has_reason: bool) -> Self {
        self.option("includeReason", has_reason)
    }

    /// Sets any option by its name.
    #[must_use]
    pub fn option(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.options.insert(name.to_owned(), value.into());
        self
    }
}

/// Declares a metric under the name of its class.
macro_rules! class {
    ($($(#[$doc:meta])* $name:ident: $id:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name;

        impl $name {
            #[must_use]
            pub fn threshold(self, threshold: f64) -> ChosenMetric {
                ChosenMetric::from(self).threshold(threshold)
            }

            #[must_use]
            pub fn option(self, name: &str, value: impl Into<Value>) -> ChosenMetric {
                ChosenMetric::from(self).option(name, value)
            }
        }

        impl From<$name> for ChosenMetric {
            fn from(_: $name) -> Self {
                Self::new($id)
            }
        }
    )*

    #[cfg(test)]
    const IDS: &[&str] = &[$($id),*];
    };
}

class! {
    /// `mcp-use`
    McpUseMetric: "mcp-use";
    /// `multi-turn-mcp-use`
    MultiTurnMcpUseMetric: "multi-turn-mcp-use";
    /// `multi-turn-mcp-use` under the name that deepeval's documentation uses
    MultiTurnMcpMetric: "multi-turn-mcp-use";
    /// `mcp-task-completion`
    McpTaskCompletionMetric: "mcp-task-completion";
    /// `tool-correctness`
    ToolCorrectnessMetric: "tool-correctness";
    /// `argument-correctness`
    ArgumentCorrectnessMetric: "argument-correctness";
    /// `step-efficiency`
    StepEfficiencyMetric: "step-efficiency";
    /// `plan-adherence`
    PlanAdherenceMetric: "plan-adherence";
    /// `tool-permission`
    ToolPermissionMetric: "tool-permission";
    /// `loop-detection`
    LoopDetectionMetric: "loop-detection";
    /// `json-correctness`
    JsonCorrectnessMetric: "json-correctness";
    /// `pii-leakage`
    PiiLeakageMetric: "pii-leakage";
    /// `exact-match`
    ExactMatchMetric: "exact-match";
    /// `pattern-match`
    PatternMatchMetric: "pattern-match";
    /// `task-completion`
    TaskCompletionMetric: "task-completion";
    /// `goal-accuracy`
    GoalAccuracyMetric: "goal-accuracy";
    /// `tool-use`
    ToolUseMetric: "tool-use";
    /// `plan-quality`
    PlanQualityMetric: "plan-quality";
    /// `g-eval`
    GEvalMetric: "g-eval";
    /// `conversational-g-eval`
    ConversationalGEvalMetric: "conversational-g-eval";
    /// `dag`
    DagMetric: "dag";
    /// `answer-relevancy`
    AnswerRelevancyMetric: "answer-relevancy";
    /// `faithfulness`
    FaithfulnessMetric: "faithfulness";
    /// `contextual-precision`
    ContextualPrecisionMetric: "contextual-precision";
    /// `contextual-recall`
    ContextualRecallMetric: "contextual-recall";
    /// `contextual-relevancy`
    ContextualRelevancyMetric: "contextual-relevancy";
    /// `hallucination`
    HallucinationMetric: "hallucination";
    /// `summarization`
    SummarizationMetric: "summarization";
    /// `prompt-alignment`
    PromptAlignmentMetric: "prompt-alignment";
    /// `bias`
    BiasMetric: "bias";
    /// `toxicity`
    ToxicityMetric: "toxicity";
    /// `misuse`
    MisuseMetric: "misuse";
    /// `non-advice`
    NonAdviceMetric: "non-advice";
    /// `role-violation`
    RoleViolationMetric: "role-violation";
    /// `role-adherence`
    RoleAdherenceMetric: "role-adherence";
    /// `knowledge-retention`
    KnowledgeRetentionMetric: "knowledge-retention";
    /// `conversation-completeness`
    ConversationCompletenessMetric: "conversation-completeness";
    /// `topic-adherence`
    TopicAdherenceMetric: "topic-adherence";
    /// `turn-relevancy`
    TurnRelevancyMetric: "turn-relevancy";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_a_metric_and_every_metric_a_class() {
        for id in IDS {
            assert!(crate::metrics::find(id).is_some(), "{id}");
        }
        for metric in crate::metrics::METRICS {
            let id = metric.meta().id;
            assert!(id == "checks" || IDS.contains(&id), "{id}");
        }
    }
}
