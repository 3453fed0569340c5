//! `--budget-calls` and `--budget-seconds`, for all commands that generate calls.

#[derive(Debug, clap::Args)]
pub(super) struct BudgetArgs {
    /// Maximum number of calls in the run
    #[arg(long, value_name = "N")]
    budget_calls: Option<usize>,
    /// Time limit of the run in seconds [default: that of the suite, else 300]
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
