//! `--include-destructive`, for all commands that generate calls.

use quintain_redteam::orders::Destructive;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct DestructiveArgs {
    /// Also call tools that may destroy something or change settings: `own` (the default) only with objects that this
    /// run created and with values that cannot exist; `all` with anything, which may delete files, records and
    /// accounts, end processes, send messages, move money, and change settings, permissions and passwords permanently
    #[arg(long, value_name = "own|all", num_args = 0..=1, require_equals = true,
        default_missing_value = "own", value_parser = ["own", "all"], hide_possible_values = true)]
    include_destructive: Option<String>,
}

impl DestructiveArgs {
    /// Which destructive tools the command line allows.
    pub(in crate::cli) fn asked(&self) -> Destructive {
        let asked = self.include_destructive.as_deref().and_then(Destructive::find);
        asked.unwrap_or_default()
    }
}
