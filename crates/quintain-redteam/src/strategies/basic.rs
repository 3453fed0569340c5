//! Sends the probe unchanged.

use quintain_content::registry::Meta;

use super::options::Options;
use super::strategy::{Strategy, StrategyKind, Suits};

pub(super) static BASIC: Basic = Basic;

pub(super) struct Basic;

impl Strategy for Basic {
    fn meta(&self) -> &'static Meta {
        &Meta {
            id: "basic",
            aliases: &[],
            summary: "Sends probes unchanged",
            docs: docs! {
                what: "Sends every probe unchanged. With `enabled: false`, only the versions of \
                       the other strategies are sent.",
                why: "It is the baseline: without it you cannot see whether a rewritten probe \
                      works better.",
                example: "strategies:\n  - id: basic\n    config:\n      enabled: true",
            },
            since: "0.1.0",
        }
    }

    fn suits(&self) -> Suits {
        Suits::BOTH
    }

    fn compile(&self, options: &mut Options<'_>) -> StrategyKind {
        StrategyKind::Keep { enabled: options.flag("enabled", true) }
    }
}
