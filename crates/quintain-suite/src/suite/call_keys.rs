//! Misspelt keys of tool calls. A target ignores them, so that the call would be sent without what they say.

use quintain_evidence::tool_call::{ARGS_KEYS, NAME_KEYS};
use quintain_source::{Diagnostic, Diagnostics, Node, Severity, closest};

/// Keys of a call apart from its name and arguments.
const OTHERS: [&str; 10] =
    ["method", "steps", "server", "capture", "label", "id", "jsonrpc", "_meta", "assert", "raw"];

fn known() -> impl Iterator<Item = &'static str> + Clone {
    NAME_KEYS.into_iter().chain(ARGS_KEYS).chain(OTHERS)
}

/// Reports keys of calls that resemble a known key. Other unknown keys are ignored, as promptfoo does.
pub(super) fn check(node: &Node, severity: Severity, dx: &mut Diagnostics) {
    let steps = node.get("steps").and_then(Node::as_seq).unwrap_or_default();
    for call in std::iter::once(node).chain(steps) {
        if call.get("tool").is_none() {
            continue;
        }
        let has_args = ARGS_KEYS.iter().any(|key| call.get(key).is_some());
        for (key, _) in call.as_map().unwrap_or_default() {
            let is_known = known().any(|name| name == key.text);
            let Some(meant) = closest(&key.text, ARGS_KEYS).filter(|_| !is_known && !has_args)
            else {
                continue;
            };
            let title = format!("unknown key `{}` in a tool call", key.text);
            let diagnostic = Diagnostic::new(severity, "config::unknown-key", title);
            dx.push(
                diagnostic
                    .at(key.span, "the call is sent without it")
                    .help(format!("did you mean `{meant}`?")),
            );
        }
    }
}

/// The mistake of a map that is a call but for the spelling of its first key.
pub(super) fn misspelt_call(node: &Node) -> Option<Diagnostic> {
    let entries = node.as_map()?;
    let has_args = entries.iter().any(|(key, _)| ARGS_KEYS.contains(&key.text.as_str()));
    let candidates = ["tool", "method", "steps"];
    let near = entries.iter().find_map(|(key, _)| Some((key, closest(&key.text, candidates)?)));
    let title = |name: &str| format!("unknown key `{name}` in a prompt");
    match near {
        Some((key, meant)) => Some(
            Diagnostic::error("config::unknown-key", title(&key.text))
                .at(key.span, "not a key here")
                .help(format!("did you mean `{meant}`?")),
        ),
        None if has_args => Some(
            Diagnostic::error("config::missing-key", "missing key `tool` in a prompt")
                .at(node.span, "a call needs the name of a tool"),
        ),
        None => None,
    }
}
