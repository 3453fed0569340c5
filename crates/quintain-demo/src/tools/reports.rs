//! `export_report`: sorts a report with the `sort` program.

use std::path::{Component, Path};

use rmcp::{
    model::CallToolResponse,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;
use tokio::process::Command;

use super::{Call, DemoTool, Effect, ToolError, process, text};
use crate::config::Twin;

pub(super) struct ExportReport;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The file name of the report: transactions.csv or payouts.csv.
    #[schemars(example = &"transactions.csv", length(min = 1, max = 255))]
    report: String,
}

impl DemoTool for ExportReport {
    type Args = Args;

    const NAME: &'static str = "export_report";
    const TITLE: &'static str = "Export report";
    const DESCRIPTION: &'static str =
        "Returns the monthly totals of a report as CSV, sorted by month.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: Args) -> Result<CallToolResponse, ToolError> {
        let mut command = Command::new("sort");
        command.args(["-t", ",", "-k", "2"]).current_dir(call.store().reports());
        match call.twin() {
            // PLANTED (argument-injection): the name cannot leave the directory, but one that starts
            // with a dash is an option to the program.
            Twin::Vulnerable => {
                let leaves = |component| !matches!(component, Component::Normal(_));
                if Path::new(&args.report).components().any(leaves) {
                    return Err(ToolError::Refused("report names have no directory"));
                }
            }
            Twin::Patched => {
                if !["transactions.csv", "payouts.csv"].contains(&args.report.as_str()) {
                    return Err(ToolError::NotFound("report"));
                }
                command.arg("--");
            }
        }
        process::output("sort", command.arg(&args.report)).await.map(text)
    }
}
