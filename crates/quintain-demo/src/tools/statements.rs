//! `read_statement`: a directory that the vulnerable twin protects with a string comparison.

use rmcp::{
    model::CallToolResponse,
    schemars::{self, JsonSchema},
};
use serde::Deserialize;

use super::{Call, DemoTool, Effect, ToolError, paths, text};
use crate::config::Twin;

pub(super) struct ReadStatement;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The path of the statement below the statements directory.
    #[schemars(example = &"2026-01.txt", length(min = 1, max = 255))]
    path: String,
}

impl DemoTool for ReadStatement {
    type Args = Args;

    const NAME: &'static str = "read_statement";
    const TITLE: &'static str = "Read statement";
    const DESCRIPTION: &'static str = "Returns a monthly statement of the shop from the statements directory, for example 2026-01.txt.";
    const EFFECT: Effect = Effect::Reads;

    async fn call(call: Call<'_>, args: Args) -> Result<CallToolResponse, ToolError> {
        let root = call.store().statements();
        let path = match call.twin() {
            // PLANTED (path-traversal): the prefix also matches the sibling `statements-archive`, and a
            // link inside the directory is never resolved.
            Twin::Vulnerable => {
                let path = paths::without_dots(&root.join(&args.path));
                if !path.display().to_string().starts_with(&root.display().to_string()) {
                    return Err(ToolError::Refused("path is outside of the statements directory"));
                }
                path
            }
            Twin::Patched => paths::inside(&root, &args.path)?,
        };
        paths::read(path).await.map(text)
    }
}
