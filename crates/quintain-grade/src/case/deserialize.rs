//! Test cases from JSON as deepeval writes it, with keys in snake case or camel case. Keys that are not those of a case
//! become labels.

use std::borrow::Cow;
use std::fmt;

use quintain_evidence::trace::{Args, Trace};
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{
    ConversationalTestCase, LlmTestCase, McpPromptCall, McpResourceCall, McpServer, McpToolCall,
    ToolCall, Turn,
};
use crate::json_input::record::{id_text, take_any};

/// A case of either kind.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Case {
    Single(LlmTestCase),
    Conversation(ConversationalTestCase),
}

impl From<Case> for Trace {
    fn from(case: Case) -> Self {
        match case {
            Case::Single(case) => case.into(),
            Case::Conversation(case) => case.into(),
        }
    }
}

impl<'de> Deserialize<'de> for Case {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_map(CaseVisitor)
    }
}

#[derive(Default)]
struct Fields {
    id: Option<Value>,
    name: Option<String>,
    input: Option<Value>,
    actual_output: Option<Value>,
    expected_output: Option<Value>,
    tools_called: Option<Vec<ToolCall>>,
    expected_tools: Option<Vec<ToolCall>>,
    turns: Option<Vec<Turn>>,
    chatbot_role: Option<String>,
    mcp_servers: Option<Servers>,
    mcp_tools_called: Option<Vec<McpToolCall>>,
    mcp_resources_called: Option<Vec<McpResourceCall>>,
    mcp_prompts_called: Option<Vec<McpPromptCall>>,
    labels: Map<String, Value>,
}

struct CaseVisitor;

impl<'de> Visitor<'de> for CaseVisitor {
    type Value = Case;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a test case as an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Case, A::Error> {
        let mut fields = Fields::default();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let f = &mut fields;
            match key.as_ref() {
                "id" => set(&mut f.id, &mut map)?,
                "name" => set(&mut f.name, &mut map)?,
                "input" => set(&mut f.input, &mut map)?,
                "actual_output" | "actualOutput" => set(&mut f.actual_output, &mut map)?,
                "expected_output" | "expectedOutput" => set(&mut f.expected_output, &mut map)?,
                "tools_called" | "toolsCalled" => set(&mut f.tools_called, &mut map)?,
                "expected_tools" | "expectedTools" => set(&mut f.expected_tools, &mut map)?,
                "turns" => set(&mut f.turns, &mut map)?,
                "chatbot_role" | "chatbotRole" => set(&mut f.chatbot_role, &mut map)?,
                "mcp_servers" | "mcpServers" | "mcp_server" | "mcpServer" => {
                    set(&mut f.mcp_servers, &mut map)?;
                }
                "mcp_tools_called" | "mcpToolsCalled" => set(&mut f.mcp_tools_called, &mut map)?,
                "mcp_resources_called" | "mcpResourcesCalled" => {
                    set(&mut f.mcp_resources_called, &mut map)?;
                }
                "mcp_prompts_called" | "mcpPromptsCalled" => {
                    set(&mut f.mcp_prompts_called, &mut map)?;
                }
                _ => {
                    let value: Value = map.next_value()?;
                    if !value.is_null() {
                        fields.labels.insert(key.into_owned(), value);
                    }
                }
            }
        }
        fields.case().map_err(A::Error::custom)
    }
}

/// The first value that is not null counts, because both spellings of a key may be present.
fn set<'de, T, A>(field: &mut Option<T>, map: &mut A) -> Result<(), A::Error>
where
    T: Deserialize<'de>,
    A: MapAccess<'de>,
{
    let value = map.next_value::<Option<T>>()?;
    if field.is_none() {
        *field = value;
    }
    Ok(())
}

impl Fields {
    fn case(self) -> Result<Case, &'static str> {
        let id = self.id.as_ref().and_then(id_text);
        let expected_output = self.expected_output.map(as_text);
        let mcp_servers = self.mcp_servers.map_or_else(Vec::new, Servers::into_list);
        if let Some(turns) = self.turns {
            return Ok(Case::Conversation(ConversationalTestCase {
                id,
                name: self.name,
                turns,
                chatbot_role: self.chatbot_role,
                expected_output,
                tools_called: self.tools_called,
                expected_tools: self.expected_tools,
                mcp_servers,
                labels: self.labels,
            }));
        }
        let mut labels = self.labels;
        if let Some(role) = self.chatbot_role {
            labels.insert("chatbot_role".to_owned(), role.into());
        }
        let Some(input) = self.input else {
            // A scenario without turns is a golden whose conversation has not taken place yet.
            return Err("expected `input` or `turns`; a test case has one of them");
        };
        Ok(Case::Single(LlmTestCase {
            id,
            name: self.name,
            input: as_text(input),
            actual_output: self.actual_output.map(as_text),
            expected_output,
            tools_called: self.tools_called,
            expected_tools: self.expected_tools,
            mcp_servers,
            mcp_tools_called: self.mcp_tools_called.unwrap_or_default(),
            mcp_resources_called: self.mcp_resources_called.unwrap_or_default(),
            mcp_prompts_called: self.mcp_prompts_called.unwrap_or_default(),
            labels,
        }))
    }
}

/// Applications that answer in JSON log it unquoted.
fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Several servers, or one.
pub(crate) enum Servers {
    Several(Vec<McpServer>),
    One(Box<McpServer>),
}

impl<'de> Deserialize<'de> for Servers {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let server = |value: Value, place: &str| {
            let found = kind(&value);
            if !value.is_object() {
                let message = format!("expected a server as an object{place}, found {found}");
                return Err(D::Error::custom(message));
            }
            McpServer::deserialize(value)
                .map_err(|error| D::Error::custom(format!("invalid server{place}: {error}")))
        };
        match Value::deserialize(input)? {
            Value::Array(items) => {
                let items = items.into_iter().enumerate();
                let servers =
                    items.map(|(index, item)| server(item, &format!(" at `mcp_servers[{index}]`")));
                servers.collect::<Result<_, _>>().map(Self::Several)
            }
            value @ Value::Object(_) => {
                server(value, " in `mcp_servers`").map(|server| Self::One(Box::new(server)))
            }
            other => Err(D::Error::custom(format!(
                "expected a list of servers in `mcp_servers`, found {}",
                kind(&other)
            ))),
        }
    }
}

/// What a value is, with its article.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl Servers {
    pub(crate) fn into_list(self) -> Vec<McpServer> {
        match self {
            Self::Several(servers) => servers,
            Self::One(server) => vec![*server],
        }
    }
}

/// A list of a server: the items, or the response that contains them.
pub(super) fn list<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Vec<Value>>, D::Error> {
    match Value::deserialize(input)? {
        Value::Null => Ok(None),
        Value::Array(items) => Ok(Some(items)),
        mut other => {
            let keys = ["tools", "resources", "resourceTemplates", "prompts"];
            match take_any(&mut other, &keys) {
                Some(Value::Array(items)) => Ok(Some(items)),
                _ => Err(D::Error::custom("expected a list of what the server offers")),
            }
        }
    }
}

/// The text of a turn; null is none.
pub(super) fn content<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    Ok(Option::<Value>::deserialize(input)?.map(as_text).unwrap_or_default())
}

/// Arguments: an object, a text that a model wrote, or null for unknown ones.
pub(super) fn args<'de, D: Deserializer<'de>>(input: D) -> Result<Args, D::Error> {
    Ok(match Value::deserialize(input)? {
        Value::Null => Args::Unknown,
        Value::String(text) => Args::from_text(&text),
        other => Args::Json(other),
    })
}

pub(super) fn id<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Ok(id_text(&Value::deserialize(input)?))
}

/// Null counts as absent.
pub(super) fn or_default<'de, T, D>(input: D) -> Result<T, D::Error>
where
    T: DeserializeOwned + Default,
    D: Deserializer<'de>,
{
    Ok(Option::<T>::deserialize(input)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_spellings_are_read() {
        let snake = json!({
            "input": "q", "actual_output": "a", "expected_output": "e", "name": "n",
            "tools_called": [{"name": "t", "input_parameters": {"x": 1}, "type": "MCP"}],
            "expected_tools": [], "mcp_tools_called": [{"name": "t", "args": {"x": 1}, "result": "r"}],
            "mcp_resources_called": [{"uri": "a:b", "result": null}],
            "mcp_prompts_called": [{"name": "p"}],
            "mcp_servers": [{"server_name": "s", "available_tools": []}]
        });
        let camel = json!({
            "input": "q", "actualOutput": "a", "expectedOutput": "e", "name": "n",
            "toolsCalled": [{"name": "t", "inputParameters": {"x": 1}, "type": "MCP"}],
            "expectedTools": [], "mcpToolsCalled": [{"name": "t", "args": {"x": 1}, "result": "r"}],
            "mcpResourcesCalled": [{"uri": "a:b", "result": null}],
            "mcpPromptsCalled": [{"name": "p"}],
            "mcpServers": [{"serverName": "s", "availableTools": []}]
        });
        let snake: Case = serde_json::from_value(snake).unwrap();
        assert_eq!(snake, serde_json::from_value(camel).unwrap());
        let Case::Single(case) = snake else { panic!() };
        assert_eq!(case.expected_tools, Some(Vec::new()));
        assert_eq!(case.mcp_prompts_called[0].args, Args::Unknown);
    }

    #[test]
    fn servers_come_alone_and_lists_inside_of_responses() {
        let case = json!({"input": "q", "mcp_server": {"name": "s", "available_tools": {"tools": [{"name": "t"}]}}});
        let Case::Single(case) = serde_json::from_value(case).unwrap() else { panic!() };
        let tools = case.mcp_servers[0].available_tools.as_ref().map(Vec::len);
        assert_eq!((case.mcp_servers[0].server_name.as_deref(), tools), (Some("s"), Some(1)));
    }

    #[test]
    fn nulls_are_absent_and_unknown_keys_are_labels() {
        let case = json!({"input": "q", "turns": null, "mcp_servers": null, "tags": ["x"], "comments": null,
            "tools_called": null, "mcp_tools_called": null});
        let Case::Single(case) = serde_json::from_value(case).unwrap() else { panic!() };
        assert_eq!(case.tools_called, None);
        assert_eq!(Value::from(case.labels), json!({"tags": ["x"]}));
    }

    #[test]
    fn arguments_may_be_text_null_or_missing() {
        let call = |json: Value| serde_json::from_value::<McpToolCall>(json).unwrap().args;
        assert_eq!(call(json!({"name": "t"})), Args::Json(json!({})));
        assert_eq!(call(json!({"name": "t", "args": null})), Args::Unknown);
        assert_eq!(call(json!({"name": "t", "args": "{\"a\": 1}"})), Args::Json(json!({"a": 1})));
        assert_eq!(call(json!({"name": "t", "args": "{a"})), Args::Invalid("{a".into()));
    }

    #[test]
    fn what_is_no_case_is_refused_with_a_reason() {
        for (json, reason) in [
            (json!({"name": "x"}), "`input` or `turns`"),
            (json!({"input": "x", "mcp_tools_called": [{}]}), "missing field `name`"),
            (json!({"turns": [{"role": "tool", "content": "x"}]}), "unknown variant `tool`"),
            (json!([1]), "a test case as an object"),
        ] {
            let error = serde_json::from_value::<Case>(json).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn what_is_wrong_with_servers_is_named() {
        for (servers, expected) in [
            (json!("github"), "expected a list of servers in `mcp_servers`, found a string"),
            (json!([1]), "expected a server as an object at `mcp_servers[0]`, found a number"),
            (
                json!([{}, {"available_tools": 3}]),
                "invalid server at `mcp_servers[1]`: expected a list of what the server offers",
            ),
        ] {
            let case = json!({"input": "q", "mcp_servers": servers});
            let error = serde_json::from_value::<Case>(case).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
