//! Metrics: each turns a trace, and the findings of its checks, into one score. One file each; the registry below lists
//! them all. A metric is compiled from options and may ask a judge.

mod answer_relevancy;
mod argument_correctness;
mod bias;
mod checks;
mod contextual_precision;
mod contextual_recall;
mod contextual_relevancy;
mod conversation_completeness;
mod conversational_g_eval;
mod dag;
mod exact_match;
mod faithfulness;
mod g_eval;
mod goal_accuracy;
mod hallucination;
mod json_correctness;
mod judging;
mod knowledge_retention;
mod loop_detection;
mod mcp_task_completion;
mod mcp_use;
mod misuse;
mod multi_turn_mcp_use;
mod non_advice;
mod options;
mod pattern_match;
mod pii_leakage;
mod plan_adherence;
mod plan_quality;
mod prompt_alignment;
mod role_adherence;
mod role_violation;
mod share;
mod step_efficiency;
mod summarization;
mod task_completion;
mod tool_correctness;
mod tool_permission;
mod tool_use;
mod topic_adherence;
mod toxicity;
mod turn_relevancy;

use quintain_content::registry::Meta;
use quintain_evidence::graded::{MetricScore, NotApplicable, TraceFinding};
use quintain_evidence::inquiry::{MAX_ROUNDS, Next, Rounds};
use quintain_evidence::question::Answer;
use quintain_judge::template::Prompt;
use serde_json::{Map, Value};

use crate::view::View;

pub use self::options::{OptionError, Options};

/// One kind of score.
pub trait Metric: Sync {
    fn meta(&self) -> &'static Meta;

    /// The threshold unless the options set one.
    fn threshold(&self) -> f64 {
        0.5
    }

    /// What a judge would decide beyond the deterministic score.
    fn judge(&self) -> Option<&'static str> {
        None
    }

    /// What a judge is asked, in order; the last one decides. Users can replace each of them.
    fn prompts(&self) -> &'static [Prompt] {
        &[]
    }

    /// Reads the options of the metric. None only if a mistake is reported to `options`.
    fn compile(&self, options: &mut Options<'_>) -> Option<Box<dyn Scorer>>;
}

/// A metric with its options.
pub trait Scorer: Send + Sync {
    /// The next questions, or the result.
    fn next(&self, input: &MetricInput<'_>, rounds: &Rounds) -> Next<Measured>;

    /// Whether it has no score without the default judge of the run.
    fn needs_judge(&self) -> bool {
        false
    }
}

/// What a metric looks at.
pub struct MetricInput<'t> {
    pub view: &'t View<'t>,
    /// The findings of all checks.
    pub findings: &'t [TraceFinding],
    /// The checks that do not apply.
    pub not_applicable: &'t [NotApplicable],
    pub judge: JudgeMode,
}

/// Whether a run has a judge for metrics that name none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JudgeMode {
    /// Metrics that can be computed without a judge do not ask.
    #[default]
    None,
    /// Metrics ask the default judge of the run.
    Default,
}

/// What a metric says about a trace.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    Score(Scored),
    /// The trace lacks what the metric needs.
    Undefined(String),
    /// The metric is defined for the trace but cannot be computed.
    Failed(String),
    /// The opinions of a judge agree too little to decide anything.
    Abstained {
        reason: String,
        details: Map<String, Value>,
    },
}

/// A score with its explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// From 0 to 1.
    pub value: f64,
    pub reason: String,
    pub findings: Vec<TraceFinding>,
    pub details: Map<String, Value>,
    /// Whether a judge had a part in it.
    pub is_judged: bool,
}

impl Scored {
    pub fn new(value: f64, reason: impl Into<String>) -> Self {
        Self {
            value,
            reason: reason.into(),
            findings: Vec::new(),
            details: Map::new(),
            is_judged: false,
        }
    }

    /// Marks the score as an opinion.
    #[must_use]
    pub fn judged(mut self) -> Self {
        self.is_judged = true;
        self
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    #[must_use]
    pub fn proven_by(mut self, findings: Vec<TraceFinding>) -> Self {
        self.findings = findings;
        self
    }
}

impl Measured {
    pub fn undefined(why: impl Into<String>) -> Self {
        Self::Undefined(why.into())
    }
}

/// All metrics, in the order of the reference.
pub static METRICS: &[&dyn Metric] = &[
    &checks::Checks,
    &mcp_use::McpUse,
    &multi_turn_mcp_use::MultiTurnMcpUse,
    &mcp_task_completion::McpTaskCompletion,
    &tool_correctness::ToolCorrectness,
    &argument_correctness::ArgumentCorrectness,
    &step_efficiency::StepEfficiency,
    &plan_adherence::PlanAdherence,
    &tool_permission::ToolPermission,
    &loop_detection::LoopDetection,
    &json_correctness::JsonCorrectness,
    &pii_leakage::PiiLeakage,
    &exact_match::ExactMatch,
    &pattern_match::PatternMatch,
    &task_completion::TaskCompletion,
    &goal_accuracy::GoalAccuracy,
    &tool_use::ToolUse,
    &plan_quality::PlanQuality,
    &g_eval::GEval,
    &conversational_g_eval::ConversationalGEval,
    &dag::Dag,
    &answer_relevancy::AnswerRelevancy,
    &faithfulness::Faithfulness,
    &contextual_precision::ContextualPrecision,
    &contextual_recall::ContextualRecall,
    &contextual_relevancy::ContextualRelevancy,
    &hallucination::Hallucination,
    &summarization::Summarization,
    &prompt_alignment::PromptAlignment,
    &bias::Bias,
    &toxicity::Toxicity,
    &misuse::Misuse,
    &non_advice::NonAdvice,
    &role_violation::RoleViolation,
    &role_adherence::RoleAdherence,
    &knowledge_retention::KnowledgeRetention,
    &conversation_completeness::ConversationCompleteness,
    &topic_adherence::TopicAdherence,
    &turn_relevancy::TurnRelevancy,
];

/// The metric of an id or alias.
pub fn find(name: &str) -> Option<&'static dyn Metric> {
    METRICS.iter().copied().find(|metric| metric.meta().answers_to(name))
}

/// The id or alias that is most similar to an unknown name.
pub fn suggestion(name: &str) -> Option<&'static str> {
    let metas = METRICS.iter().map(|metric| metric.meta());
    crate::nearest::nearest(
        name,
        metas.flat_map(|meta| meta.aliases.iter().copied().chain([meta.id])),
    )
}

/// A metric that can score traces.
pub struct CompiledMetric {
    name: String,
    threshold: f64,
    is_strict: bool,
    has_reason: bool,
    judge: Option<&'static str>,
    scorer: Box<dyn Scorer>,
}

/// All mistakes in the choice of metrics and their options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct MetricErrors(pub Vec<MetricError>);

/// A metric that cannot be used as written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricError {
    #[error("unknown metric `{name}`{}", meant(suggestion.as_deref()))]
    Unknown { name: String, suggestion: Option<String> },
    #[error("{metric}: {error}")]
    Option { metric: String, error: OptionError },
}

fn meant(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Compiles one metric.
///
/// # Errors
/// All mistakes in its name and options.
pub fn compile(name: &str, options: &Map<String, Value>) -> Result<CompiledMetric, MetricErrors> {
    let Some(metric) = find(name) else {
        let suggestion = suggestion(name).map(ToOwned::to_owned);
        return Err(MetricErrors(vec![MetricError::Unknown { name: name.to_owned(), suggestion }]));
    };
    let mut reader = Options::new(options);
    let label = reader.text("name").map_or_else(|| metric.meta().id.to_owned(), ToOwned::to_owned);
    let threshold = reader.share("threshold").unwrap_or_else(|| metric.threshold());
    let is_strict = reader.flag("strictMode").unwrap_or(false);
    let has_reason = reader.flag("includeReason").unwrap_or(true);
    let scorer = metric.compile(&mut reader);
    let errors = reader.finish(metric.meta().id);
    match scorer {
        Some(scorer) if errors.is_empty() => Ok(CompiledMetric {
            name: label,
            threshold: if is_strict { 1.0 } else { threshold },
            is_strict,
            has_reason,
            judge: metric.judge(),
            scorer,
        }),
        _ => Err(MetricErrors(
            errors
                .into_iter()
                .map(|error| MetricError::Option { metric: name.to_owned(), error })
                .collect(),
        )),
    }
}

/// Compiles several metrics.
///
/// # Errors
/// All mistakes in all of them.
pub fn compile_all<'m>(
    metrics: impl IntoIterator<Item = (&'m str, &'m Map<String, Value>)>,
) -> Result<Vec<CompiledMetric>, MetricErrors> {
    let mut compiled = Vec::new();
    let mut errors = Vec::new();
    for (name, options) in metrics {
        match compile(name, options) {
            Ok(metric) => compiled.push(metric),
            Err(found) => errors.extend(found.0),
        }
    }
    if errors.is_empty() { Ok(compiled) } else { Err(MetricErrors(errors)) }
}

impl CompiledMetric {
    /// The id, or the name that the options give.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has no score without the default judge of the run.
    pub fn needs_judge(&self) -> bool {
        self.scorer.needs_judge()
    }

    /// What scores, without threshold and name.
    fn scorer(&self) -> &dyn Scorer {
        self.scorer.as_ref()
    }

    /// The next questions, or the score.
    pub fn next(&self, input: &MetricInput<'_>, rounds: &Rounds) -> Next<MetricScore> {
        match self.scorer.next(input, rounds) {
            Next::Ask(questions) => Next::Ask(questions),
            Next::Done(measured) => Next::Done(self.score(measured)),
        }
    }

    /// The score if nobody answers questions.
    pub fn score_alone(&self, input: &MetricInput<'_>) -> MetricScore {
        let mut rounds = Rounds::default();
        while rounds.len() < MAX_ROUNDS {
            match self.next(input, &rounds) {
                Next::Done(score) => return score,
                Next::Ask(questions) => {
                    let silence = Answer::Unavailable("no judge is configured".to_owned());
                    let answers = vec![silence; questions.len()];
                    rounds.push(questions, answers);
                }
            }
        }
        self.unfinished()
    }

    /// The score of a metric whose questions have no end.
    pub fn unfinished(&self) -> MetricScore {
        self.score(Measured::Failed("the metric does not stop asking".to_owned()))
    }

    fn score(&self, measured: Measured) -> MetricScore {
        let mut score = MetricScore {
            name: self.name.clone(),
            score: None,
            success: None,
            threshold: self.threshold,
            reason: None,
            findings: Vec::new(),
            details: Map::new(),
            judge: self.judge.map(ToOwned::to_owned),
            error: None,
        };
        let reason = match measured {
            Measured::Score(scored) => {
                let value =
                    if scored.value.is_finite() { scored.value.clamp(0.0, 1.0) } else { 0.0 };
                let reached = value >= self.threshold;
                score.score = Some(if self.is_strict && !reached { 0.0 } else { value });
                score.success = Some(reached);
                score.findings = scored.findings;
                score.details = scored.details;
                if scored.is_judged {
                    score.judge = None;
                }
                scored.reason
            }
            Measured::Undefined(why) => format!("not applicable: {why}"),
            Measured::Abstained { reason, details } => {
                score.details = details;
                score.judge = None;
                format!("the judge abstains: {reason}")
            }
            Measured::Failed(error) => {
                score.success = Some(false);
                score.error = Some(error.clone());
                error
            }
        };
        score.reason = self.has_reason.then_some(reason);
        score
    }
}

/// A scorer that never asks.
struct Immediate<F>(F);

impl<F: Fn(&MetricInput<'_>) -> Measured + Send + Sync> Scorer for Immediate<F> {
    fn next(&self, input: &MetricInput<'_>, _: &Rounds) -> Next<Measured> {
        Next::Done(self.0(input))
    }
}

/// A scorer made of a function that decides at once.
fn immediately(
    score: impl Fn(&MetricInput<'_>) -> Measured + Send + Sync + 'static,
) -> Option<Box<dyn Scorer>> {
    Some(Box::new(Immediate(score)))
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
