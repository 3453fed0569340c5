//! `process_payment` and `refund_payment`.

use rmcp::{
    model::CallToolResponse,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::json;

use super::{Call, DemoTool, Effect, ToolError, json, transactions};
use crate::logging;

pub(super) const CURRENCIES: [&str; 3] = ["USD", "EUR", "GBP"];

pub(super) struct ProcessPayment;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PaymentArgs {
    /// How much to pay, in units of the currency.
    #[schemars(example = 100, range(min = 0.01, max = 10_000.0))]
    amount: f64,
    /// The currency of the amount.
    #[schemars(extend("enum" = CURRENCIES))]
    currency: String,
    /// Who receives the payment.
    #[schemars(example = &"12345", length(min = 1, max = 64))]
    user_id: String,
    /// A text for the receipt.
    #[schemars(length(max = 140))]
    memo: Option<String>,
}

impl DemoTool for ProcessPayment {
    type Args = PaymentArgs;

    const NAME: &'static str = "process_payment";
    const TITLE: &'static str = "Process payment";
    const DESCRIPTION: &'static str = "Pays an amount from the caller's own account to a user.";
    const EFFECT: Effect = Effect::Adds;

    async fn call(call: Call<'_>, args: PaymentArgs) -> Result<CallToolResponse, ToolError> {
        let store = call.store();
        if !call.twin().is_vulnerable() && store.role(&args.user_id).await?.is_none() {
            return Err(ToolError::NotFound("user"));
        }
        let number = store
            .insert_transaction(&[
                (&call.caller.user).into(),
                (&args.user_id).into(),
                in_cents(args.amount).into(),
                (&args.currency).into(),
                args.memo.as_deref().unwrap_or_default().into(),
            ])
            .await?;
        let id = format!("txn_{number}");
        store.audit(&call.caller, "process_payment", &id).await?;
        logging::info(call.demo.log_level(), &call.request, json!({ "paid": id })).await;
        json(&json!({
            "status": "success",
            "transaction_id": id,
            "amount": args.amount,
            "currency": args.currency,
            "user_id": args.user_id,
        }))
    }
}

pub(super) fn in_cents(amount: f64) -> i64 {
    (amount * 100.0).round() as i64
}

pub(super) struct RefundPayment;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RefundArgs {
    /// The transaction to take back.
    #[schemars(example = &"txn_123", length(min = 1, max = 64))]
    transaction_id: String,
    /// Why it is taken back.
    #[schemars(length(max = 140))]
    reason: Option<String>,
}

impl DemoTool for RefundPayment {
    type Args = RefundArgs;

    const NAME: &'static str = "refund_payment";
    const TITLE: &'static str = "Refund payment";
    const DESCRIPTION: &'static str = "Takes a payment back. This cannot be undone. Customers may only refund their own payments.";
    const EFFECT: Effect = Effect::Destroys;

    async fn call(call: Call<'_>, args: RefundArgs) -> Result<CallToolResponse, ToolError> {
        let row = transactions::find(&call, &args.transaction_id).await?;
        if row["status"] == "refunded" {
            return Err(ToolError::Refused("the payment is refunded already"));
        }
        let store = call.store();
        store
            .execute(
                "UPDATE transactions SET status = 'refunded' WHERE id = ?",
                &[(&args.transaction_id).into()],
            )
            .await?;
        let detail = format!("{} {}", args.transaction_id, args.reason.unwrap_or_default());
        store.audit(&call.caller, "refund_payment", &detail).await?;
        json(&json!({ "status": "refunded", "transaction_id": args.transaction_id }))
    }
}
