//! `--include-destructive`, as every command has it that calls tools of a target by itself.

use quintain_redteam::orders::Destructive;

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
    /// How far the command line goes.
    pub(in crate::cli) fn asked(&self) -> Destructive {
        let asked = self.include_destructive.as_deref().and_then(Destructive::find);
        asked.unwrap_or_default()
    }
}
