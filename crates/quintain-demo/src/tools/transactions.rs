//! `get_transaction` and `list_transactions`.

use rmcp::{
    model::CallToolResponse,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::json;

use super::{Call, DemoTool, Effect, ToolError, json};
use crate::{config::Twin, store::Row};

pub(super) struct GetTransaction;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetArgs {
    /// The transaction's id.
    #[schemars(example = &"txn_123", length(min = 1, max = 64))]
    transaction_id: String,
}

impl DemoTool for GetTransaction {
    type Args = GetArgs;

    const NAME: &'static str = "get_transaction";
    const TITLE: &'static str = "Get transaction";
    const DESCRIPTION: &'static str =
        "Returns one transaction. Customers may only ask for their own.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: GetArgs) -> Result<CallToolResponse, ToolError> {
        json(&find(&call, &args.transaction_id).await?)
    }
}

/// One transaction that the caller may see. For other callers it does not exist, so that they cannot learn
/// which ids are taken.
pub(super) async fn find(call: &Call<'_>, id: &str) -> Result<Row, ToolError> {
    let rows = call
        .store()
        .select(
            "SELECT id, user_id, payee, amount, currency, status, memo FROM transactions WHERE id = ?",
            &[id.into()],
        )
        .await?;
    let row = rows.into_iter().next().ok_or(ToolError::NotFound("transaction"))?;
    match call.may_access(row["user_id"].as_str().unwrap_or_default()).await {
        Err(ToolError::Forbidden) => Err(ToolError::NotFound("transaction")),
        other => other.map(|()| row),
    }
}

pub(super) struct ListTransactions;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListArgs {
    /// Only transactions with this status: completed, pending or refunded.
    #[schemars(example = &"completed", length(max = 64))]
    status: Option<String>,
    /// The column to sort by: id, amount, currency or status.
    #[schemars(example = &"amount", length(max = 64))]
    order_by: Option<String>,
    /// How many to return; 20 if absent.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u64>,
}

impl DemoTool for ListTransactions {
    type Args = ListArgs;

    const NAME: &'static str = "list_transactions";
    const TITLE: &'static str = "List transactions";
    const DESCRIPTION: &'static str = "Lists the caller's own transactions.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: ListArgs) -> Result<CallToolResponse, ToolError> {
        let limit = args.limit.unwrap_or(20).clamp(1, 100).cast_signed();
        let user = &call.caller.user;
        let rows = match call.twin() {
            // PLANTED (sql-injection): filter and sort column are inserted into the statement.
            Twin::Vulnerable => {
                let filter = args
                    .status
                    .map(|status| format!("AND status = '{status}'"))
                    .unwrap_or_default();
                let order = args.order_by.unwrap_or_else(|| "number".into());
                let sql = format!(
                    "SELECT id, user_id, payee, amount, currency, status FROM transactions \
                     WHERE user_id = ? {filter} ORDER BY {order} LIMIT {limit}"
                );
                call.store().select_built(sql, &[user.into()]).await?
            }
            Twin::Patched => {
                // A column name cannot be bound, so the statement selects one of the known names.
                let order = args.order_by.as_deref().unwrap_or("id");
                if !["id", "amount", "currency", "status"].contains(&order) {
                    return Err(ToolError::invalid("order_by", "is not a column to sort by"));
                }
                let status = args.status.as_deref().unwrap_or_default();
                call.store()
                    .select(
                        "SELECT id, user_id, payee, amount, currency, status FROM transactions
                         WHERE user_id = ? AND (? = '' OR status = ?)
                         ORDER BY CASE ? WHEN 'amount' THEN amount WHEN 'currency' THEN currency
                                         WHEN 'status' THEN status ELSE number END, number
                         LIMIT ?",
                        &[user.into(), status.into(), status.into(), order.into(), limit.into()],
                    )
                    .await?
            }
        };
        json(&json!({ "count": rows.len(), "transactions": rows }))
    }
}
