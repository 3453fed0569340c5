//! Conversations in the form of Anthropic's messages: the system prompt apart, content as blocks, roles in turns.

use serde_json::{Map, Value, json};

use crate::chat::Prompt;
use crate::conversation::text_of;
use crate::error::ModelError;

/// A conversation ready to send.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Conversation {
    pub(crate) system: Option<Value>,
    pub(crate) messages: Vec<Value>,
    /// Of a message that asks for it.
    pub(crate) thinking: Option<Value>,
}

/// # Errors
/// When the text looks like a conversation and cannot be parsed.
pub(crate) fn read(prompt: &Prompt) -> Result<Conversation, ModelError> {
    let text = match prompt {
        Prompt::Messages(messages) => return Ok(of_messages(messages)),
        Prompt::Text(text) => text,
    };
    // promptfoo sends a broken list as text; an error is more useful.
    match crate::conversation::json_messages(text)? {
        Some(messages) => Ok(of_messages(&messages)),
        None => Ok(of_lines(text)),
    }
}

fn of_messages(messages: &[Value]) -> Conversation {
    let mut conversation = Conversation::default();
    let mut system: Vec<Value> = Vec::new();
    for message in messages {
        if let Some(thinking) = message.get("thinking").filter(|thinking| !thinking.is_null()) {
            conversation.thinking.get_or_insert_with(|| thinking.clone());
        }
        let role = message.get("role").and_then(Value::as_str).unwrap_or_default();
        let content = message.get("content").unwrap_or(&Value::Null);
        match role {
            "" => {}
            "system" | "developer" => system.extend(blocks(content)),
            "tool" => conversation.push("user", vec![tool_result(message)]),
            "assistant" => {
                let mut all = blocks(content);
                all.extend(tool_uses(message));
                conversation.push("assistant", all);
            }
            other => conversation.push(other, blocks(content)),
        }
    }
    conversation.system = (!system.is_empty()).then_some(Value::Array(system));
    conversation
}

impl Conversation {
    /// Results of parallel calls belong into one message, so messages of one role are joined.
    fn push(&mut self, role: &str, blocks: Vec<Value>) {
        if blocks.is_empty() {
            return;
        }
        let is_results = |blocks: &[Value]| {
            blocks
                .iter()
                .all(|block| block.get("type").and_then(Value::as_str) == Some("tool_result"))
        };
        if let Some(last) = self.messages.last_mut() {
            let same_role = last.get("role").and_then(Value::as_str) == Some(role);
            if let (true, Some(Value::Array(content))) = (same_role, last.get_mut("content"))
                && is_results(&blocks)
                && is_results(content)
            {
                content.extend(blocks);
                return;
            }
        }
        self.messages.push(json!({"role": role, "content": blocks}));
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// Content as blocks. Empty texts are left out, since the service rejects them.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![text_block(text)],
        Value::Array(parts) => parts.iter().map(block).collect(),
        other => vec![text_block(&other.to_string())],
    }
}

fn block(part: &Value) -> Value {
    match part {
        Value::String(text) => text_block(text),
        part => image_url(part).unwrap_or_else(|| embedded_image(part)),
    }
}

/// OpenAI's form of an image.
fn image_url(part: &Value) -> Option<Value> {
    let url = part.pointer("/image_url/url").or_else(|| part.get("image_url"))?.as_str()?;
    let source = match data_url(url) {
        Some((media_type, data)) => {
            json!({"type": "base64", "media_type": media_type, "data": data})
        }
        None => json!({"type": "url", "url": url}),
    };
    Some(json!({"type": "image", "source": source}))
}

/// An image whose data is a data URL, which templates make.
fn embedded_image(part: &Value) -> Value {
    let mut part = part.clone();
    let data = part.pointer("/source/data").and_then(Value::as_str);
    let Some((media_type, data)) = data.and_then(data_url) else { return part };
    let (media_type, data) = (media_type.to_owned(), data.to_owned());
    if let Some(Value::Object(source)) = part.get_mut("source") {
        source.entry("media_type").or_insert(json!(media_type));
        source.insert("data".to_owned(), json!(data));
    }
    part
}

fn data_url(url: &str) -> Option<(&str, &str)> {
    url.strip_prefix("data:")?.split_once(";base64,")
}

/// OpenAI's form of calls.
fn tool_uses(message: &Value) -> Vec<Value> {
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let made = calls.map(|call| {
        let function = call.get("function").unwrap_or(call);
        let input = match function.get("arguments") {
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
            Some(other) => other.clone(),
            None => Value::Null,
        };
        let input = if input.is_object() { input } else { Value::Object(Map::new()) };
        json!({"type": "tool_use", "id": call.get("id"), "name": function.get("name"), "input": input})
    });
    made.collect()
}

/// OpenAI's form of a result.
fn tool_result(message: &Value) -> Value {
    let content = message.get("content").unwrap_or(&Value::Null);
    let content = match content {
        Value::Array(_) => Value::Array(blocks(content)),
        other => Value::String(text_of(other)),
    };
    let mut result = json!({"type": "tool_result", "tool_use_id": message.get("tool_call_id"), "content": content});
    if message.get("is_error").and_then(Value::as_bool) == Some(true) {
        result["is_error"] = json!(true);
    }
    result
}

/// As in promptfoo, lines may start with `system:`, `user:` or `assistant:`. Other texts are one message, unchanged.
fn of_lines(text: &str) -> Conversation {
    let role = |line: &str| {
        let line = line.trim_start();
        ["system:", "user:", "assistant:"].into_iter().find(|mark| line.starts_with(mark))
    };
    if !text.lines().any(|line| role(line).is_some()) {
        let messages = vec![json!({"role": "user", "content": [text_block(text)]})];
        return Conversation { messages, ..Conversation::default() };
    }
    let mut conversation = Conversation::default();
    let mut current: Option<(&str, Vec<&str>)> = None;
    let push = |conversation: &mut Conversation, current: Option<(&str, Vec<&str>)>| {
        if let Some((role, lines)) = current {
            let text = lines.join("\n");
            conversation.messages.push(json!({"role": role, "content": [text_block(&text)]}));
        }
    };
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match role(line) {
            Some("system:") => {
                conversation.system = Some(json!([text_block(line["system:".len()..].trim())]));
            }
            Some(mark) => {
                push(&mut conversation, current.take());
                current = Some((mark.trim_end_matches(':'), vec![line[mark.len()..].trim()]));
            }
            None => current.get_or_insert(("user", Vec::new())).1.push(line),
        }
    }
    push(&mut conversation, current);
    conversation
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_text(text: &str) -> Conversation {
        read(&Prompt::from(text)).unwrap()
    }

    #[test]
    fn the_system_prompt_is_taken_out_of_json() {
        let found = of_text(
            r#"[{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Hi"}]"#,
        );
        assert_eq!(found.system, Some(json!([{"type": "text", "text": "Be brief"}])));
        assert_eq!(
            found.messages,
            [json!({"role": "user", "content": [{"type": "text", "text": "Hi"}]})]
        );
    }

    #[test]
    fn yaml_and_other_texts_stay_as_they_are() {
        for text in ["Hi\n\n  there", "- role: user\n  content: Hi"] {
            let expected = json!({"role": "user", "content": [{"type": "text", "text": text}]});
            assert_eq!(of_text(text).messages, [expected]);
        }
    }

    #[test]
    fn lines_with_roles_are_messages() {
        let found = of_text("system: Be brief\nuser: Hi\nthere\nassistant: Hello");
        assert_eq!(found.system, Some(json!([{"type": "text", "text": "Be brief"}])));
        assert_eq!(found.messages.len(), 2);
        assert_eq!(found.messages[0]["content"][0]["text"], "Hi\nthere");
    }

    #[test]
    fn calls_and_results_of_openai_become_blocks() {
        let messages = vec![
            json!({"role": "user", "content": "2+3 and 1+1"}),
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "function": {"name": "add", "arguments": "{\"x\":2}"}},
                {"id": "b", "function": {"name": "add", "arguments": "broken"}}]}),
            json!({"role": "tool", "tool_call_id": "a", "content": "5"}),
            json!({"role": "tool", "tool_call_id": "b", "content": "no", "is_error": true}),
        ];
        let found = read(&Prompt::Messages(messages)).unwrap().messages;
        assert_eq!(
            found[1]["content"][0],
            json!({"type": "tool_use", "id": "a", "name": "add", "input": {"x": 2}})
        );
        assert_eq!(found[1]["content"][1]["input"], json!({}));
        let results = json!([
            {"type": "tool_result", "tool_use_id": "a", "content": "5"},
            {"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": true}]);
        assert_eq!(found[2], json!({"role": "user", "content": results}));
        assert_eq!(found.len(), 3);
    }
}
