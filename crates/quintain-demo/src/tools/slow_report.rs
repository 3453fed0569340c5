//! `slow_report`: takes a given time and reports progress, to test timeouts.

use std::time::Duration;

use rmcp::{
    model::{CallToolResponse, ProgressNotificationParam},
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::json;

use super::{Call, DemoTool, Effect, ToolError, json};

pub(super) struct SlowReport;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// How long the report takes, in milliseconds.
    #[schemars(example = 10, range(min = 0, max = 60_000))]
    duration_ms: u64,
    /// How many progress notifications are sent; 4 if absent.
    #[schemars(range(min = 1, max = 100))]
    steps: Option<u32>,
}

impl DemoTool for SlowReport {
    type Args = Args;

    const NAME: &'static str = "slow_report";
    const TITLE: &'static str = "Slow report";
    const DESCRIPTION: &'static str =
        "Takes the given time to create a report, and sends progress to clients that request it.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: Args) -> Result<CallToolResponse, ToolError> {
        let steps = args.steps.unwrap_or(4).clamp(1, 100);
        let pause = Duration::from_millis(args.duration_ms.min(60_000)) / steps;
        let token = call.request.meta.get_progress_token();
        for step in 1..=steps {
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = call.request.ct.cancelled() => return Err(ToolError::Refused("cancelled")),
            }
            if let Some(token) = token.clone() {
                let progress = ProgressNotificationParam::new(token, step.into())
                    .with_total(steps.into())
                    .with_message(format!("step {step} of {steps}"));
                // Progress for a client that has disconnected is dropped.
                let _ = call.request.peer.notify_progress(progress).await;
            }
        }
        json(&json!({ "status": "done", "steps": steps, "duration_ms": args.duration_ms }))
    }
}
