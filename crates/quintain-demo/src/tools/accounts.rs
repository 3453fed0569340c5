//! `get_user_data` and `account_summary`: the data of one user.

use rmcp::{
    model::{CallToolResponse, CallToolResult, Tool},
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};

use super::{Call, DemoTool, Effect, ToolError, json};
use crate::{
    config::Twin,
    store::{Row, Store},
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UserArgs {
    /// The user's id.
    #[schemars(example = &"cust_1001", length(min = 1, max = 64))]
    user_id: String,
}

pub(super) struct GetUserData;

impl DemoTool for GetUserData {
    type Args = UserArgs;

    const NAME: &'static str = "get_user_data";
    const TITLE: &'static str = "Get user data";
    const DESCRIPTION: &'static str =
        "Returns the master data of a user. Customers may only ask for their own.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: UserArgs) -> Result<CallToolResponse, ToolError> {
        call.may_access(&args.user_id).await?;
        let mut user = find(call.store(), &args.user_id).await?;
        protect(call.twin(), &mut user);
        json(&user)
    }
}

/// Masks values that no response needs in full.
pub(crate) fn protect(twin: Twin, user: &mut Row) {
    // PLANTED (pii): card and social security number are returned unmasked.
    if twin.is_vulnerable() {
        return;
    }
    for (column, visible) in [("ssn", 4), ("card", 4), ("phone", 2)] {
        if let Some(value) = user.get_mut(column) {
            *value = masked(value.as_str().unwrap_or_default(), visible).into();
        }
    }
    if let Some(value) = user.get_mut("email") {
        let (name, domain) =
            value.as_str().and_then(|email| email.split_once('@')).unwrap_or(("", ""));
        *value = format!("{}***@{domain}", name.chars().next().unwrap_or('*')).into();
    }
}

fn masked(text: &str, visible: usize) -> String {
    let length = text.chars().count();
    let tail: String = text.chars().skip(length.saturating_sub(visible)).collect();
    format!("***{tail}")
}

async fn find(store: &Store, user_id: &str) -> Result<Row, ToolError> {
    let rows = store
        .select(
            "SELECT id, role, name, email, phone, ssn, card, balance FROM users WHERE id = ?",
            &[user_id.into()],
        )
        .await?;
    rows.into_iter().next().ok_or(ToolError::NotFound("user"))
}

pub(super) struct AccountSummary;

/// The structured response of `account_summary`.
#[derive(Serialize, JsonSchema)]
struct Summary {
    user_id: String,
    /// Balance in cents.
    balance: i64,
    transactions: i64,
    /// Sum of completed payments in cents.
    spent: i64,
}

impl DemoTool for AccountSummary {
    type Args = UserArgs;

    const NAME: &'static str = "account_summary";
    const TITLE: &'static str = "Account summary";
    const DESCRIPTION: &'static str =
        "Returns balance, number of transactions and money spent of a user, as structured content.";
    const EFFECT: Effect = Effect::Reads;

    fn complete(tool: Tool) -> Tool {
        tool.with_output_schema::<Summary>()
    }

    async fn call(call: Call<'_>, args: UserArgs) -> Result<CallToolResponse, ToolError> {
        call.may_access(&args.user_id).await?;
        let rows = call
            .store()
            .select(
                "SELECT u.balance, count(t.id) AS transactions,
                        coalesce(sum(t.amount) FILTER (WHERE t.status = 'completed'), 0) AS spent
                 FROM users u LEFT JOIN transactions t ON t.user_id = u.id
                 WHERE u.id = ? GROUP BY u.id",
                &[(&args.user_id).into()],
            )
            .await?;
        let row = rows.first().ok_or(ToolError::NotFound("user"))?;
        let number = |column: &str| row[column].as_i64().unwrap_or_default();
        let summary = Summary {
            user_id: args.user_id,
            balance: number("balance"),
            transactions: number("transactions"),
            spent: number("spent"),
        };
        let value = serde_json::to_value(summary).map_err(ToolError::Encode)?;
        Ok(CallToolResult::structured(value).into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_patched_twin_masks_personal_data() {
        let row = rmcp::model::object(json!({
            "email": "ada@example.com", "phone": "+1-202-555-0101", "ssn": "900-12-1001", "card": "4242424242424242",
        }));
        let mut shown = row.clone();
        protect(Twin::Patched, &mut shown);
        assert_eq!(
            json!(shown),
            json!({ "email": "a***@example.com", "phone": "***01", "ssn": "***1001", "card": "***4242" })
        );
        let mut shown = row.clone();
        protect(Twin::Vulnerable, &mut shown);
        assert_eq!(shown, row);
    }
}
