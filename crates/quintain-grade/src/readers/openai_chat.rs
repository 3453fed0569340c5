//! Chat logs of OpenAI and of everything that speaks its chat API.

use quintain_content::registry::Meta;
use serde_json::Value;

use super::chat_record::{ChatParser, messages_of};
use super::{Parser, Reader, Sample};
use crate::json_input::record::text;

pub(super) struct OpenAiChat;

static META: Meta = Meta {
    id: "openai-chat",
    aliases: &["openai", "chat"],
    summary: "chat messages with `tool_calls` and `role: tool`",
    docs: "\
# What it does
Reads a list of messages, requests with `messages` and `tools`, responses with `choices`, pairs of request and response,
or one message per line. Also reads the older `function_call`. Other keys of a record become labels.

# Example
```json
{\"messages\": [{\"role\": \"user\", \"content\": \"Add 1 and 2\"},
  {\"role\": \"assistant\", \"tool_calls\": [{\"id\": \"c1\", \"type\": \"function\",
    \"function\": {\"name\": \"add\", \"arguments\": \"{\\\"a\\\": 1, \\\"b\\\": 2}\"}}]},
  {\"role\": \"tool\", \"tool_call_id\": \"c1\", \"content\": \"3\"},
  {\"role\": \"assistant\", \"content\": \"The sum is 3.\"}]}
```
",
    since: "0.2.0",
};

impl Reader for OpenAiChat {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn recognises(&self, sample: &Sample) -> u8 {
        sample.best(|record| {
            let messages = messages_of(record);
            let has = |key: &str| messages.iter().any(|message| message.get(key).is_some());
            let is_tool =
                |message: &&Value| matches!(text(message, "role"), Some("tool" | "function"));
            let is_said = |message: &&Value| {
                text(message, "role").is_some() && message.get("content").is_some()
            };
            if has("tool_calls") || has("function_call") || messages.iter().any(is_tool) {
                90
            } else if record.get("choices").is_some_and(Value::is_array) {
                85
            } else if messages.iter().any(is_said) {
                60
            } else {
                0
            }
        })
    }

    fn open(&self) -> Box<dyn Parser> {
        Box::new(ChatParser::default())
    }
}
