//! Grading one trace with questions in between: rounds of questions of all metrics, until every metric has its score.
//! Who answers them, and when, is up to the caller.

use quintain_evidence::graded::{GradedTrace, MetricScore, NotApplicable, TraceFinding};
use quintain_evidence::inquiry::{MAX_ROUNDS, Next, Rounds};
use quintain_evidence::question::{Answer, Question};
use quintain_evidence::trace::Trace;
use quintain_judge::consultation::Questions;

use super::{Graded, Grading};
use crate::checks;
use crate::metrics::{JudgeMode, MetricInput};
use crate::policy::CallPolicy;
use crate::selection::CaseSelection;
use crate::view::View;

/// What the checks say about a trace. They need nothing but the trace, so they can run in another thread.
#[derive(Debug, Default)]
pub struct CheckResults {
    findings: Vec<TraceFinding>,
    not_applicable: Vec<NotApplicable>,
}

impl CheckResults {
    pub fn of(trace: &Trace, policy: &CallPolicy) -> Self {
        let (findings, not_applicable) = checks::run(trace, policy);
        Self { findings, not_applicable }
    }
}

/// A trace that is being graded.
pub struct GradingSession<'g, 't> {
    grading: &'g Grading,
    trace: &'t Trace,
    findings: Vec<TraceFinding>,
    not_applicable: Vec<NotApplicable>,
    selection: Option<CaseSelection>,
    mode: JudgeMode,
    metrics: Vec<MetricState>,
    /// Of this round, each once.
    questions: Questions,
}

#[derive(Default)]
struct MetricState {
    rounds: Rounds,
    /// Questions of this round, with their positions among those of all metrics.
    asked: Vec<(Question, usize)>,
    score: Option<MetricScore>,
}

impl<'g, 't> GradingSession<'g, 't> {
    /// Runs the checks, and the metrics as far as they get without answers.
    pub fn new(grading: &'g Grading, trace: &'t Trace, mode: JudgeMode) -> Self {
        let view = View::new(trace);
        let (findings, not_applicable) = checks::run_on(&view, &grading.calls);
        let checked = CheckResults { findings, not_applicable };
        let mut session = Self::begin(grading, trace, mode, checked, CaseSelection::of(&view));
        session.advance(&view);
        session
    }

    /// The same with checks that ran before.
    pub fn checked(
        grading: &'g Grading,
        trace: &'t Trace,
        mode: JudgeMode,
        checked: CheckResults,
    ) -> Self {
        let view = View::new(trace);
        let mut session = Self::begin(grading, trace, mode, checked, CaseSelection::of(&view));
        session.advance(&view);
        session
    }

    fn begin(
        grading: &'g Grading,
        trace: &'t Trace,
        mode: JudgeMode,
        checked: CheckResults,
        selection: Option<CaseSelection>,
    ) -> Self {
        Self {
            grading,
            trace,
            findings: checked.findings,
            not_applicable: checked.not_applicable,
            selection,
            mode,
            metrics: grading.metrics.iter().map(|_| MetricState::default()).collect(),
            questions: Questions::default(),
        }
    }

    /// The questions of this round, each once; empty if every metric has its score.
    pub fn questions(&self) -> &[Question] {
        self.questions.list()
    }

    /// Adds the answers to the questions of this round, in their order, and begins the next one. A question without an
    /// answer counts as not asked.
    pub fn answer(&mut self, answers: &[Answer]) {
        self.questions = Questions::default();
        for state in self.metrics.iter_mut().filter(|state| state.score.is_none()) {
            let silence = || Answer::Unavailable("the question was not asked".to_owned());
            let (asked, found) = std::mem::take(&mut state.asked)
                .into_iter()
                .map(|(question, at)| (question, answers.get(at).cloned().unwrap_or_else(silence)))
                .unzip();
            state.rounds.push(asked, found);
        }
        self.advance(&View::new(self.trace));
    }

    fn advance<'v>(&'v mut self, view: &'v View<'v>) {
        let input = MetricInput {
            view,
            findings: &self.findings,
            not_applicable: &self.not_applicable,
            judge: self.mode,
        };
        for (metric, state) in self.grading.metrics.iter().zip(&mut self.metrics) {
            if state.score.is_some() {
                continue;
            }
            let next = if state.rounds.len() < MAX_ROUNDS {
                metric.next(&input, &state.rounds)
            } else {
                Next::Done(metric.unfinished())
            };
            match next {
                Next::Done(score) => state.score = Some(score),
                Next::Ask(asked) => {
                    let placed = asked.into_iter().map(|question| {
                        let position = self.questions.add(question.clone());
                        (question, position)
                    });
                    state.asked = placed.collect();
                }
            }
        }
    }

    /// The questions of metrics that could not use the answers.
    pub fn unusable(&self) -> Vec<Question> {
        let failed = self
            .metrics
            .iter()
            .filter(|state| state.score.as_ref().is_some_and(|score| score.error.is_some()));
        failed.flat_map(|state| state.rounds.asked()).map(|(asked, _)| asked.clone()).collect()
    }

    /// The verdict. `name` is used if the trace has neither name nor id. Metrics that still ask count as failed.
    pub fn finish(self, name: impl FnOnce() -> String) -> Graded {
        let trace = self.trace;
        let scores = self.grading.metrics.iter().zip(self.metrics);
        let scores =
            scores.map(|(metric, state)| state.score.unwrap_or_else(|| metric.unfinished()));
        let mut graded = GradedTrace {
            name: trace.name.clone().or_else(|| trace.id.clone()).unwrap_or_else(name),
            id: trace.id.clone(),
            success: true,
            findings: self.findings,
            metrics: scores.collect(),
            not_applicable: self.not_applicable,
            failed_because: Vec::new(),
            source: None,
        };
        self.grading.fail_if.apply(&mut graded);
        Graded { trace: graded, selection: self.selection }
    }
}
