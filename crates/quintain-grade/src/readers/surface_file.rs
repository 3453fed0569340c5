//! Files with the tools of servers, for traces that do not record them: lists as servers return them, saved surfaces,
//! definitions for models, servers of test cases, and catalogues of servers.

use quintain_evidence::surface::{Surface, saved};
use quintain_evidence::trace::{Listing, TraceServer};
use serde_json::Value;

use crate::case::McpServer;
use crate::json_input::record::{any_text, json_in, take_any, text};
use crate::offers;

/// The servers in a text; none if it lists no tools.
pub fn servers(text: &str) -> Option<Vec<TraceServer>> {
    let value = json_in(text.trim_start_matches('\u{feff}'));
    let found = value.and_then(of_value).filter(|servers| !servers.is_empty());
    found.or_else(|| saved_surfaces(text))
}

fn saved_surfaces(text: &str) -> Option<Vec<TraceServer>> {
    let surfaces = saved::surfaces(text)?;
    // Entries without any name are not tools: every call would seem to be unknown.
    let is_unreadable = |surface: &Surface| {
        !surface.tools.is_empty() && surface.tools.iter().all(|tool| tool.name().is_none())
    };
    if surfaces.iter().any(|(_, surface)| is_unreadable(surface)) {
        return None;
    }
    let servers = surfaces.into_iter().map(|(name, surface)| TraceServer {
        name: name.or_else(|| surface.server_name().map(str::to_owned)),
        version: surface.server_version().map(str::to_owned),
        transport: None,
        listings: vec![Listing {
            from: 0,
            tools: Some(surface.tools),
            resources: Some(surface.resources),
            templates: Some(surface.templates),
            prompts: Some(surface.prompts),
            outdated: Vec::new(),
        }]
        .into(),
    });
    Some(servers.collect())
}

fn of_value(mut value: Value) -> Option<Vec<TraceServer>> {
    if let Some(Value::Array(servers)) = take_any(&mut value, &["mcp_servers", "mcpServers"]) {
        return servers.into_iter().map(of_case).collect();
    }
    if lists_definitions(&value) {
        return defined_server(value).map(|server| vec![server]);
    }
    let Value::Array(items) = value else { return catalogue_entry(value) };
    if items.iter().all(is_case_server) {
        return items.into_iter().map(of_case).collect();
    }
    if items.iter().all(|item| item.get("tools").is_some_and(Value::is_object)) {
        return Some(items.into_iter().filter_map(catalogue_entry).flatten().collect());
    }
    if !items.is_empty() && items.iter().all(lists_definitions) {
        return Some(items.into_iter().filter_map(defined_server).collect());
    }
    items.iter().any(is_definition).then(|| vec![server_of(None, items)])
}

/// Whether a value is the definition of a tool for a model.
fn is_definition(item: &Value) -> bool {
    ["function", "input_schema", "parameters"].iter().any(|key| item.get(key).is_some())
}

/// Whether an object has such definitions in `tools`, as a request to a model has.
fn lists_definitions(entry: &Value) -> bool {
    let tools = entry.get("tools").and_then(Value::as_array);
    tools.is_some_and(|tools| tools.iter().any(is_definition))
}

fn defined_server(mut entry: Value) -> Option<TraceServer> {
    let Some(Value::Array(tools)) = entry.get_mut("tools").map(Value::take) else { return None };
    let name = any_text(&entry, &["server_name", "serverName", "name"]);
    Some(server_of(name.map(str::to_owned), tools))
}

fn server_of(name: Option<String>, tools: Vec<Value>) -> TraceServer {
    let listings = vec![Listing { tools: Some(offers::tools(tools)), ..Listing::default() }].into();
    TraceServer { name, listings, ..TraceServer::default() }
}

fn is_case_server(item: &Value) -> bool {
    item.get("available_tools").is_some() || item.get("availableTools").is_some()
}

fn of_case(server: Value) -> Option<TraceServer> {
    serde_json::from_value::<McpServer>(server).ok().map(TraceServer::from)
}

/// An entry of a catalogue: `tools` maps each server's name to what it lists.
fn catalogue_entry(mut entry: Value) -> Option<Vec<TraceServer>> {
    let Some(Value::Object(servers)) = entry.get_mut("tools").map(Value::take) else { return None };
    let servers = servers.into_iter().filter_map(|(key, mut server)| {
        let Some(Value::Array(tools)) = server.get_mut("tools").map(Value::take) else {
            return None;
        };
        let name = any_text(&server, &["server_name", "serverName", "name"]);
        let name = name.map_or(key, str::to_owned);
        let tools = Some(offers::tools(tools));
        Some(TraceServer {
            name: Some(name),
            version: text(&server, "version").map(str::to_owned),
            transport: None,
            listings: vec![Listing { tools, ..Listing::default() }].into(),
        })
    });
    Some(servers.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> Vec<String> {
        let servers = servers(text).unwrap_or_default();
        let outline = servers.iter().map(|server| {
            let tools = server.tools_at(0).unwrap_or_default();
            let names: Vec<&str> = tools.iter().filter_map(|tool| tool.name()).collect();
            format!("{}: {}", server.name.as_deref().unwrap_or("-"), names.join(" "))
        });
        outline.collect()
    }

    #[test]
    fn every_form_is_read() {
        for (text, expected) in [
            (
                r#"[{"name": "Entry", "tools": {"git": {"server_name": "git", "version": "1", "tools": [{"name": "log", "inputSchema": {}}]}}}]"#,
                "git: log",
            ),
            (r#"{"tools": [{"name": "log", "inputSchema": {}}]}"#, "-: log"),
            (r#"[{"name": "log", "inputSchema": {}}]"#, "-: log"),
            (r#"[{"type": "function", "function": {"name": "log"}}]"#, "-: log"),
            (r#"[{"name": "log", "input_schema": {}}]"#, "-: log"),
            (
                r#"{"tools": [{"type": "function", "function": {"name": "log", "parameters": {}}}]}"#,
                "-: log",
            ),
            (r#"{"tools": [{"type": "function", "name": "log", "parameters": {}}]}"#, "-: log"),
            (
                r#"{"name": "git", "tools": [{"type": "function", "function": {"name": "log"}}]}"#,
                "git: log",
            ),
            (r#"[{"name": "git", "tools": [{"name": "log", "input_schema": {}}]}]"#, "git: log"),
            (
                r#"{"mcp_servers": [{"server_name": "git", "available_tools": [{"name": "log"}]}]}"#,
                "git: log",
            ),
            (r#"[{"serverName": "git", "availableTools": [{"name": "log"}]}]"#, "git: log"),
            (r#"{"servers": [{"name": "git", "tools": [{"name": "log"}]}]}"#, "git: log"),
            (r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "log"}]}}"#, "-: log"),
        ] {
            assert_eq!(outline(text), [expected], "{text}");
        }
    }

    #[test]
    fn other_files_list_nothing() {
        for text in
            ["", "{", "[]", "7", r#"{"a": 1}"#, r#"[{"id": 1}]"#, r#"{"tools": [{"type": "x"}]}"#]
        {
            assert_eq!(servers(text), None, "{text}");
        }
    }
}
