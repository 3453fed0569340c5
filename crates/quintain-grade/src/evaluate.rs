//! Grades traces: checks, metrics and the policy that makes a verdict of them. [`evaluate`] does it for a list of cases with
//! metrics by their names; the engine grades trace by trace.

mod chosen;

use quintain_evidence::graded::{GradedTrace, MetricScore};
use quintain_evidence::trace::Trace;
use serde::Serialize;

pub use self::chosen::*;
use crate::checks;
use crate::metrics::{self, CompiledMetric, MetricErrors, MetricInput};
use crate::policy::{CallPolicy, FailIf};
use crate::selection::{CaseSelection, SelectionReport, SelectionTally};
use crate::view::View;

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
        let view = View::new(trace);
        let (findings, not_applicable) = checks::run_on(&view, &self.calls);
        let input =
            MetricInput { view: &view, findings: &findings, not_applicable: &not_applicable };
        let scores: Vec<MetricScore> =
            self.metrics.iter().map(|metric| metric.score_alone(&input)).collect();
        let selection = CaseSelection::of(&view);
        let mut graded = GradedTrace {
            name: trace.name.clone().or_else(|| trace.id.clone()).unwrap_or_else(name),
            id: trace.id.clone(),
            success: true,
            findings,
            metrics: scores,
            not_applicable,
            failed_because: Vec::new(),
            source: None,
        };
        self.fail_if.apply(&mut graded);
        Graded { trace: graded, selection }
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
    let chosen: Vec<ChosenMetric> = metrics.into_iter().map(Into::into).collect();
    let named = chosen.iter().map(|metric| (metric.id(), metric.options()));
    let grading = Grading { metrics: metrics::compile_all(named)?, ..Grading::default() };
    let mut results = Vec::new();
    let mut tally = SelectionTally::default();
    for (index, case) in test_cases.into_iter().enumerate() {
        let graded = grading.grade(&case.into(), || format!("case {}", index + 1));
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
    fn mistakes_in_options_are_reported() {
        let wrong = [PatternMatchMetric.option("patern", "x")];
        assert!(evaluate(Vec::<Trace>::new(), wrong).is_err());
    }
}
