//! Prompts as conversations. As in promptfoo, a text may be a conversation written as JSON, or as YAML for OpenAI's
//! dialect; otherwise it is one message of the user.

use quintain_source::{Diagnostics, SourceFile, Sources};
use serde_json::{Value, json};

use crate::chat::Prompt;
use crate::error::ModelError;

/// The messages of a prompt for OpenAI's dialect and those derived from it.
///
/// # Errors
/// When the text looks like a conversation and cannot be parsed.
pub fn messages(prompt: &Prompt) -> Result<Vec<Value>, ModelError> {
    let text = match prompt {
        Prompt::Messages(messages) => return Ok(messages.clone()),
        Prompt::Text(text) => text,
    };
    if text.trim_start().starts_with("- role:") {
        return yaml(text);
    }
    Ok(json_messages(text)?.unwrap_or_else(|| vec![user(text)]))
}

/// The messages of a text that is a JSON list; nothing, if it is plain text.
///
/// # Errors
/// When the text looks like JSON and cannot be parsed.
pub(crate) fn json_messages(text: &str) -> Result<Option<Vec<Value>>, ModelError> {
    match quintain_content::json_text::parse(text) {
        Ok(Value::Array(items)) if !items.is_empty() && items.iter().all(Value::is_object) => {
            Ok(Some(items))
        }
        Err(error) if looks_like_messages(text) => {
            let why =
                format!("the prompt looks like a conversation, but is not valid JSON: {error}");
            Err(ModelError::Config(why))
        }
        _ => Ok(None),
    }
}

pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn looks_like_messages(text: &str) -> bool {
    let text = text.trim();
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.is_some_and(|inner| inner.trim_start().starts_with('{'))
}

fn yaml(text: &str) -> Result<Vec<Value>, ModelError> {
    let mut sources = Sources::new();
    let id = sources.add(SourceFile::new("prompt", text));
    let mut dx = Diagnostics::new();
    let read = quintain_source::read(&sources, id, &mut dx).map(|node| node.to_json());
    match read {
        Some(Value::Array(items)) if items.iter().all(Value::is_object) => Ok(items),
        _ => {
            let why =
                dx.iter().next().map_or_else(String::new, |first| format!(": {}", first.text()));
            let why = format!("the prompt looks like a conversation, but is not valid YAML{why}");
            Err(ModelError::Config(why))
        }
    }
}

/// The text of a message: its content, or the text parts of it.
pub(crate) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| match part {
                Value::String(text) => Some(text.as_str()),
                part => part.get("text").and_then(Value::as_str),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Value> {
        messages(&Prompt::from(text)).unwrap()
    }

    #[test]
    fn json_and_yaml_lists_are_conversations() {
        let expected = vec![
            json!({"role": "system", "content": "Be brief"}),
            json!({"role": "user", "content": "Hi"}),
        ];
        let json =
            r#"[{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Hi"}]"#;
        assert_eq!(read(json), expected);
        assert_eq!(
            read("- role: system\n  content: Be brief\n- role: user\n  content: Hi\n"),
            expected
        );
    }

    #[test]
    fn everything_else_is_one_message() {
        for text in ["Hi", "42", "{\"a\": 1}", "[1, 2]", "[INST] Hi [/INST]", "[]", "- a list"] {
            assert_eq!(read(text), vec![user(text)], "{text}");
        }
    }

    #[test]
    fn a_broken_conversation_is_an_error() {
        for text in ["[{\"role\": \"user\", }]", "- role: user\n  content: [\n"] {
            let error = messages(&Prompt::from(text)).unwrap_err().to_string();
            assert!(error.starts_with("the prompt looks like a conversation"), "{error}");
        }
    }
}
