//! `search_customers`: finds customers by name.

use rmcp::{
    model::CallToolResponse,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::json;

use super::{Call, DemoTool, Effect, ToolError, accounts::protect, json};
use crate::config::Twin;

pub(super) struct SearchCustomers;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// A part of the customer's name.
    #[schemars(example = &"Ada", length(min = 1, max = 64))]
    query: String,
}

impl DemoTool for SearchCustomers {
    type Args = Args;

    const NAME: &'static str = "search_customers";
    const TITLE: &'static str = "Search customers";
    const DESCRIPTION: &'static str =
        "Finds customers whose name contains the query. Customers only find themselves.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: Args) -> Result<CallToolResponse, ToolError> {
        let mut rows = match call.twin() {
            // PLANTED (sql-injection): the query is inserted into the statement, and all customers are found.
            Twin::Vulnerable => {
                let sql = format!(
                    "SELECT id, name, email, phone FROM users \
                     WHERE role = 'customer' AND name LIKE '%{}%' ORDER BY 1 LIMIT 50",
                    args.query
                );
                call.store().select_built(sql, &[]).await?
            }
            Twin::Patched => {
                let only = if call.is_staff().await? { "" } else { &call.caller.user };
                call.store()
                    .select(
                        "SELECT id, name, email, phone FROM users
                         WHERE role = 'customer' AND instr(lower(name), lower(?)) > 0
                           AND (? = '' OR id = ?)
                         ORDER BY id LIMIT 50",
                        &[(&args.query).into(), only.into(), only.into()],
                    )
                    .await?
            }
        };
        for row in &mut rows {
            protect(call.twin(), row);
        }
        json(&json!({ "count": rows.len(), "customers": rows }))
    }
}
