//! The metrics that score every case of a suite. Reports their mistakes before anything runs.

use quintain_grade::evaluate::Grading;
use quintain_grade::metrics::compile_all;
use quintain_grade::policy::FailIf;
use quintain_grade::readers::{ReadOptions, Router};
use quintain_source::{Diagnostic, Diagnostics, Span};

use super::environment::{LoadedSuite, Refusal, RequestNotice};
use crate::eval::CaseMetrics;
use crate::metrics::SuiteMetrics;

/// None if the suite has no metrics.
pub(super) fn case_metrics(
    opened: &LoadedSuite,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<Option<CaseMetrics>, Refusal> {
    let mut dx = Diagnostics::new();
    let base = opened.files.first().map(|file| file.base_dir.clone()).unwrap_or_default();
    let found = SuiteMetrics::read(&opened.suite, &base, &mut dx);
    let named = found.metrics.iter().map(|metric| (metric.name.as_str(), &metric.options));
    let compiled = compile_all(named).unwrap_or_else(|errors| {
        let node = opened.suite.documents.iter().find_map(|document| document.get("metrics"));
        let span = node.map_or_else(Span::default, |node| node.span);
        for error in &errors.0 {
            let diagnostic = Diagnostic::error("grade::metric", error.to_string()).at(span, "");
            dx.push(diagnostic.help("`quintain list metrics` lists them"));
        }
        Vec::new()
    });
    if !dx.is_empty() {
        notify(RequestNotice::Diagnostics(&opened.sources, &dx));
        return Err(Refusal::Suite);
    }
    if compiled.is_empty() {
        return Ok(None);
    }
    // A test may send invalid arguments on purpose, so a finding fails it only if the suite demands it.
    let lenient = FailIf { severity: None, ..FailIf::default() };
    let grading = Grading {
        metrics: compiled,
        calls: found.calls,
        fail_if: found.fail_if.unwrap_or(lenient),
    };
    let router = found.router.as_ref().map(Router::from);
    Ok(Some(CaseMetrics { grading, read: ReadOptions { router, ..ReadOptions::default() } }))
}
