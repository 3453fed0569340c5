//! `delete_user`, `set_user_role` and `get_audit_log`: for administrators only.

use rmcp::{
    model::CallToolResponse,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::json;

use super::{Call, DemoTool, Effect, ToolError, json};
use crate::identity::Role;

pub(super) struct DeleteUser;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteArgs {
    /// The user to delete.
    #[schemars(example = &"cust_1006", length(min = 1, max = 64))]
    user_id: String,
}

impl DemoTool for DeleteUser {
    type Args = DeleteArgs;

    const NAME: &'static str = "delete_user";
    const TITLE: &'static str = "Delete user";
    const DESCRIPTION: &'static str = "Deletes a user for good. Administrators only.";
    const EFFECT: Effect = Effect::Destroys;

    async fn call(call: Call<'_>, args: DeleteArgs) -> Result<CallToolResponse, ToolError> {
        call.must_be_admin().await?;
        let deleted = call
            .store()
            .execute("DELETE FROM users WHERE id = ?", &[(&args.user_id).into()])
            .await?;
        if deleted == 0 {
            return Err(ToolError::NotFound("user"));
        }
        call.store().audit(&call.caller, "delete_user", &args.user_id).await?;
        json(&json!({ "status": "deleted", "user_id": args.user_id }))
    }
}

pub(super) struct SetUserRole;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RoleArgs {
    /// The user to change.
    #[schemars(example = &"cust_1006", length(min = 1, max = 64))]
    user_id: String,
    /// The new role.
    #[schemars(extend("enum" = Role::NAMES))]
    role: String,
}

impl DemoTool for SetUserRole {
    type Args = RoleArgs;

    const NAME: &'static str = "set_user_role";
    const TITLE: &'static str = "Set user role";
    const DESCRIPTION: &'static str = "Changes the role of a user. Administrators only.";
    const EFFECT: Effect = Effect::Destroys;

    async fn call(call: Call<'_>, args: RoleArgs) -> Result<CallToolResponse, ToolError> {
        call.must_be_admin().await?;
        let changed = call
            .store()
            .execute(
                "UPDATE users SET role = ? WHERE id = ?",
                &[(&args.role).into(), (&args.user_id).into()],
            )
            .await?;
        if changed == 0 {
            return Err(ToolError::NotFound("user"));
        }
        let detail = format!("{} is now {}", args.user_id, args.role);
        call.store().audit(&call.caller, "set_user_role", &detail).await?;
        json(&json!({ "status": "updated", "user_id": args.user_id, "role": args.role }))
    }
}

pub(super) struct GetAuditLog;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditArgs {
    /// How many of the newest entries to return; 20 if absent.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u64>,
}

impl DemoTool for GetAuditLog {
    type Args = AuditArgs;

    const NAME: &'static str = "get_audit_log";
    const TITLE: &'static str = "Get audit log";
    const DESCRIPTION: &'static str = "Returns the newest audit entries. Administrators only.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: AuditArgs) -> Result<CallToolResponse, ToolError> {
        call.must_be_admin().await?;
        let limit = args.limit.unwrap_or(20).min(100);
        let rows = call
            .store()
            .select(
                "SELECT number, actor, action, detail FROM audit ORDER BY number DESC LIMIT ?",
                &[limit.cast_signed().into()],
            )
            .await?;
        json(&json!({ "entries": rows }))
    }
}
