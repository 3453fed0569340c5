//! Logs of Anthropic's Messages API, and session files of hosts that keep its messages.

use quintain_content::registry::Meta;
use serde_json::Value;

use super::chat_record::{ChatParser, has_block, messages_of};
use super::{Parser, Reader, Sample};
use crate::json_input::record::text;

pub(super) struct Anthropic;

static META: Meta = Meta {
    id: "anthropic",
    aliases: &["claude"],
    summary: "messages with `tool_use`, `tool_result`, `mcp_tool_use` and `mcp_tool_result`",
    docs: "\
# What it does
Reads requests with `messages`, `system` and `tools`, responses, pairs of them, lists of messages, or one message per line.
A tool named `mcp__SERVER__TOOL`, as hosts write it, is the tool of that server.

# Example
```json
[{\"role\": \"user\", \"content\": \"Weather in Oslo?\"},
 {\"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"t1\", \"name\": \"weather\", \"input\": {\"city\": \"Oslo\"}}]},
 {\"role\": \"user\", \"content\": [{\"type\": \"tool_result\", \"tool_use_id\": \"t1\", \"content\": \"Rain\"}]},
 {\"role\": \"assistant\", \"content\": \"It rains.\"}]
```
",
    since: "0.2.0",
};

impl Reader for Anthropic {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn recognises(&self, sample: &Sample) -> u8 {
        sample.best(|record| {
            let messages = messages_of(record);
            let is_response = |message: &&Value| {
                text(message, "type") == Some("message") && message.get("stop_reason").is_some()
            };
            let is_request = |message: &&Value| {
                let tools = message.get("tools").and_then(Value::as_array).into_iter().flatten();
                let has_schema = |tool: &Value| tool.get("input_schema").is_some();
                message.get("messages").is_some_and(Value::is_array)
                    && (message.get("system").is_some() || tools.into_iter().any(has_schema))
            };
            let is_entry = |message: &&Value| {
                message.get("uuid").is_some() && message.get("message").is_some()
            };
            if has_block(&messages, |kind| {
                kind.ends_with("tool_use") || kind.ends_with("tool_result")
            }) {
                95
            } else if messages.iter().any(is_response) || messages.iter().any(is_entry) {
                88
            } else if messages.iter().any(is_request) {
                70
            } else {
                0
            }
        })
    }

    fn open(&self) -> Box<dyn Parser> {
        Box::new(ChatParser::default())
    }
}
