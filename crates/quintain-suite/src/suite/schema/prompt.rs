//! `prompts`: texts, calls in YAML, files.

use quintain_content::schema::build::{any, either, keys, list, map, map_of, refer, scalar, text};
use serde_json::{Value, json};

const FILE: &str = "A template, or a file with prompts: `file://PATH`";

pub(super) fn prompts() -> Value {
    let by_name = map_of("Files with prompts, each with its label", any("Its label"));
    either(
        "What to send: templates that are expanded with the variables of a test",
        [list("", refer("prompt")), scalar(FILE), refer("call"), written(), by_name],
    )
}

pub(super) fn prompt() -> Value {
    either("One prompt", [scalar(FILE), refer("call"), written()])
}

/// A prompt with a label.
fn written() -> Value {
    let entries = [
        ("raw", any("A template, a call, or `file://PATH`")),
        ("label", scalar("The name in reports and filters")),
        ("id", scalar("The name that tests refer to; without `raw`, a file with prompts")),
        ("display", scalar("The same as `label`")),
        ("config", any("Has no effect")),
        ("template", any("Has no effect")),
        ("description", any("Description of the prompt")),
    ];
    quintain_content::schema::build::with_one_of(
        keys("A prompt with a label", entries, &[]),
        &["raw", "id"],
    )
}

/// What is sent to an MCP server. Other names for `tool` and `args` are accepted as well.
pub(super) fn call() -> Value {
    json!({
        "description": "A tool call, a request, or a sequence of requests",
        "type": "object",
        "properties": {
            "tool": text("The name of the tool"),
            "args": map("The arguments of the tool; texts are templates"),
            "method": text("Any other request: `resources/read`, `prompts/get`, ..."),
            "params": map("The parameters of the request"),
            "steps": list("Requests to send one after the other", refer("step")),
            "server": text("The server to send to, if the target has several"),
            "label": any("The name in reports and filters"),
        },
        "anyOf": [{"required": ["tool"]}, {"required": ["method"]}, {"required": ["steps"]}],
    })
}

pub(super) fn step() -> Value {
    json!({
        "description": "One request of a sequence",
        "type": "object",
        "properties": {
            "tool": text("The name of the tool"),
            "args": map("The arguments of the tool; may refer to values that earlier steps captured"),
            "method": text("Any other request: `resources/read`, `prompts/get`, ..."),
            "params": map("The parameters of the request"),
            "server": text("The server to send to, if the target has several"),
            "capture": map("Values of the result for later steps, by name: `who: $.structuredContent.id`"),
        },
    })
}
