//! What the author of a grade allows and demands: which calls are permitted, and which findings and scores make a trace fail.

use quintain_evidence::graded::{GradedTrace, Level, MetricScore, TraceFinding};
use serde::{Deserialize, Serialize};

/// Which tools an application may call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct CallPolicy {
    /// Patterns of permitted tools, `server/tool` or `tool`; empty permits all.
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    /// Servers between which secrets and personal data may pass.
    pub trusted: Vec<String>,
}

/// When a trace fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct FailIf {
    /// A finding of at least this severity; none if findings never fail a trace.
    pub severity: Option<Level>,
    /// A finding of one of these checks or families (`policy`), whatever its severity.
    pub checks: Vec<String>,
    /// A metric below its threshold.
    pub metrics: bool,
}

impl Default for FailIf {
    fn default() -> Self {
        Self { severity: Some(Level::Error), checks: Vec::new(), metrics: true }
    }
}

impl FailIf {
    /// Whether a finding alone fails its trace.
    pub fn is_broken_by(&self, finding: &TraceFinding) -> bool {
        self.severity.is_some_and(|least| finding.severity >= least)
            || self.checks.iter().any(|check| is_of(&finding.check, check))
    }

    /// The rules that findings and scores break, in words.
    pub fn reasons(&self, findings: &[TraceFinding], metrics: &[MetricScore]) -> Vec<String> {
        let mut reasons = Vec::new();
        if let Some(least) = self.severity {
            let count = findings.iter().filter(|finding| finding.severity >= least).count();
            if count > 0 {
                reasons.push(format!("findings of severity {} or above: {count}", least.word()));
            }
        }
        for check in &self.checks {
            let count = findings.iter().filter(|finding| is_of(&finding.check, check)).count();
            if count > 0 {
                reasons.push(format!("findings of {check}: {count}"));
            }
        }
        let failed = metrics.iter().filter(|metric| self.metrics && metric.success == Some(false));
        reasons.extend(failed.map(|metric| match metric.score {
            Some(score) => {
                format!("{}: {score:.2} is below the threshold {}", metric.name, metric.threshold)
            }
            None => format!("{} could not be computed", metric.name),
        }));
        reasons
    }

    /// Sets the verdict of a graded trace.
    pub fn apply(&self, graded: &mut GradedTrace) {
        graded.failed_because = self.reasons(&graded.findings, &graded.metrics);
        graded.success = graded.failed_because.is_empty();
    }
}

/// Whether a check is the named one or of the named family.
pub(crate) fn is_of(check: &str, name: &str) -> bool {
    check == name || check.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}
