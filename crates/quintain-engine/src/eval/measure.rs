//! Scores a case with the metrics of the suite: what was sent and received becomes a trace, as when the stored run is graded.

use quintain_evidence::evidence::Evidence;
use quintain_evidence::graded::GradedTrace;
use quintain_evidence::response::Response;
use quintain_evidence::result::Component;
use quintain_evidence::verdict::Status;
use quintain_grade::evaluate::{Grading, GradingSession};
use quintain_grade::readers::{self, ReadOptions, stored_run};
use quintain_suite::plan::Case;
use quintain_suite::prepare::PreparedCase;
use quintain_suite::scoring::Judged;

use super::RunContext;
use super::open_targets::OpenTarget;
use crate::inquiry::Asker;
use crate::metrics;

/// The metrics of a suite and how its cases become traces.
pub(crate) struct CaseMetrics {
    pub grading: Grading,
    pub read: ReadOptions,
}

/// What metrics say about a case.
pub(super) struct Measured {
    /// Scores, and findings that fail the case, as assertions.
    pub(super) judged: Vec<Judged>,
    /// Undefined scores. They are listed and do not count.
    pub(super) undefined: Vec<Component>,
    pub(super) graded: GradedTrace,
}

impl RunContext<'_> {
    /// None if the suite has no metrics.
    pub(super) async fn measure(
        &self,
        case: &Case<'_>,
        open_target: &OpenTarget<'_>,
        prepared: &PreparedCase,
        response: &Response,
        asker: &Asker<'_>,
        evidence: &mut Evidence,
    ) -> Option<Measured> {
        let CaseMetrics { grading, read } = self.job.metrics?;
        let prompt = &self.job.suite.tests.prompts[case.planned_case.prompt];
        let mut result = self.draft(case, open_target, prompt);
        result.prompt.raw.clone_from(&prepared.prompt);
        result.response = response.clone();
        result.evidence = Evidence { exchanges: evidence.exchanges.clone(), ..Evidence::default() };
        let mut trace = stored_run::trace_of(&result);
        let surfaces = open_target.surfaces.iter();
        let listed = surfaces.map(|(name, surface)| stored_run::server_of(name, surface));
        let servers = read.servers.iter().cloned().chain(listed).collect();
        readers::complete(&mut trace, &ReadOptions { servers, ..read.clone() });
        let mode = metrics::judge_mode(&self.job.settings.models);
        let name = || prompt.label.clone();
        let session = GradingSession::new(grading, &trace, mode);
        let graded = metrics::score(session, asker, evidence, name).await.trace;
        let judged = |assertion, verdict, metric| Judged {
            verdict,
            weight: 1.0,
            metric,
            assertion,
            place: None,
            set: None,
        };
        let (undefined, defined): (Vec<_>, Vec<_>) = graded
            .metrics
            .iter()
            .partition(|metric| metric.score.is_none() && metric.error.is_none());
        let mut all: Vec<Judged> = Vec::new();
        for metric in defined {
            let mut verdict = metrics::verdict(metric);
            if !grading.fail_if.metrics && verdict.status == Status::Fail {
                verdict.status = Status::Pass;
            }
            all.push(judged(metrics::assertion(metric), verdict, Some(metric.name.clone())));
        }
        let checks = metrics::check_components(&graded, &grading.fail_if).into_iter();
        let failed = checks.filter(|check| !check.verdict.passed());
        all.extend(failed.map(|check| judged(check.assertion, check.verdict, None)));
        let undefined = undefined.into_iter().map(metrics::metric_component).collect();
        Some(Measured { judged: all, undefined, graded })
    }
}
