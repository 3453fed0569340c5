//! The command line that sends a step again. Reports, findings and suites all get it from here.

use std::path::Path;

use serde_json::{Value, json};

use crate::connection::{Launch, McpTarget};
use crate::probe::Step;

/// A command line that sends a step again to `target`, as [`reproduced_by`] writes it.
pub fn reproduce(step: &Step, target: &str) -> String {
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

/// A target as command-line arguments: how its first server is started or reached.
pub fn reproduced_by(target: &McpTarget) -> String {
    match target.servers.first().map(|server| &server.launch) {
        Some(Launch::Command { command, args, cwd, .. }) => {
            let words = std::iter::once(command).chain(args).map(|word| quoted(word));
            format!("{}-- {}", folder(cwd.as_deref()), words.collect::<Vec<_>>().join(" "))
        }
        Some(Launch::Path { path, runtime, args, cwd, .. }) => {
            let path = path.display().to_string();
            let words = std::iter::once(&path).chain(args).map(|word| quoted(word));
            let words = words.collect::<Vec<_>>().join(" ");
            format!("{}-- {} {words}", folder(cwd.as_deref()), runtime.command())
        }
        Some(Launch::Url { url, .. }) => format!("--url {}", quoted(url)),
        None => String::new(),
    }
}

fn folder(cwd: Option<&Path>) -> String {
    cwd.map(|cwd| format!("--cwd {} ", quoted(&cwd.to_string_lossy()))).unwrap_or_default()
}

/// A word quoted for a shell.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let step: Step =
            serde_json::from_value(json!({"tool": "find", "args": {"q": "it's"}})).unwrap();
        let expected = "quintain call find '{\"q\":\"it'\\''s\"}' -c suite.yaml";
        assert_eq!(reproduce(&step, "-c suite.yaml"), expected);
        let step: Step = serde_json::from_value(json!({"method": "ping", "params": {}})).unwrap();
        let expected =
            "quintain call --raw '{\"method\":\"ping\",\"params\":{}}' --url http://h/mcp";
        assert_eq!(reproduce(&step, "--url http://h/mcp"), expected);
    }
}
