//! Events of Anthropic's stream, assembled into a message.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::exchange::{Assemble, Failure};

#[derive(Default)]
pub(crate) struct MessagesStream {
    message: Map<String, Value>,
    /// By their index.
    blocks: BTreeMap<u64, Block>,
    is_stopped: bool,
}

struct Block {
    start: Value,
    /// Text, thinking or JSON, by kind.
    text: String,
    json: String,
    signature: String,
}

impl MessagesStream {
    fn delta(&mut self, event: &Value) {
        let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
        let (Some(block), Some(delta)) = (self.blocks.get_mut(&index), event.get("delta")) else {
            return;
        };
        let piece = |key: &str| delta.get(key).and_then(Value::as_str).unwrap_or_default();
        block.text.push_str(piece("text"));
        block.text.push_str(piece("thinking"));
        block.json.push_str(piece("partial_json"));
        block.signature.push_str(piece("signature"));
    }

    /// Counts of later events replace those of earlier ones.
    fn usage(&mut self, usage: Option<&Value>) {
        let Some(Value::Object(new)) = usage else { return };
        let known = self.message.entry("usage").or_insert_with(|| json!({}));
        if let Value::Object(known) = known {
            for (key, value) in new.iter().filter(|(_, value)| !value.is_null()) {
                known.insert(key.clone(), value.clone());
            }
        }
    }
}

impl Assemble for MessagesStream {
    fn event(&mut self, event: &Value) -> Result<(), Failure> {
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                if let Some(Value::Object(message)) = event.get("message") {
                    self.message.clone_from(message);
                }
            }
            Some("content_block_start") => {
                let index = event.get("index").and_then(Value::as_u64).unwrap_or(0);
                let start = event.get("content_block").cloned().unwrap_or(Value::Null);
                let text =
                    start.get("text").or_else(|| start.get("thinking")).and_then(Value::as_str);
                let text = text.unwrap_or_default().to_owned();
                let block = Block { start, text, json: String::new(), signature: String::new() };
                self.blocks.insert(index, block);
            }
            Some("content_block_delta") => self.delta(event),
            Some("message_delta") => {
                if let Some(Value::Object(delta)) = event.get("delta") {
                    self.message.extend(delta.clone());
                }
                self.usage(event.get("usage"));
            }
            Some("message_stop") => self.is_stopped = true,
            _ => {}
        }
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.is_stopped
    }

    fn body(&mut self) -> Value {
        let mut message = std::mem::take(&mut self.message);
        let blocks = std::mem::take(&mut self.blocks).into_values().map(|block| {
            let Block { mut start, text, json, signature } = block;
            match start.get("type").and_then(Value::as_str) {
                Some("text") => start["text"] = json!(text),
                Some("thinking") => {
                    start["thinking"] = json!(text);
                    start["signature"] = json!(signature);
                }
                Some("tool_use" | "server_tool_use") if !json.is_empty() => {
                    // Broken arguments stay as text, so that they can be shown.
                    start["input"] = serde_json::from_str(&json).unwrap_or(Value::String(json));
                }
                _ => {}
            }
            start
        });
        message.insert("content".to_owned(), blocks.collect());
        Value::Object(message)
    }
}
