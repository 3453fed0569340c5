//! A prompt for a model with its response: what the user says, the calls that the model asks for, and what it answers.

use quintain_evidence::trace::{Args, Role, Trace};
use serde_json::{Value, json};

use super::conversation::{Conversation, LoggedCall};
use super::message;
use crate::json_input::record::{json_in, take, take_any, text};
use crate::outcome;

/// The conversation that a prompt, text or messages as JSON, and a response make. The response has `output`, and may have
/// `metadata.toolCalls`.
pub(super) fn conversation(raw: &str, response: &mut Value) -> Trace {
    let mut talk = Conversation::default();
    let messages = json_in(raw).and_then(|value| match value {
        Value::Array(messages) if messages.iter().all(message::is_message) => Some(messages),
        _ => None,
    });
    match messages {
        Some(messages) => {
            for message in messages {
                // Each was recognised as a message, so nothing is lost.
                let _ = message::add(&mut talk, message, None);
            }
        }
        None => talk.say(Role::User, raw.to_owned(), None),
    }
    if let Some(Value::Array(calls)) = response.pointer_mut("/metadata/toolCalls").map(Value::take)
    {
        for call in calls {
            add_call(&mut talk, call);
        }
    }
    if let Some(output) = take(response, "output") {
        add_output(&mut talk, output);
    }
    talk.finish()
}

/// What a model answered: text, or the calls that it asks for, as providers of promptfoo write them.
fn add_output(talk: &mut Conversation, output: Value) {
    let parsed = match &output {
        Value::String(text) => json_in(text).filter(|value| value.is_array() || value.is_object()),
        other => Some(other.clone()),
    };
    let message = match parsed {
        // OpenAI: the calls alone, or the message.
        Some(Value::Array(calls))
            if is_all(&calls, |call| call.pointer("/function/name").is_some()) =>
        {
            Some(json!({"role": "assistant", "tool_calls": calls}))
        }
        Some(Value::Array(blocks)) if is_all(&blocks, is_block) => {
            Some(json!({"role": "assistant", "content": blocks}))
        }
        Some(Value::Object(mut message)) if message.contains_key("tool_calls") => {
            message.insert("role".to_owned(), "assistant".into());
            Some(message.into())
        }
        Some(block) if text(&block, "type") == Some("tool_use") => {
            Some(json!({"role": "assistant", "content": [block]}))
        }
        _ => None,
    };
    match (message, output) {
        // It was recognised as a message, so nothing is lost.
        (Some(message), _) => drop(message::add(talk, message, None)),
        (None, Value::String(text)) => add_paragraphs(talk, &text),
        (None, other) => talk.say(Role::Assistant, other.to_string(), None),
    }
}

fn is_all(values: &[Value], is: impl Fn(&Value) -> bool) -> bool {
    !values.is_empty() && values.iter().all(is)
}

fn is_block(block: &Value) -> bool {
    matches!(text(block, "type"), Some("text" | "tool_use"))
}

/// For Anthropic, promptfoo joins texts and calls with empty lines; each call is JSON.
fn add_paragraphs(talk: &mut Conversation, output: &str) {
    let is_call = |part: &&str| {
        let block = part.trim_start().starts_with('{').then(|| json_in(part)).flatten();
        block.is_some_and(|block| {
            text(&block, "type") == Some("tool_use") && block.get("name").is_some()
        })
    };
    if !output.split("\n\n").any(|part| is_call(&part)) {
        talk.say(Role::Assistant, output.to_owned(), None);
        return;
    }
    for part in output.split("\n\n") {
        match json_in(part).filter(|_| is_call(&part)) {
            Some(call) => add_call(talk, call),
            None => talk.say(Role::Assistant, part.to_owned(), None),
        }
    }
}

fn add_call(talk: &mut Conversation, mut call: Value) {
    let Some(name) = text(&call, "name").map(str::to_owned) else { return };
    let id = text(&call, "id").map(str::to_owned);
    let args = match take_any(&mut call, &["input", "arguments", "args"]) {
        Some(Value::String(text)) => Args::from_text(&text),
        Some(other) => Args::Json(other),
        None => Args::default(),
    };
    let is_error = call.get("is_error").and_then(Value::as_bool) == Some(true);
    let step = talk.call(LoggedCall { name, args, id, server: None, at: None });
    if let Some(output) = take_any(&mut call, &["output", "result"]) {
        talk.answer_step(step, outcome::of_content(output, is_error), None);
    }
}
