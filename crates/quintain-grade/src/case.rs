//! Test cases with the names of deepeval: servers, calls, and conversations of one or more turns. They are a way to
//! write traces down; everything else in this crate works on [`Trace`].
//!
//! A server with what it listed. Lists come from a client session: anything that serialises to the JSON of MCP.
//!
//! ```
//! use quintain_grade::case::McpServer;
//! use serde_json::json;
//!
//! // What `tools/list`, `resources/list` and `prompts/list` return.
//! let tools = [json!({"name": "create_issue", "inputSchema": {"type": "object"}})];
//! let resources = [json!({"uri": "repo://quintain/README.md", "name": "README"})];
//! let prompts = [json!({"name": "review"})];
//!
//! let mcp_server = McpServer::new()
//!     .server_name("GitHub")
//!     .transport("stdio")
//!     .available_tools(tools)
//!     .available_resources(resources)
//!     .available_prompts(prompts);
//! assert_eq!(mcp_server.available_tools.map(|tools| tools.len()), Some(1));
//! ```
//!
//! Every parameter of a server is optional:
//!
//! ```
//! # use quintain_grade::case::McpServer;
//! assert_eq!(McpServer::new(), McpServer::default());
//! ```
//!
//! A call of a tool, with the result that the session returned:
//!
//! ```
//! use quintain_grade::case::McpToolCall;
//! use serde_json::json;
//!
//! let tool_name = "create_issue";
//! let tool_args = json!({"title": "Typo"});
//! let result = json!({"content": [{"type": "text", "text": "created #12"}]});
//!
//! let mcp_tool_called = McpToolCall::new(tool_name, tool_args).result(result);
//! assert_eq!(mcp_tool_called.name, "create_issue");
//! ```
//!
//! Results of every client will do, because they are written as the JSON of MCP:
//!
//! ```
//! use quintain_grade::case::McpToolCall;
//! use serde::Serialize;
//! use serde_json::json;
//!
//! // What an SDK returns from `session.call_tool(name, args)`.
//! #[derive(Serialize)]
//! #[serde(rename_all = "camelCase")]
//! struct CallToolResult {
//!     content: Vec<serde_json::Value>,
//!     is_error: bool,
//! }
//!
//! let result = CallToolResult { content: vec![json!({"type": "text", "text": "ok"})], is_error: false };
//! let mcp_tool_called = McpToolCall::new("create_issue", json!({})).result(result);
//! assert_eq!(mcp_tool_called.result["isError"], false);
//! ```
//!
//! A resource that was read:
//!
//! ```
//! use quintain_grade::case::McpResourceCall;
//! use serde_json::json;
//!
//! let uri = "repo://quintain/README.md";
//! let result = json!({"contents": [{"uri": uri, "text": "# Quintain"}]});
//!
//! let mcp_resource_called = McpResourceCall::new(uri).result(result);
//! assert_eq!(mcp_resource_called.uri, uri);
//! ```
//!
//! A prompt that was fetched. Its arguments are optional, because deepeval does not record them:
//!
//! ```
//! use quintain_grade::case::McpPromptCall;
//! use serde_json::json;
//!
//! let prompt_name = "review";
//! let result = json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Review:"}}]});
//!
//! let mcp_prompt_called = McpPromptCall::new(prompt_name).result(result);
//! let with_args = McpPromptCall::new(prompt_name).args(json!({"file": "README.md"}));
//! assert_ne!(mcp_prompt_called, with_args);
//! ```
//!
//! A test case of one turn:
//!
//! ```
//! use quintain_evidence::trace::Trace;
//! use quintain_grade::case::{LlmTestCase, McpPromptCall, McpResourceCall, McpServer, McpToolCall};
//! use serde_json::json;
//!
//! let test_case = LlmTestCase {
//!     input: "Open an issue about the typo".into(),
//!     actual_output: Some("I opened issue 12.".into()),
//!     mcp_servers: vec![McpServer::new().server_name("GitHub")],
//!     mcp_tools_called: vec![McpToolCall::new("create_issue", json!({"title": "Typo"}))],
//!     mcp_prompts_called: vec![McpPromptCall::new("review")],
//!     mcp_resources_called: vec![McpResourceCall::new("repo://quintain/README.md")],
//!     ..LlmTestCase::default()
//! };
//! let trace = Trace::from(test_case);
//! let names: Vec<&str> = trace.calls().map(|call| call.name.as_str()).collect();
//! assert_eq!(names, ["create_issue", "repo://quintain/README.md", "review"]);
//! ```
//!
//! A conversation:
//!
//! ```
//! use quintain_evidence::trace::Trace;
//! use quintain_grade::case::{
//!     ConversationalTestCase, McpPromptCall, McpResourceCall, McpServer, McpToolCall, Turn,
//! };
//! use serde_json::json;
//!
//! let turns = vec![
//!     Turn::user("Some example input"),
//!     Turn {
//!         mcp_tools_called: vec![McpToolCall::new("search", json!({"q": "typo"}))],
//!         mcp_resources_called: vec![McpResourceCall::new("repo://quintain/README.md")],
//!         mcp_prompts_called: vec![McpPromptCall::new("review")],
//!         ..Turn::assistant("Do this too")
//!     },
//! ];
//! let test_case = ConversationalTestCase {
//!     turns,
//!     mcp_servers: vec![McpServer::new().server_name("GitHub"), McpServer::new()],
//!     ..ConversationalTestCase::default()
//! };
//! let trace = Trace::from(test_case);
//! assert_eq!(trace.calls().count(), 3);
//! assert_eq!(trace.answer(), Some("Do this too"));
//! ```

mod convert;
mod deserialize;

use quintain_evidence::trace::Args;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(doc)]
use quintain_evidence::trace::Trace;

pub(crate) use self::deserialize::Case;

/// A server and what it offers. A list that is absent is not known.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct McpServer {
    #[serde(alias = "serverName", alias = "name")]
    pub server_name: Option<String>,
    pub version: Option<String>,
    /// `stdio`, `sse` or `streamable-http`; does not change a verdict.
    pub transport: Option<String>,
    #[serde(alias = "availableTools", alias = "tools", deserialize_with = "deserialize::list")]
    pub available_tools: Option<Vec<Value>>,
    #[serde(
        alias = "availableResources",
        alias = "resources",
        deserialize_with = "deserialize::list"
    )]
    pub available_resources: Option<Vec<Value>>,
    #[serde(
        alias = "availableResourceTemplates",
        alias = "available_templates",
        alias = "resourceTemplates",
        deserialize_with = "deserialize::list"
    )]
    pub available_resource_templates: Option<Vec<Value>>,
    #[serde(alias = "availablePrompts", alias = "prompts", deserialize_with = "deserialize::list")]
    pub available_prompts: Option<Vec<Value>>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct McpToolCall {
    pub name: String,
    /// Null if they are not recorded.
    #[serde(default, alias = "arguments", deserialize_with = "deserialize::args")]
    pub args: Args,
    /// As the session returned it; null if nothing is recorded.
    #[serde(default)]
    pub result: Value,
    #[serde(default, alias = "server_name", alias = "serverName")]
    pub server: Option<String>,
    #[serde(default, alias = "call_id", alias = "callId", deserialize_with = "deserialize::id")]
    pub id: Option<String>,
}

/// A resource that was read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct McpResourceCall {
    pub uri: String,
    #[serde(default)]
    pub result: Value,
    #[serde(default, alias = "server_name", alias = "serverName")]
    pub server: Option<String>,
    #[serde(default, alias = "call_id", alias = "callId", deserialize_with = "deserialize::id")]
    pub id: Option<String>,
}

/// A prompt that was fetched.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct McpPromptCall {
    pub name: String,
    /// Unknown if they are not recorded.
    #[serde(default = "unknown", alias = "arguments", deserialize_with = "deserialize::args")]
    pub args: Args,
    #[serde(default)]
    pub result: Value,
    #[serde(default, alias = "server_name", alias = "serverName")]
    pub server: Option<String>,
    #[serde(default, alias = "call_id", alias = "callId", deserialize_with = "deserialize::id")]
    pub id: Option<String>,
}

fn unknown() -> Args {
    Args::Unknown
}

/// A call of any tool, for comparison with expected ones.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct ToolCall {
    pub name: String,
    /// `FUNCTION` or `MCP`.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    #[serde(default, alias = "inputParameters", alias = "args", alias = "arguments")]
    pub input_parameters: Option<Value>,
    #[serde(default)]
    pub output: Option<Value>,
    #[serde(default, alias = "server_name", alias = "serverName")]
    pub server: Option<String>,
}

/// A test case of one turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LlmTestCase {
    pub id: Option<String>,
    pub name: Option<String>,
    pub input: String,
    pub actual_output: Option<String>,
    pub expected_output: Option<String>,
    pub tools_called: Option<Vec<ToolCall>>,
    /// An empty list expects no calls.
    pub expected_tools: Option<Vec<ToolCall>>,
    pub mcp_servers: Vec<McpServer>,
    pub mcp_tools_called: Vec<McpToolCall>,
    pub mcp_resources_called: Vec<McpResourceCall>,
    pub mcp_prompts_called: Vec<McpPromptCall>,
    /// Metadata, tags, context and whatever else is known about the case.
    pub labels: Map<String, Value>,
}

/// A test case of several turns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConversationalTestCase {
    pub id: Option<String>,
    pub name: Option<String>,
    pub turns: Vec<Turn>,
    /// The instructions of the application.
    pub chatbot_role: Option<String>,
    pub expected_output: Option<String>,
    pub tools_called: Option<Vec<ToolCall>>,
    pub expected_tools: Option<Vec<ToolCall>>,
    pub mcp_servers: Vec<McpServer>,
    pub labels: Map<String, Value>,
}

/// One turn of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Turn {
    pub role: TurnRole,
    #[serde(default, deserialize_with = "deserialize::content")]
    pub content: String,
    #[serde(default, alias = "toolsCalled")]
    pub tools_called: Option<Vec<ToolCall>>,
    #[serde(default, alias = "mcpToolsCalled", deserialize_with = "deserialize::or_default")]
    pub mcp_tools_called: Vec<McpToolCall>,
    #[serde(default, alias = "mcpResourcesCalled", deserialize_with = "deserialize::or_default")]
    pub mcp_resources_called: Vec<McpResourceCall>,
    #[serde(default, alias = "mcpPromptsCalled", deserialize_with = "deserialize::or_default")]
    pub mcp_prompts_called: Vec<McpPromptCall>,
    /// What the application looked up for this turn outside of MCP.
    #[serde(default, alias = "retrievalContext")]
    pub retrieval_context: Option<Value>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TurnRole {
    #[default]
    User,
    Assistant,
    #[serde(alias = "developer")]
    System,
}

/// The JSON of anything that a client session returns. What cannot be written as JSON counts as not recorded.
fn recorded(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn listed<T: Serialize>(items: impl IntoIterator<Item = T>) -> Option<Vec<Value>> {
    Some(items.into_iter().map(recorded).collect())
}

impl McpServer {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    pub fn transport(mut self, transport: impl Into<String>) -> Self {
        self.transport = Some(transport.into());
        self
    }

    pub fn available_tools<T: Serialize>(mut self, tools: impl IntoIterator<Item = T>) -> Self {
        self.available_tools = listed(tools);
        self
    }

    pub fn available_resources<T: Serialize>(
        mut self,
        resources: impl IntoIterator<Item = T>,
    ) -> Self {
        self.available_resources = listed(resources);
        self
    }

    pub fn available_resource_templates<T: Serialize>(
        mut self,
        templates: impl IntoIterator<Item = T>,
    ) -> Self {
        self.available_resource_templates = listed(templates);
        self
    }

    pub fn available_prompts<T: Serialize>(mut self, prompts: impl IntoIterator<Item = T>) -> Self {
        self.available_prompts = listed(prompts);
        self
    }
}

impl McpToolCall {
    pub fn new(name: impl Into<String>, args: impl Serialize) -> Self {
        let args = Args::Json(recorded(args));
        Self { name: name.into(), args, result: Value::Null, server: None, id: None }
    }

    /// What the session returned: a `CallToolResult` of any client.
    pub fn result(mut self, result: impl Serialize) -> Self {
        self.result = recorded(result);
        self
    }

    /// The server that was called, which distinguishes tools of the same name.
    pub fn server(mut self, name: impl Into<String>) -> Self {
        self.server = Some(name.into());
        self
    }
}

impl McpResourceCall {
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into(), result: Value::Null, server: None, id: None }
    }

    /// What the session returned: a `ReadResourceResult` of any client.
    pub fn result(mut self, result: impl Serialize) -> Self {
        self.result = recorded(result);
        self
    }

    pub fn server(mut self, name: impl Into<String>) -> Self {
        self.server = Some(name.into());
        self
    }
}

impl McpPromptCall {
    pub fn new(name: impl Into<String>) -> Self {
        let (name, args) = (name.into(), Args::Unknown);
        Self { name, args, result: Value::Null, server: None, id: None }
    }

    pub fn args(mut self, args: impl Serialize) -> Self {
        self.args = Args::Json(recorded(args));
        self
    }

    /// What the session returned: a `GetPromptResult` of any client.
    pub fn result(mut self, result: impl Serialize) -> Self {
        self.result = recorded(result);
        self
    }

    pub fn server(mut self, name: impl Into<String>) -> Self {
        self.server = Some(name.into());
        self
    }
}

impl ToolCall {
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    pub fn input_parameters(mut self, parameters: impl Serialize) -> Self {
        self.input_parameters = Some(recorded(parameters));
        self
    }

    pub fn output(mut self, output: impl Serialize) -> Self {
        self.output = Some(recorded(output));
        self
    }
}

impl LlmTestCase {
    pub fn new(input: impl Into<String>, actual_output: impl Into<String>) -> Self {
        let (input, actual_output) = (input.into(), Some(actual_output.into()));
        Self { input, actual_output, ..Self::default() }
    }
}

impl ConversationalTestCase {
    pub fn new(turns: Vec<Turn>) -> Self {
        Self { turns, ..Self::default() }
    }
}

impl Turn {
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: TurnRole::User, content: content.into(), ..Self::default() }
    }

    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: TurnRole::Assistant, content: content.into(), ..Self::default() }
    }
}
