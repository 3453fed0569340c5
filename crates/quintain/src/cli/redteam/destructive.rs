//! `--include-destructive`, as every command has it that calls tools of a target by itself.

use quintain_redteam::orders::{Destructive, Orders};

use crate::cli::Desk;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DestructiveArgs {
    /// Call tools that may destroy something or change settings, too: `own` (the default) only with objects that
    /// this run made and with values that cannot exist; `all` with anything, which may delete files, records and
    /// accounts, end processes, send messages, move money, and change settings, permissions and passwords for good
    #[arg(long, value_name = "own|all", num_args = 0..=1, require_equals = true,
        default_missing_value = "own", value_parser = ["own", "all"], hide_possible_values = true)]
    include_destructive: Option<String>,
}

impl DestructiveArgs {
    /// A suite may come from somebody else: it may allow objects of the run, and nothing real.
    pub(in crate::cli) fn apply(&self, orders: &mut Orders, desk: &Desk) {
        let asked = self.include_destructive.as_deref().and_then(Destructive::find);
        let asked = asked.unwrap_or_default();
        if orders.destructive == Destructive::All && asked != Destructive::All {
            desk.console.warn(
                "`destructive: all` of a suite counts as `own`; --include-destructive=all allows everything",
            );
        }
        orders.destructive = orders.destructive.min(Destructive::Own).max(asked);
    }
}
