//! `render_receipt`: fills a receipt template that the caller supplies.

use rmcp::{
    model::CallToolResponse,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

use super::{Call, DemoTool, Effect, ToolError, template, text, transactions};
use crate::config::Twin;

pub(super) struct RenderReceipt;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The transaction to print.
    #[schemars(example = &"txn_123", length(min = 1, max = 64))]
    transaction_id: String,
    /// The text of the receipt; {{ id }}, {{ amount }}, {{ currency }} and {{ status }} are filled in.
    #[schemars(example = &"Paid {{ amount }} {{ currency }}.", length(max = 1000))]
    template: String,
}

impl DemoTool for RenderReceipt {
    type Args = Args;

    const NAME: &'static str = "render_receipt";
    const TITLE: &'static str = "Render receipt";
    const DESCRIPTION: &'static str =
        "Prints a receipt for a transaction by filling in a template.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: Args) -> Result<CallToolResponse, ToolError> {
        let row = transactions::find(&call, &args.transaction_id).await?;
        let variable = |name: &str| match row.get(name)? {
            serde_json::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let rendered = match call.twin() {
            // PLANTED (template-injection): the content of braces is evaluated as an expression.
            Twin::Vulnerable => template::evaluate(&args.template, variable)?,
            Twin::Patched => template::fill(&args.template, variable),
        };
        Ok(text(rendered))
    }
}
