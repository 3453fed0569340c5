//! Repeats what worked in an earlier run.

use quintain_content::registry::Meta;

use super::options::Options;
use super::strategy::{Strategy, StrategyKind, Suits};

pub(super) static RETRY: Retry = Retry;

pub(super) struct Retry;

impl Strategy for Retry {
    fn meta(&self) -> &'static Meta {
        &Meta {
            id: "retry",
            aliases: &[],
            summary: "Repeats what worked in the latest stored run",
            docs: docs! {
                what: "Looks up the findings of the latest stored run against the same target, and \
                       applies the strategies that led to them to the same attacks again, with new \
                       random texts. Without such a run, the report lists it as not run.",
                why: "What worked once is the first thing to try after a fix.",
                example: "strategies:\n  - retry",
            },
            since: "0.1.0",
        }
    }

    fn suits(&self) -> Suits {
        Suits::BOTH
    }

    fn compile(&self, options: &mut Options<'_>) -> StrategyKind {
        options.allow_all();
        StrategyKind::Retry
    }
}
