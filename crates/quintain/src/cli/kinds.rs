//! The kinds of built-ins, and where each is registered.

use quintain_content::registry::Meta;
use quintain_report::RuleDocs;

/// Documentation of rules, for reports.
pub(super) fn rule_docs() -> RuleDocs {
    let attack = |id: &str| {
        let all = [Kind::Attacks, Kind::LaunchChecks].into_iter().flat_map(Kind::all);
        all.into_iter().find(|meta| meta.answers_to(id))
    };
    RuleDocs {
        attack,
        assertion: |id| Kind::Assertions.all().into_iter().find(|meta| meta.answers_to(id)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Kind {
    /// Assertions for suites
    Assertions,
    /// What can be under test
    Targets,
    /// Formats of reports
    Reporters,
    /// Detectors of personal data and secrets in responses
    Detectors,
    /// Attacks of `redteam` and `scan`
    Attacks,
    /// Strategies that rewrite attacks
    Strategies,
    /// Checks of `scan` for configurations of MCP clients
    LaunchChecks,
    /// Checks of `grade` for recorded conversations
    Checks,
    /// Metrics of `grade`
    Metrics,
    /// Formats of traces that `grade` reads
    TraceFormats,
}

impl Kind {
    pub(super) const EVERY: [Self; 10] = [
        Self::Assertions,
        Self::Reporters,
        Self::Detectors,
        Self::Attacks,
        Self::Strategies,
        Self::LaunchChecks,
        Self::Targets,
        Self::Checks,
        Self::Metrics,
        Self::TraceFormats,
    ];

    pub(super) fn all(self) -> Vec<Meta> {
        match self {
            Self::Assertions => {
                quintain_suite::assertions::all().iter().map(|entry| *entry.meta()).collect()
            }
            Self::Checks => {
                quintain_grade::checks::CHECKS.iter().map(|entry| *entry.meta()).collect()
            }
            Self::Metrics => {
                quintain_grade::metrics::METRICS.iter().map(|entry| *entry.meta()).collect()
            }
            Self::TraceFormats => {
                quintain_grade::readers::READERS.iter().map(|entry| *entry.meta()).collect()
            }
            Self::Targets => {
                quintain_engine::target_kinds().iter().map(|kind| *kind.meta()).collect()
            }
            Self::Reporters => quintain_report::all().iter().map(|entry| *entry.meta()).collect(),
            Self::Detectors => {
                quintain_content::detect::all().iter().map(|entry| *entry.meta()).collect()
            }
            Self::Attacks => {
                quintain_redteam::attacks::all().iter().map(|entry| entry.meta()).collect()
            }
            Self::Strategies => {
                quintain_redteam::strategies::all().iter().map(|entry| *entry.meta()).collect()
            }
            Self::LaunchChecks => {
                let checks = quintain_scan::launch_checks::all().iter().map(|entry| entry.meta);
                checks.chain([quintain_scan::rug_pull::META]).collect()
            }
        }
    }
}
