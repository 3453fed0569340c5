//! `check_gateway`: looks up a payment gateway in a table.

use rmcp::{
    model::CallToolResponse,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use serde_json::json;
use tokio::process::Command;

use super::{Call, DemoTool, Effect, ToolError, json, paths, process, text};
use crate::config::Twin;

pub(super) struct CheckGateway;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The host name of the gateway.
    #[schemars(example = &"gateway-eu.techmart.example", length(min = 1, max = 253))]
    host: String,
}

impl DemoTool for CheckGateway {
    type Args = Args;

    const NAME: &'static str = "check_gateway";
    const TITLE: &'static str = "Check gateway";
    const DESCRIPTION: &'static str = "Says whether a payment gateway is up.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: Args) -> Result<CallToolResponse, ToolError> {
        match call.twin() {
            // PLANTED (command-injection, secrets): the host is inserted into a shell command, and the
            // response is the whole line of the table, including the key of the gateway.
            Twin::Vulnerable => {
                let script = if cfg!(windows) {
                    format!("findstr {} gateways.txt", args.host)
                } else {
                    format!("grep {0} gateways.txt || echo unknown gateway {0}", args.host)
                };
                let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
                let mut command = Command::new(shell);
                command.arg(flag).arg(script).current_dir(call.store().root());
                process::output(shell, &mut command).await.map(text)
            }
            Twin::Patched => {
                let is_host_name =
                    |letter: char| letter.is_ascii_alphanumeric() || ".-".contains(letter);
                if !args.host.chars().all(is_host_name) {
                    return Err(ToolError::invalid("host", "is not a host name"));
                }
                let table = paths::read(call.store().root().join("gateways.txt")).await?;
                let status = table
                    .lines()
                    .filter_map(|line| line.split_once(' '))
                    .find(|(host, _)| *host == args.host)
                    .and_then(|(_, rest)| rest.split(' ').next())
                    .ok_or(ToolError::NotFound("gateway"))?;
                json(&json!({ "host": args.host, "status": status }))
            }
        }
    }
}
