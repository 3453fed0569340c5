//! Test cases of deepeval: single- and multi-turn, as its datasets and test runs contain them.

use quintain_content::registry::Meta;
use serde::Deserialize;
use serde_json::Value;

use super::{JsonRecord, Parser, Reader, Sample, Traces};
use crate::case::{Case, McpServer};
use crate::json_input::record::text;
use crate::json_input::walk::Path;

pub(super) struct DeepEval;

static META: Meta = Meta {
    id: "deepeval",
    aliases: &[],
    summary: "test cases of deepeval with `mcp_tools_called`, `tools_called` or `turns`",
    docs: "\
# What it does
Reads `LLMTestCase` and `ConversationalTestCase` in snake case or camel case: a list, an object with `testCases` or
`goldens`, or one case per line. Results may be plain JSON, text, or what a client returned. Prompt calls may have `args`,
and calls may name their `server`.

# Example
```json
{\"input\": \"Add 1 and 2\", \"actual_output\": \"3\",
 \"mcp_servers\": [{\"server_name\": \"sums\", \"available_tools\": [{\"name\": \"add\", \"inputSchema\": {\"type\": \"object\"}}]}],
 \"mcp_tools_called\": [{\"name\": \"add\", \"args\": {\"a\": 1, \"b\": 2}, \"result\": {\"content\": [{\"type\": \"text\", \"text\": \"3\"}]}}]}
```
",
    since: "0.2.0",
};

static CONTAINERS: &[Path] = &[
    &["testCases"],
    &["test_cases"],
    &["conversationalTestCases"],
    &["conversational_test_cases"],
    &["goldens"],
    &["conversationalGoldens"],
    &["conversational_goldens"],
];

const MARKS: &[&str] = &[
    "mcp_tools_called",
    "mcpToolsCalled",
    "mcp_resources_called",
    "mcpResourcesCalled",
    "mcp_prompts_called",
    "mcpPromptsCalled",
    "actual_output",
    "actualOutput",
    "tools_called",
    "toolsCalled",
    "expected_tools",
    "expectedTools",
    "expected_output",
    "expectedOutput",
];

impl Reader for DeepEval {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn recognises(&self, sample: &Sample) -> u8 {
        sample.best(|record| {
            let lists = CONTAINERS.iter().filter_map(|path| record.get(path[0])?.as_array());
            let inner = lists.flatten().map(certainty).max();
            let listed =
                CONTAINERS.iter().any(|path| record.get(path[0]).is_some_and(Value::is_array));
            certainty(record).max(inner.unwrap_or(0)).max(if listed { 50 } else { 0 })
        })
    }

    fn containers(&self) -> &'static [Path] {
        CONTAINERS
    }

    fn open(&self) -> Box<dyn Parser> {
        Box::new(DeepEvalParser::default())
    }
}

fn certainty(record: &Value) -> u8 {
    let turns = record.get("turns").and_then(Value::as_array);
    let is_turn = |turn: &Value| text(turn, "role").is_some();
    if turns.is_some_and(|turns| turns.first().is_none_or(is_turn)) {
        return 95;
    }
    let has_mark = MARKS.iter().any(|key| record.get(key).is_some());
    match text(record, "input") {
        Some(_) if has_mark => 93,
        Some(_) if record.get("model").is_none() => 40,
        _ => 0,
    }
}

#[derive(Default)]
struct DeepEvalParser {
    /// Servers that a file names once for all cases.
    servers: Vec<McpServer>,
}

#[derive(Deserialize)]
struct Shared {
    #[serde(alias = "mcpServers", default)]
    mcp_servers: Vec<McpServer>,
}

impl Parser for DeepEvalParser {
    fn record(&mut self, record: JsonRecord<'_>, traces: &mut Traces) -> Result<(), String> {
        let mut case: Case = record.parse()?;
        let servers = match &mut case {
            Case::Single(case) => &mut case.mcp_servers,
            Case::Conversation(case) => &mut case.mcp_servers,
        };
        if servers.is_empty() {
            servers.clone_from(&self.servers);
        }
        traces.push((record.at, Ok(case.into())));
        Ok(())
    }

    fn envelope(&mut self, bytes: &[u8]) {
        if let Ok(shared) = serde_json::from_slice::<Shared>(bytes) {
            self.servers = shared.mcp_servers;
        }
    }
}
