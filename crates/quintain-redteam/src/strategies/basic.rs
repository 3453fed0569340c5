//! The probe as the attack made it.

use quintain_content::registry::Meta;

use super::options::Options;
use super::strategy::{Strategy, Suits, Way};

pub(super) static BASIC: Basic = Basic;

pub(super) struct Basic;

impl Strategy for Basic {
    fn meta(&self) -> &'static Meta {
        &Meta {
            id: "basic",
            aliases: &[],
            summary: "Sends probes as the attacks made them",
            docs: docs! {
                what: "Leaves every probe as it is. `enabled: false` sends only what the other \
                       strategies make of it.",
                why: "It is the baseline: without it nobody knows whether a rewriting helped.",
                example: "strategies:\n  - id: basic\n    config:\n      enabled: true",
            },
            since: "0.1.0",
        }
    }

    fn suits(&self) -> Suits {
        Suits::BOTH
    }

    fn compile(&self, options: &mut Options<'_>) -> Way {
        Way::Keep { enabled: options.flag("enabled", true) }
    }
}
