//! `prompts`: texts, calls written as YAML, files.

use quintain_content::schema::build::{any, either, keys, list, map, map_of, refer, scalar, text};
use serde_json::{Value, json};

const FILE: &str = "A template, or a file with prompts: `file://PATH`";

pub(super) fn prompts() -> Value {
    let by_name = map_of("Files with prompts, each with its label", any("Its label"));
    either(
        "What to send: templates in which the variables of a test are filled in",
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
        ("label", scalar("What reports and filters call it")),
        ("id", scalar("What tests refer to it by; without `raw` a file with prompts")),
        ("display", scalar("The same as `label`")),
        ("config", any("Has no effect")),
        ("template", any("Has no effect")),
        ("description", any("What it is for")),
    ];
    quintain_content::schema::build::with_one_of(
        keys("A prompt with a label", entries, &[]),
        &["raw", "id"],
    )
}

/// What is sent to an MCP server. Other names of `tool` and `args` are understood as well.
pub(super) fn call() -> Value {
    json!({
        "description": "A tool call, a request, or several of them",
        "type": "object",
        "properties": {
            "tool": text("The name of the tool"),
            "args": map("Its arguments; texts are templates"),
            "method": text("Any other request: `resources/read`, `prompts/get`, ..."),
            "params": map("The parameters of the request"),
            "steps": list("Requests that are sent one after the other", refer("step")),
            "server": text("Which of several servers to ask"),
            "label": any("What reports and filters call it"),
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
            "args": map("Its arguments; they may mention what earlier steps captured"),
            "method": text("Any other request: `resources/read`, `prompts/get`, ..."),
            "params": map("The parameters of the request"),
            "server": text("Which of several servers to ask"),
            "capture": map("Values to keep of the result, by name: `who: $.structuredContent.id`"),
        },
    })
}
