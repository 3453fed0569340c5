//! `--include-destructive`, as every command has it that calls tools of a target by itself.

use quintain_core::redteam::{Destructive, Orders};

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
    /// A suite may allow more than the command line does, never less.
    pub(in crate::cli) fn apply(&self, orders: &mut Orders) {
        let asked = self.include_destructive.as_deref().and_then(Destructive::find);
        orders.destructive = orders.destructive.max(asked.unwrap_or_default());
    }
}
