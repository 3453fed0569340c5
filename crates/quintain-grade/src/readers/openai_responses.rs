//! Logs of OpenAI's Responses API, and session files of hosts that keep its items.

use quintain_content::registry::Meta;
use serde_json::Value;

use super::chat_record::{ChatParser, has_block, messages_of};
use super::{Parser, Reader, Sample};
use crate::json_input::record::text;

pub(super) struct OpenAiResponses;

static META: Meta = Meta {
    id: "openai-responses",
    aliases: &["responses"],
    summary: "items of the Responses API: `function_call`, `mcp_call`, `mcp_list_tools`",
    docs: "\
# What it does
Reads requests with `input`, responses with `output`, pairs of them, lists of items, or one item per line. The tools that
`mcp_list_tools` lists are those of the server from then on.

# Example
```json
{\"object\": \"response\", \"output\": [
  {\"type\": \"mcp_call\", \"server_label\": \"maps\", \"name\": \"route\", \"arguments\": \"{}\", \"output\": \"12 km\"},
  {\"type\": \"message\", \"role\": \"assistant\", \"content\": [{\"type\": \"output_text\", \"text\": \"It is 12 km.\"}]}]}
```
",
    since: "0.2.0",
};

impl Reader for OpenAiResponses {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn recognises(&self, sample: &Sample) -> u8 {
        sample.best(|record| {
            let messages = messages_of(record);
            let is_item = |message: &&Value| {
                let kind = text(message, "type");
                kind.is_some_and(|kind| {
                    kind.ends_with("_call")
                        || kind.ends_with("_call_output")
                        || kind == "mcp_list_tools"
                }) && message.get("jsonrpc").is_none()
            };
            let is_response = |message: &&Value| text(message, "object") == Some("response");
            if messages.iter().any(is_item) || messages.iter().any(is_response) {
                95
            } else if has_block(&messages, |kind| matches!(kind, "input_text" | "output_text")) {
                92
            } else {
                0
            }
        })
    }

    fn open(&self) -> Box<dyn Parser> {
        Box::new(ChatParser::default())
    }
}
