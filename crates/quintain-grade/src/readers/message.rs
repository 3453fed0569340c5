//! Messages and items of chat logs: of OpenAI (chat and Responses), of Anthropic, and of the GenAI conventions. Logs mix
//! them, so one function reads all; the readers of the formats differ in what surrounds the messages.

use quintain_evidence::trace::{Args, CallOutcome, Role};
use serde_json::Value;

use super::conversation::{Conversation, LoggedCall};
use crate::json_input::record::{any_text, id_text, json_in, seconds, take, take_any, text};
use crate::offers;
use crate::outcome;

/// Whether a value is a message or an item of a log.
pub(super) fn is_message(value: &Value) -> bool {
    let role = text(value, "role").is_some_and(|name| Speaker::of(name).is_some());
    role && ["content", "tool_calls", "function_call", "parts"]
        .iter()
        .any(|key| value.get(key).is_some())
        || text(value, "type").is_some_and(is_item)
}

/// The items of the Responses API that are part of the conversation.
fn is_item(kind: &str) -> bool {
    kind.ends_with("_call")
        || kind.ends_with("_call_output")
        || matches!(kind, "mcp_list_tools" | "mcp_approval_request" | "mcp_approval_response")
        || matches!(kind, "reasoning" | "item_reference" | "compaction")
}

enum Speaker {
    Said(Role),
    /// A result of a tool.
    Tool,
}

impl Speaker {
    fn of(role: &str) -> Option<Self> {
        Some(match role {
            "system" | "developer" => Self::Said(Role::System),
            "user" | "human" => Self::Said(Role::User),
            "assistant" | "model" | "ai" => Self::Said(Role::Assistant),
            "tool" | "function" | "ipython" => Self::Tool,
            _ => return None,
        })
    }
}

/// Adds a message or an item to a conversation.
///
/// # Errors
/// If it is neither.
pub(super) fn add(
    talk: &mut Conversation,
    mut message: Value,
    at: Option<f64>,
) -> Result<(), String> {
    let own = ["timestamp", "created_at", "created"];
    let at = at.or_else(|| own.iter().find_map(|key| seconds(message.get(key)?)));
    if let Some(role) = text(&message, "role") {
        let Some(speaker) = Speaker::of(role) else {
            return Err(format!("unknown role `{role}` of a message"));
        };
        match speaker {
            Speaker::Said(role) => said(talk, role, &mut message, at),
            Speaker::Tool => tool_message(talk, &mut message, at),
        }
        return Ok(());
    }
    let Some(kind) = text(&message, "type").map(str::to_owned) else {
        return Err("expected a message with `role`, or an item with `type`".to_owned());
    };
    item(talk, &kind, &mut message, at);
    Ok(())
}

fn said(talk: &mut Conversation, role: Role, message: &mut Value, at: Option<f64>) {
    match take_any(message, &["content", "parts"]) {
        Some(Value::String(content)) => talk.say(role, content, at),
        Some(Value::Array(blocks)) => add_blocks(talk, role, blocks, at),
        Some(other) => add_blocks(talk, role, vec![other], at),
        None => {
            if let Some(refusal) = text(message, "refusal") {
                talk.say(role, refusal.to_owned(), at);
            }
        }
    }
    if let Some(Value::Array(calls)) = take(message, "tool_calls") {
        for call in calls {
            tool_call(talk, call, at);
        }
    }
    if let Some(call) = take(message, "function_call") {
        tool_call(talk, call, at);
    }
}

/// A call in a message of OpenAI: `{id, function: {name, arguments}}`, or the function alone.
fn tool_call(talk: &mut Conversation, mut call: Value, at: Option<f64>) {
    let id = take(&mut call, "id").as_ref().and_then(id_text);
    let mut function = take_any(&mut call, &["function", "custom"]).unwrap_or(call);
    let Some(name) = text(&function, "name").map(str::to_owned) else { return };
    let args = args(take_any(&mut function, &["arguments", "args", "input"]));
    talk.call(LoggedCall { name, args, id, server: None, at });
}

/// Arguments as a model wrote them: text, or JSON.
fn args(value: Option<Value>) -> Args {
    match value {
        None => Args::default(),
        Some(Value::String(text)) => Args::from_text(&text),
        Some(other) => Args::Json(other),
    }
}

fn tool_message(talk: &mut Conversation, message: &mut Value, at: Option<f64>) {
    let is_error = flag(message, &["is_error", "isError"]);
    let id = any_text(message, &["tool_call_id", "tool_use_id", "call_id"]).map(str::to_owned);
    let name = any_text(message, &["name", "tool_name"]).map(str::to_owned);
    let content = take_any(message, &["content", "parts"]).unwrap_or_default();
    // The GenAI conventions and newer logs have a block with the id in the message.
    if let Value::Array(blocks) = &content
        && id.is_none()
        && blocks.iter().any(|block| text(block, "type").is_some_and(is_result_block))
    {
        let Value::Array(blocks) = content else { return };
        return add_blocks(talk, Role::User, blocks, at);
    }
    talk.answer(id.as_deref(), name.as_deref(), outcome::of_content(content, is_error), at);
}

fn flag(value: &Value, keys: &[&str]) -> bool {
    keys.iter().any(|key| value.get(key).and_then(Value::as_bool) == Some(true))
}

fn is_result_block(kind: &str) -> bool {
    kind.ends_with("tool_result") || kind == "tool_call_response" || kind == "tool-result"
}

/// Adds the blocks of a message in their order. Neighbouring texts are one message.
fn add_blocks(talk: &mut Conversation, role: Role, blocks: Vec<Value>, at: Option<f64>) {
    let mut texts: Vec<String> = Vec::new();
    let flush = |talk: &mut Conversation, texts: &mut Vec<String>| {
        if !texts.is_empty() {
            talk.say(role, texts.join("\n"), at);
            texts.clear();
        }
    };
    for mut block in blocks {
        if let Value::String(text) = block {
            texts.push(text);
            continue;
        }
        let kind = text(&block, "type").unwrap_or("text").to_owned();
        match kind.as_str() {
            "text" | "input_text" | "output_text" | "refusal" => {
                let found = any_text(&block, &["text", "content", "refusal"]);
                texts.extend(found.map(str::to_owned));
            }
            kind if kind.ends_with("tool_use") || matches!(kind, "tool_call" | "tool-call") => {
                flush(talk, &mut texts);
                call_block(talk, &mut block, at);
            }
            kind if is_result_block(kind) => {
                flush(talk, &mut texts);
                result_block(talk, &mut block, at);
            }
            // Thoughts are not said to the user; images and files have no text.
            _ => {}
        }
    }
    flush(talk, &mut texts);
}

fn call_block(talk: &mut Conversation, block: &mut Value, at: Option<f64>) {
    let Some(name) = any_text(block, &["name", "toolName"]).map(str::to_owned) else { return };
    let id = any_text(block, &["id", "toolCallId"]).map(str::to_owned);
    let server = any_text(block, &["server_name", "server"]).map(str::to_owned);
    let args = args(take_any(block, &["input", "arguments", "args"]));
    talk.call(LoggedCall { name, args, id, server, at });
}

fn result_block(talk: &mut Conversation, block: &mut Value, at: Option<f64>) {
    let is_error = flag(block, &["is_error", "isError"]);
    let id = any_text(block, &["tool_use_id", "id", "toolCallId"]).map(str::to_owned);
    let name = any_text(block, &["name", "toolName"]).map(str::to_owned);
    let content = take_any(block, &["content", "response", "result", "output"]).unwrap_or_default();
    talk.answer(id.as_deref(), name.as_deref(), outcome::of_content(content, is_error), at);
}

/// An item of the Responses API.
fn item(talk: &mut Conversation, kind: &str, item: &mut Value, at: Option<f64>) {
    match kind {
        "mcp_call" => mcp_call(talk, item, at),
        "mcp_list_tools" => {
            if let Some(Value::Array(tools)) = take(item, "tools") {
                let server = text(item, "server_label").map(str::to_owned);
                talk.list(server, offers::tools(tools));
            }
        }
        kind if kind.ends_with("_call_output") => {
            let id = text(item, "call_id").map(str::to_owned);
            let output = take(item, "output").unwrap_or_default();
            talk.answer(id.as_deref(), None, outcome::of_content(output, false), at);
        }
        // Calls of built-in tools have no name.
        kind if kind.ends_with("_call") => {
            let Some(name) = text(item, "name").map(str::to_owned) else { return };
            let id = any_text(item, &["call_id", "id"]).map(str::to_owned);
            let args = args(take_any(item, &["arguments", "input"]));
            talk.call(LoggedCall { name, args, id, server: None, at });
        }
        _ => {}
    }
}

fn mcp_call(talk: &mut Conversation, item: &mut Value, at: Option<f64>) {
    let Some(name) = text(item, "name").map(str::to_owned) else { return };
    let id = text(item, "id").map(str::to_owned);
    let server = text(item, "server_label").map(str::to_owned);
    let args = args(take(item, "arguments"));
    let step = talk.call(LoggedCall { name, args, id, server, at });
    if let Some(error) = take(item, "error") {
        talk.answer_step(step, mcp_error(error), None);
    } else if let Some(output) = take(item, "output") {
        talk.answer_step(step, outcome::of_content(output, false), None);
    }
}

/// An error of a tool has its content; an error of the protocol has a code.
fn mcp_error(error: Value) -> CallOutcome {
    let mut error = match error {
        Value::String(text) => match json_in(&text).filter(Value::is_object) {
            Some(object) => object,
            None => Value::String(text),
        },
        other => other,
    };
    match take(&mut error, "content") {
        Some(content) => outcome::of_content(content, true),
        None => outcome::of_error(error),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, Trace};
    use serde_json::json;

    use super::*;

    fn talk(messages: Value) -> Trace {
        let mut talk = Conversation::default();
        let Value::Array(messages) = messages else { panic!() };
        for message in messages {
            assert!(is_message(&message), "{message}");
            add(&mut talk, message, None).unwrap();
        }
        talk.finish()
    }

    fn outline(trace: &Trace) -> Vec<String> {
        let steps = trace.steps.iter().map(|step| match (step.as_message(), step.as_call()) {
            (Some(message), _) => format!("{:?}: {}", message.role, message.text),
            (_, Some(call)) => format!("{} -> {}", call.name, call.text()),
            _ => String::new(),
        });
        steps.collect()
    }

    #[test]
    fn chat_messages_with_tool_calls_are_read() {
        let trace = talk(json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Add"}, {"type": "image_url"}]},
            {"role": "assistant", "content": "Sure.", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1}"}},
                {"id": "c2", "type": "function", "function": {"name": "add", "arguments": "{oops"}}
            ]},
            {"role": "tool", "tool_call_id": "c2", "content": "bad"},
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "2"}]},
            {"role": "assistant", "content": null, "function_call": {"name": "old", "arguments": ""}},
            {"role": "function", "name": "old", "content": "3"},
            {"role": "assistant", "content": "It is 2."}
        ]));
        assert_eq!(
            outline(&trace),
            [
                "System: Be brief.",
                "User: Add",
                "Assistant: Sure.",
                "add -> 2",
                "add -> bad",
                "old -> 3",
                "Assistant: It is 2."
            ]
        );
        let args: Vec<&Args> = trace.calls().map(|call| &call.args).collect();
        assert_eq!(args[1], &Args::Invalid("{oops".into()));
        assert_eq!(args[2], &Args::default());
    }

    #[test]
    fn blocks_of_anthropic_are_read_in_order() {
        let trace = talk(json!([
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Oslo"}},
                {"type": "mcp_tool_use", "id": "m1", "name": "geo", "server_name": "maps", "input": {}},
                {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": true, "content": [{"type": "text", "text": "down"}]}
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "3 degrees"},
                {"type": "text", "text": "and tomorrow?"}
            ]}
        ]));
        assert_eq!(
            outline(&trace),
            [
                "User: Weather?",
                "Assistant: Let me look.",
                "weather -> 3 degrees",
                "geo -> down",
                "User: and tomorrow?"
            ]
        );
        let calls: Vec<&Call> = trace.calls().collect();
        assert!(calls[1].is_error() && !calls[0].is_error());
        assert_eq!(calls[1].server.as_deref(), Some("maps"));
        assert!(trace.server("maps").is_some());
    }

    #[test]
    fn items_of_responses_are_read() {
        let trace = talk(json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go"}]},
            {"type": "mcp_list_tools", "id": "l", "server_label": "deep", "tools": [{"name": "ask", "input_schema": {"type": "object"}}]},
            {"type": "reasoning", "summary": []},
            {"type": "mcp_call", "id": "m", "server_label": "deep", "name": "ask", "arguments": "{}", "output": "yes"},
            {"type": "mcp_call", "id": "n", "server_label": "deep", "name": "ask", "arguments": "{}", "output": null, "error": {"type": "mcp_protocol_error", "code": 32600, "message": "no"}},
            {"type": "function_call", "call_id": "f", "id": "x", "name": "add", "arguments": "{\"a\": 1}"},
            {"type": "function_call_output", "call_id": "f", "output": "2"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done"}]}
        ]));
        assert_eq!(
            outline(&trace),
            ["User: Go", "ask -> yes", "ask -> no", "add -> 2", "Assistant: Done"]
        );
        assert_eq!(trace.server("deep").unwrap().tools_at(1).unwrap().len(), 1);
        assert!(trace.calls().nth(1).unwrap().is_error());
    }

    #[test]
    fn parts_of_the_genai_conventions_are_read() {
        let trace = talk(json!([
            {"role": "user", "parts": [{"type": "text", "content": "Weather?"}]},
            {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "weather", "arguments": {"city": "Oslo"}}]},
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": "rain"}]}
        ]));
        assert_eq!(outline(&trace), ["User: Weather?", "weather -> rain"]);
    }

    #[test]
    fn hostile_messages_are_refused_or_skipped() {
        let mut talk = Conversation::default();
        assert!(add(&mut talk, json!(7), None).is_err());
        assert!(add(&mut talk, json!({"role": "king", "content": "x"}), None).is_err());
        for odd in [
            json!({"role": "assistant", "content": {"type": 7}, "tool_calls": [null, {"function": 3}]}),
            json!({"role": "tool"}),
            json!({"type": "mcp_call"}),
            json!({"role": "user", "content": [[], {"type": "tool_use"}, null]}),
        ] {
            add(&mut talk, odd, None).unwrap();
        }
        assert_eq!(talk.finish().calls().count(), 0);
    }
}
