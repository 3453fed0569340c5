//! The kinds of built-ins, and where each is registered.

use quintain_content::registry::Meta;
use quintain_redteam::attack::Attack;
use quintain_redteam::strategies::Strategy;
use quintain_redteam::suits::Suits;
use quintain_report::RuleDocs;

/// Documentation of rules, for reports.
pub(super) fn rule_docs() -> RuleDocs {
    let attack = |id: &str| {
        let all = [Kind::Attacks, Kind::LaunchChecks].into_iter().flat_map(Kind::all);
        all.into_iter().find(|meta| meta.answers_to(id))
    };
    RuleDocs {
        attack,
        assertion: |id| {
            let all = [Kind::Assertions, Kind::Checks, Kind::Metrics].into_iter();
            all.flat_map(Kind::all).find(|meta| meta.answers_to(id))
        },
    }
}

/// `explain` searches them in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Kind {
    /// Assertions for suites
    Assertions,
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
    /// What can be under test
    Targets,
    /// Checks of `grade` for recorded conversations
    Checks,
    /// Metrics of `grade`
    Metrics,
    /// Formats of traces that `grade` reads
    TraceFormats,
    /// Providers of language models
    Providers,
}

impl Kind {
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
            Self::Providers => {
                quintain_engine::models::providers().map(|entry| *entry.meta()).collect()
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

    /// Which targets an entry applies to: `MCP`, `models` or `both`; none for kinds that do not distinguish them.
    pub(super) fn suits(self, id: &str) -> Option<Suits> {
        match self {
            Self::Attacks => quintain_redteam::attacks::find(id).map(Attack::suits),
            Self::Strategies => quintain_redteam::strategies::find(id).map(Strategy::suits),
            _ => None,
        }
    }
}
