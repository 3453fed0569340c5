//! `--budget-calls` and `--budget-seconds`, as every command has them that calls a target by itself.

use std::time::Duration;

use quintain_redteam::orders::Orders;

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
    pub(super) fn apply(&self, orders: &mut Orders) {
        orders.budget_calls = self.budget_calls.or(orders.budget_calls);
        let seconds = self.budget_seconds.map(Duration::from_secs);
        orders.budget_time = seconds.or(orders.budget_time);
    }
}
