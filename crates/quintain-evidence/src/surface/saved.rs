//! Saved tool lists: a response to `tools/list`, its result, the list alone, several pages of it, or the output of
//! `quintain inspect --json`.

use serde_json::Value;

use super::{Prompt, Resource, ResourceTemplate, Surface, Tool};

/// The surfaces in a saved text, each with the name of its server if it has one. None if the text is something else.
pub fn surfaces(text: &str) -> Option<Vec<(Option<String>, Surface)>> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return of_value(value);
    }
    // A log of responses, one per line.
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let values = lines.map(serde_json::from_str).collect::<Result<Vec<Value>, _>>().ok()?;
    pages(values).map(|surface| vec![(None, surface)])
}

fn of_value(value: Value) -> Option<Vec<(Option<String>, Surface)>> {
    if let Some(servers) = value.get("servers").and_then(Value::as_array) {
        let surveyed = servers.iter().map(|server| {
            server.get("tools").and_then(Value::as_array)?;
            let name = server.get("name").and_then(Value::as_str).map(str::to_owned);
            Some((name, surveyed(server)))
        });
        return surveyed.collect::<Option<Vec<_>>>().filter(|found| !found.is_empty());
    }
    let surface = match value {
        Value::Array(items) if items.iter().all(is_tool) => {
            // An empty list could be a list of anything.
            (!items.is_empty()).then(|| Surface { tools: tools(items), ..Surface::default() })
        }
        Value::Array(items) => pages(items),
        single => pages(vec![single]),
    };
    surface.map(|surface| vec![(None, surface)])
}

fn is_tool(value: &Value) -> bool {
    let described = value.get("inputSchema").is_some() || value.get("description").is_some();
    value.get("name").is_some_and(Value::is_string) && described
}

fn tools(items: Vec<Value>) -> Vec<Tool> {
    items.into_iter().map(Tool).collect()
}

/// Results or whole responses, one per page.
fn pages(values: Vec<Value>) -> Option<Surface> {
    let mut surface = Surface::default();
    let mut listed = false;
    let mut open = false;
    for mut value in values {
        if let Some(result) = value.get_mut("result") {
            value = result.take();
        }
        let mut take = |key: &str| match value.get_mut(key).map(Value::take) {
            Some(Value::Array(items)) => Some(items),
            _ => None,
        };
        let page = (take("tools"), take("resources"), take("resourceTemplates"), take("prompts"));
        // A response to another request, such as `initialize`, is skipped.
        if page == (None, None, None, None) {
            continue;
        }
        listed |= page.0.is_some();
        surface.tools.extend(tools(page.0.unwrap_or_default()));
        surface.resources.extend(page.1.unwrap_or_default().into_iter().map(Resource));
        surface.templates.extend(page.2.unwrap_or_default().into_iter().map(ResourceTemplate));
        surface.prompts.extend(page.3.unwrap_or_default().into_iter().map(Prompt));
        open = value.get("nextCursor").is_some_and(|cursor| !cursor.is_null());
    }
    if open {
        surface.problems.push("the last page refers to a next page that is missing".to_owned());
    }
    listed.then_some(surface)
}

/// A server as `inspect --json` prints it.
fn surveyed(server: &Value) -> Surface {
    let list = |key: &str| server.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |key: &str| server.get(key).and_then(Value::as_str).map(str::to_owned);
    let problems = list("problems").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    Surface {
        server_info: server.get("serverInfo").cloned().unwrap_or_default(),
        instructions: text("instructions"),
        protocol_version: text("protocolVersion"),
        capabilities: server.get("capabilities").cloned().unwrap_or_default(),
        tools: tools(list("tools")),
        resources: list("resources").into_iter().map(Resource).collect(),
        templates: list("resourceTemplates").into_iter().map(ResourceTemplate).collect(),
        prompts: list("prompts").into_iter().map(Prompt).collect(),
        problems,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Option<Vec<String>> {
        let found = surfaces(text)?;
        let tools = found.iter().flat_map(|(_, surface)| &surface.tools);
        Some(tools.map(|tool| tool.name().unwrap_or("?").to_owned()).collect())
    }

    #[test]
    fn every_form_of_a_list_is_read() {
        let tool = r#"{"name": "a", "inputSchema": {}}"#;
        let other = r#"{"name": "b", "description": "d"}"#;
        for (text, expected) in [
            (format!(r#"{{"jsonrpc": "2.0", "id": 1, "result": {{"tools": [{tool}]}}}}"#), "a"),
            (format!(r#"{{"tools": [{tool}]}}"#), "a"),
            (format!("[{tool}, {other}]"), "a b"),
            (format!(r#"[{{"tools": [{tool}]}}, {{"result": {{"tools": [{other}]}}}}]"#), "a b"),
            (format!("{{\"result\": {{}}}}\n{{\"result\": {{\"tools\": [{tool}]}}}}\n"), "a"),
            (format!(r#"{{"servers": [{{"name": "s", "tools": [{tool}]}}]}}"#), "a"),
            (r#"{"tools": []}"#.to_owned(), ""),
            (r#"{"tools": [7, {"name": {}}]}"#.to_owned(), "? ?"),
        ] {
            assert_eq!(
                names(&text).map(|names| names.join(" ")).as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn other_files_are_none() {
        for text in [
            "",
            "{",
            "[]",
            "7",
            r#"{"mcpServers": {}}"#,
            r#"{"servers": {"a": {}}}"#,
            r#"[{"name": "x"}]"#,
        ] {
            assert_eq!(names(text), None, "{text}");
        }
    }

    #[test]
    fn a_page_that_is_missing_is_told() {
        let found = surfaces(r#"[{"tools": [], "nextCursor": "x"}]"#).unwrap();
        assert_eq!(found[0].1.problems.len(), 1);
    }
}
