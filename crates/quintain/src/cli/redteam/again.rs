//! Commands that show a finding again.

use std::path::Path;

use quintain_evidence::connection::{Launch, McpTarget};
use quintain_evidence::probe::Step;
use serde_json::{Value, json};

use crate::cli::suite::Opened;
use crate::cli::target::{TargetArgs, quoted};

/// A command line that sends a step again to a target that is named so.
pub(super) fn call(step: &Step, target: &str) -> String {
    let what = match step {
        Step::Call(call) => {
            let args = Value::Object(call.args.clone()).to_string();
            format!("{} {}", quoted(&call.tool), quoted(&args))
        }
        Step::Request { method, params, .. } => {
            let request = json!({"method": method, "params": params});
            format!("--raw {}", quoted(&request.to_string()))
        }
    };
    format!("quintain call {what} {target}")
}

/// How a command line names the target: as the one at hand did, or by how it is started.
pub(in crate::cli) fn target(
    args: &TargetArgs,
    opened: Option<&Opened>,
    target: &McpTarget,
) -> String {
    let launch = target.servers.first().map(|server| by_launch(&server.launch));
    args.again(opened, launch)
}

/// How a command line names a target that is started or reached so.
pub(in crate::cli) fn by_launch(launch: &Launch) -> String {
    match launch {
        Launch::Command { command, args, cwd, .. } => {
            let words = std::iter::once(command).chain(args).map(|word| quoted(word));
            format!("{}-- {}", folder(cwd.as_deref()), words.collect::<Vec<_>>().join(" "))
        }
        Launch::Path { path, runtime, args, cwd, .. } => {
            let path = path.display().to_string();
            let words = std::iter::once(&path).chain(args).map(|word| quoted(word));
            let words = words.collect::<Vec<_>>().join(" ");
            format!("{}-- {} {words}", folder(cwd.as_deref()), runtime.command())
        }
        Launch::Url { url, .. } => format!("--url {}", quoted(url)),
    }
}

fn folder(cwd: Option<&Path>) -> String {
    cwd.map(|cwd| format!("--cwd {} ", quoted(&cwd.to_string_lossy()))).unwrap_or_default()
}
