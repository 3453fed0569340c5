//! Shares of calls that findings of certain checks spare.

use std::collections::BTreeSet;

use quintain_evidence::graded::{Level, TraceFinding};

use crate::policy::is_of;

/// The findings of these checks or families with at least this severity.
pub(super) fn of_checks(
    findings: &[TraceFinding],
    checks: &[&str],
    least: Level,
) -> Vec<TraceFinding> {
    let relevant = findings.iter().filter(|finding| finding.severity >= least);
    relevant
        .filter(|finding| checks.iter().any(|check| is_of(&finding.check, check)))
        .cloned()
        .collect()
}

/// The positions of the calls that findings are about.
pub(super) fn calls_of(findings: &[TraceFinding]) -> BTreeSet<usize> {
    findings.iter().filter_map(|finding| finding.call).collect()
}

/// The share of positions that are not in the set.
pub(super) fn spared(
    positions: impl Iterator<Item = usize>,
    faulty: &BTreeSet<usize>,
) -> Option<f64> {
    let (mut all, mut good) = (0_usize, 0_usize);
    for position in positions {
        all += 1;
        good += usize::from(!faulty.contains(&position));
    }
    (all > 0).then(|| good as f64 / all as f64)
}
