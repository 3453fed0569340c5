//! `--budget-calls` and `--budget-seconds`, as every command has them that calls a target by itself.

#[derive(Debug, clap::Args)]
pub(super) struct BudgetArgs {
    /// Calls of the whole run at most
    #[arg(long, value_name = "N")]
    budget_calls: Option<usize>,
    /// Seconds of the whole run at most [default: those of the suite, else 300]
    #[arg(long, value_name = "N")]
    budget_seconds: Option<u64>,
}

impl BudgetArgs {
    pub(super) fn calls(&self) -> Option<usize> {
        self.budget_calls
    }

    pub(super) fn seconds(&self) -> Option<u64> {
        self.budget_seconds
    }
}
