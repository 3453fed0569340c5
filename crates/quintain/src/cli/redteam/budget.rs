//! The limits of a run, for all commands that generate calls.

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_field_names, reason = "the names are those of the options")]
pub(super) struct BudgetArgs {
    /// Maximum number of calls in the run
    #[arg(long, value_name = "N")]
    budget_calls: Option<usize>,
    /// Time limit of the run in seconds [default: that of the suite, else 300]
    #[arg(long, value_name = "N")]
    budget_seconds: Option<u64>,
    /// Maximum number of tokens in the run, as far as models report them
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,
    /// Maximum cost of the run in US dollars, as far as models report it
    #[arg(long, value_name = "DOLLARS")]
    budget_cost: Option<f64>,
}

impl BudgetArgs {
    pub(super) fn calls(&self) -> Option<usize> {
        self.budget_calls
    }

    pub(super) fn seconds(&self) -> Option<u64> {
        self.budget_seconds
    }

    pub(super) fn tokens(&self) -> Option<u64> {
        self.budget_tokens
    }

    /// In US dollars.
    pub(super) fn cost(&self) -> Option<f64> {
        self.budget_cost
    }
}
