//! Grades traces: checks, metrics and the policy that makes a verdict of them. [`evaluate`] does it for a list of cases with
//! metrics by their names; the engine grades trace by trace.

mod chosen;
mod session;

use quintain_evidence::graded::GradedTrace;
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::trace::Trace;
use serde::Serialize;

pub use self::chosen::*;
pub use self::session::{CheckResults, GradingSession};
use crate::metrics::{self, CompiledMetric, JudgeMode, MetricErrors};
use crate::policy::{CallPolicy, FailIf};
use crate::selection::{CaseSelection, SelectionReport, SelectionTally};

/// How traces are graded.
#[derive(Default)]
pub struct Grading {
    pub metrics: Vec<CompiledMetric>,
    pub calls: CallPolicy,
    pub fail_if: FailIf,
}

/// A trace with its verdict, and what it says about the choice of tools.
pub struct Graded {
    pub trace: GradedTrace,
    pub selection: Option<CaseSelection>,
}

impl Grading {
    /// Grades one trace without asking anybody. `name` is used if the trace has neither name nor id.
    pub fn grade(&self, trace: &Trace, name: impl FnOnce() -> String) -> Graded {
        self.grade_with(trace, name, JudgeMode::None, |_| {
            Answer::Unavailable("no judge is configured".to_owned())
        })
    }

    /// Grades one trace, and asks `judge` what metrics ask.
    pub fn grade_with(
        &self,
        trace: &Trace,
        name: impl FnOnce() -> String,
        mode: JudgeMode,
        mut judge: impl FnMut(&Question) -> Answer,
    ) -> Graded {
        let mut session = GradingSession::new(self, trace, mode);
        while !session.questions().is_empty() {
            let answers: Vec<Answer> = session.questions().iter().map(&mut judge).collect();
            session.answer(&answers);
        }
        session.finish(name)
    }
}

/// The verdicts on several traces.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Evaluation {
    pub results: Vec<GradedTrace>,
    pub summary: EvaluationSummary,
    /// The choice of tools, if cases have expected calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectionReport>,
}

/// Counts of verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct EvaluationSummary {
    pub total: usize,
    pub passed: usize,
    pub failed: usize,
}

/// Grades test cases with metrics, as the function of the same name in deepeval does.
///
/// ```
/// use quintain_grade::case::{LlmTestCase, McpServer, McpToolCall};
/// use quintain_grade::evaluate::{McpUseMetric, evaluate};
/// use serde_json::json;
///
/// let tools = [json!({"name": "create_issue", "inputSchema": {"type": "object"}})];
/// let test_case = LlmTestCase {
///     input: "Open an issue about the typo".into(),
///     actual_output: Some("I opened issue 12.".into()),
///     mcp_servers: vec![McpServer::new().server_name("GitHub").available_tools(tools)],
///     mcp_tools_called: vec![McpToolCall::new("create_isue", json!({"title": "Typo"}))],
///     ..LlmTestCase::default()
/// };
/// let evaluation = evaluate([test_case], [McpUseMetric]).unwrap();
/// assert_eq!(evaluation.results[0].metrics[0].score, Some(0.0));
/// assert_eq!(evaluation.results[0].findings[0].check, "tool.unknown");
/// ```
///
/// The same for conversations:
///
/// ```
/// use quintain_grade::case::{ConversationalTestCase, McpServer, McpToolCall, Turn};
/// use quintain_grade::evaluate::{MultiTurnMcpMetric, evaluate};
/// use serde_json::json;
///
/// let tools = [json!({"name": "search", "inputSchema": {"type": "object"}})];
/// let test_case = ConversationalTestCase {
///     turns: vec![
///         Turn::user("Is there an issue about the typo?"),
///         Turn {
///             mcp_tools_called: vec![McpToolCall::new("search", json!({}))],
///             ..Turn::assistant("There is none.")
///         },
///     ],
///     mcp_servers: vec![McpServer::new().available_tools(tools)],
///     ..ConversationalTestCase::default()
/// };
/// let evaluation = evaluate([test_case], [MultiTurnMcpMetric]).unwrap();
/// assert_eq!(evaluation.results[0].metrics[0].score, Some(1.0));
/// ```
///
/// # Errors
/// All mistakes in the options of the metrics.
pub fn evaluate<T: Into<Trace>, M: Into<ChosenMetric>>(
    test_cases: impl IntoIterator<Item = T>,
    metrics: impl IntoIterator<Item = M>,
) -> Result<Evaluation, MetricErrors> {
    let nobody = |_: &Question| Answer::Unavailable("no judge is configured".to_owned());
    run(test_cases, metrics, JudgeMode::None, nobody)
}

/// Grades test cases with metrics and a judge of your own: a function that answers questions.
///
/// ```
/// use quintain_grade::case::LlmTestCase;
/// use quintain_grade::evaluate::{GEvalMetric, evaluate_with};
/// use quintain_judge::consultation::reply;
/// use serde_json::json;
///
/// let test_case = LlmTestCase::new("What is the capital of France?", "Paris");
/// let metric = GEvalMetric
///     .option("criteria", "The answer is correct")
///     .option("evaluationSteps", json!(["Compare the answer with what you know"]));
/// // A real judge would read the prompt of the question.
/// let judge = |_: &_| reply(json!({"score": 9, "reason": "Paris is right."}));
/// let evaluation = evaluate_with([test_case], [metric], judge).unwrap();
/// assert_eq!(evaluation.results[0].metrics[0].score, Some(0.9));
/// ```
///
/// # Errors
/// All mistakes in the options of the metrics.
pub fn evaluate_with<T: Into<Trace>, M: Into<ChosenMetric>>(
    test_cases: impl IntoIterator<Item = T>,
    metrics: impl IntoIterator<Item = M>,
    judge: impl FnMut(&Question) -> Answer,
) -> Result<Evaluation, MetricErrors> {
    run(test_cases, metrics, JudgeMode::Default, judge)
}

fn run<T: Into<Trace>, M: Into<ChosenMetric>>(
    test_cases: impl IntoIterator<Item = T>,
    metrics: impl IntoIterator<Item = M>,
    mode: JudgeMode,
    mut judge: impl FnMut(&Question) -> Answer,
) -> Result<Evaluation, MetricErrors> {
    let chosen: Vec<ChosenMetric> = metrics.into_iter().map(Into::into).collect();
    let named = chosen.iter().map(|metric| (metric.id(), metric.options()));
    let grading = Grading { metrics: metrics::compile_all(named)?, ..Grading::default() };
    let mut results = Vec::new();
    let mut tally = SelectionTally::default();
    for (index, case) in test_cases.into_iter().enumerate() {
        let name = || format!("case {}", index + 1);
        let graded = grading.grade_with(&case.into(), name, mode, &mut judge);
        if let Some(selection) = &graded.selection {
            tally.add(selection);
        }
        results.push(graded.trace);
    }
    let passed = results.iter().filter(|graded| graded.success).count();
    let summary =
        EvaluationSummary { total: results.len(), passed, failed: results.len() - passed };
    Ok(Evaluation { results, summary, selection: tally.report() })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{ExpectedCall, Role};
    use serde_json::json;

    use super::*;
    use crate::metrics::testing::trace_with_tools;

    fn expecting(expected: &str, called: &str) -> Trace {
        let mut trace = trace_with_tools(&["a", "b"], &[called]);
        trace.say(Role::Assistant, "Done.");
        trace.expected.calls =
            Some(vec![ExpectedCall { name: expected.to_owned(), ..ExpectedCall::default() }]);
        trace
    }

    #[test]
    fn cases_are_graded_in_order_with_all_metrics() {
        let cases = [expecting("a", "a"), expecting("a", "b")];
        let metrics: [ChosenMetric; 2] =
            [ToolCorrectnessMetric.threshold(0.9), McpUseMetric.into()];
        let found = evaluate(cases, metrics).unwrap();
        assert_eq!(found.summary, EvaluationSummary { total: 2, passed: 1, failed: 1 });
        assert_eq!(found.results[1].name, "case 2");
        assert_eq!(
            found.results[1].failed_because,
            ["tool-correctness: 0.00 is below the threshold 0.9"]
        );
        assert_eq!(found.selection.unwrap().accuracy.count, 1);
    }

    #[test]
    fn findings_fail_a_case_by_the_policy() {
        let unknown = trace_with_tools(&["a"], &["x"]);
        let lists = json!({"severity": null});
        let found = evaluate([unknown.clone()], [ExactMatchMetric]).unwrap();
        assert!(!found.results[0].success, "a finding of severity error fails by default");
        let lenient =
            Grading { fail_if: serde_json::from_value(lists).unwrap(), ..Grading::default() };
        let graded = lenient.grade(&unknown, || "case".to_owned());
        assert!(graded.trace.success && !graded.trace.findings.is_empty());
    }

    #[test]
    fn a_judge_of_the_caller_is_asked_every_question_once() {
        let cases = [expecting("a", "a"), expecting("a", "b")];
        let metrics: [ChosenMetric; 3] = [
            McpUseMetric.into(),
            McpUseMetric.option("name", "again"),
            McpUseMetric.option("name", "alone").option("judge", false),
        ];
        let mut asked = 0;
        let judge = |_: &Question| {
            asked += 1;
            quintain_judge::consultation::reply(json!({"score": 0.6, "reason": "fair"}))
        };
        let found = evaluate_with(cases, metrics, judge).unwrap();
        assert_eq!(asked, 4, "choice and arguments of each case");
        let scores: Vec<_> = found.results[1].metrics.iter().map(|metric| metric.score).collect();
        assert_eq!(scores, [Some(0.6), Some(0.6), Some(1.0)]);
    }

    #[test]
    fn a_judge_that_is_silent_fails_a_case_as_an_error() {
        let cases = [expecting("a", "a")];
        let silent = |_: &Question| Answer::Failed("timeout".to_owned());
        let found = evaluate_with(cases, [McpUseMetric], silent).unwrap();
        let metric = &found.results[0].metrics[0];
        assert_eq!((metric.score, metric.success), (None, Some(false)));
        assert_eq!(metric.error.as_deref(), Some("the judge gave no verdict: timeout"));
        assert_eq!(found.results[0].failed_because, ["mcp-use could not be computed"]);
    }

    #[test]
    fn recorded_verdicts_judge_without_a_model() {
        let case = || expecting("a", "a");
        let mut file = Vec::new();
        let judge = |question: &Question| {
            let answer = quintain_judge::consultation::reply(json!({"score": 0.7, "reason": "x"}));
            quintain_judge::log::write(&mut file, question, &answer).unwrap();
            answer
        };
        let first = evaluate_with([case()], [McpUseMetric], judge).unwrap();
        let (log, errors) = quintain_judge::log::JudgeLog::read(file.as_slice());
        assert_eq!((log.len(), errors), (2, Vec::new()));
        let again =
            evaluate_with([case()], [McpUseMetric], |question: &Question| log.answer(question));
        assert_eq!(again.unwrap(), first);
    }

    #[test]
    fn mistakes_in_options_are_reported() {
        let wrong = [PatternMatchMetric.option("patern", "x")];
        assert!(evaluate(Vec::<Trace>::new(), wrong).is_err());
    }
}
