//! `list_invoices` and `read_invoice`: invoices are files, so a name is nearly a path.

use rmcp::{
    model::CallToolResponse,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::json;

use super::{Call, DemoTool, Effect, NoArgs, ToolError, json, paths, text};
use crate::{
    config::Twin,
    identity::{Caller, Role},
    session::Demo,
    store::Store,
};

pub(super) struct ListInvoices;

impl DemoTool for ListInvoices {
    type Args = NoArgs;

    const NAME: &'static str = "list_invoices";
    const TITLE: &'static str = "List invoices";
    const DESCRIPTION: &'static str = "Lists the names of the caller's own invoices.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, _: NoArgs) -> Result<CallToolResponse, ToolError> {
        let names = names(call.store(), &call.caller).await?;
        let mut answer = json!({ "invoices": names });
        if call.twin().is_vulnerable() {
            answer["directory"] = call.store().invoices().display().to_string().into();
        }
        json(&answer)
    }
}

/// The invoices of one customer.
pub(crate) async fn names(store: &Store, caller: &Caller) -> Result<Vec<String>, ToolError> {
    let rows = store
        .select(
            "SELECT name FROM invoices WHERE user_id = ? ORDER BY name",
            &[(&caller.user).into()],
        )
        .await?;
    Ok(rows.iter().filter_map(|row| row["name"].as_str().map(str::to_owned)).collect())
}

pub(super) struct ReadInvoice;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadArgs {
    /// The file name of the invoice.
    #[schemars(example = &"INV-1001.txt", length(min = 1, max = 255))]
    name: String,
}

impl DemoTool for ReadInvoice {
    type Args = ReadArgs;

    const NAME: &'static str = "read_invoice";
    const TITLE: &'static str = "Read invoice";
    const DESCRIPTION: &'static str = "Returns the text of an invoice from the invoices directory. Customers may only read their own.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: ReadArgs) -> Result<CallToolResponse, ToolError> {
        read(call.demo, &call.caller, &args.name).await.map(text)
    }
}

/// The text of one invoice; also what the resource template reads.
pub(crate) async fn read(demo: &Demo, caller: &Caller, name: &str) -> Result<String, ToolError> {
    let store = demo.store();
    let path = match demo.twin() {
        // PLANTED (path-traversal, bola): any name is joined to the directory, for any caller.
        Twin::Vulnerable => store.invoices().join(name),
        Twin::Patched => {
            let is_staff = store.role(&caller.user).await?.is_some_and(Role::is_staff);
            let known =
                store.select("SELECT user_id FROM invoices WHERE name = ?", &[name.into()]).await?;
            let is_theirs = |owner: &serde_json::Value| *owner == *caller.user || is_staff;
            if !known.first().is_some_and(|row| is_theirs(&row["user_id"])) {
                return Err(ToolError::NotFound("invoice"));
            }
            paths::inside(&store.invoices(), name)?
        }
    };
    paths::read(path).await
}
