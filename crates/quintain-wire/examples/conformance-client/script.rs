//! The requests to the server in each scenario.

use std::sync::Arc;

use quintain_wire::rpc::{Elicited, Responder, Script};
use quintain_wire::session::{Listable, Session};
use serde_json::{Value, json};

use super::{Result, skills};

/// Name of the capability that a client declares to use skills.
const SKILLS: &str = "io.modelcontextprotocol/skills";

/// Answers requests of the server.
pub(crate) fn responder(scenario: &str) -> Arc<dyn Responder> {
    let script = Script::default();
    Arc::new(match scenario {
        "elicitation-sep1034-client-defaults" => script.with_elicitation(vec![Elicited::Defaults]),
        "sep-2322-client-request-state" => script.with_elicitation(vec![Elicited::Reply {
            action: "accept".to_owned(),
            content: Some(json!({"confirmed": true})),
        }]),
        _ if scenario.starts_with("sep-2640-") => {
            script.with_capability("extensions", json!({SKILLS: {}}))
        }
        _ => script,
    })
}

/// Makes the requests of a scenario.
pub(crate) async fn play(session: &Session, scenario: &str, context: &Value) -> Result<()> {
    match scenario {
        "tools_call" => calls(session, &[("add_numbers", json!({"a": 5, "b": 3}))]).await,
        "elicitation-sep1034-client-defaults" => {
            calls(session, &[("test_client_elicitation_defaults", json!({}))]).await
        }
        "sse-retry" => calls(session, &[("test_reconnection", json!({}))]).await,
        "sep-2322-client-request-state" => {
            let tools = ["echo_state", "unrelated", "no_state", "no_result_type"];
            let tools = tools.map(|name| format!("test_mrtr_{name}"));
            calls(session, &tools.each_ref().map(|name| (name.as_str(), json!({})))).await
        }
        "http-standard-headers" => standard_headers(session).await,
        "http-custom-headers" => custom_headers(session, context).await,
        "http-invalid-tool-headers" => invalid_headers(session).await,
        "json-schema-2020-12-preservation" => echo_schema(session).await,
        "sep-2640-client-no-prefetch" => {
            skills::list(session).await?;
            Ok(())
        }
        _ if scenario.starts_with("sep-2640-") => use_skills(session).await,
        _ if scenario.starts_with("auth/") => calls(session, &[("test-tool", json!({}))]).await,
        _ => calls(session, &[]).await,
    }
}

/// Lists the tools and makes some calls.
async fn calls(session: &Session, calls: &[(&str, Value)]) -> Result<()> {
    session.list(Listable::Tools).await?;
    for (tool, arguments) in calls {
        session.call_tool(tool, arguments.clone()).await?;
    }
    Ok(())
}

async fn standard_headers(session: &Session) -> Result<()> {
    let tools = [("test_headers", json!({})), ("my-hyphenated-tool", json!({}))];
    calls(session, &tools).await?;
    session.list(Listable::Resources).await?;
    let resource = json!({"uri": "file:///path/to/file%20name.txt"});
    session.request("resources/read", serde_json::from_value(resource)?).await?;
    session.list(Listable::Prompts).await?;
    let prompt = json!({"name": "test_prompt", "arguments": {}});
    session.request("prompts/get", serde_json::from_value(prompt)?).await?;
    Ok(())
}

async fn custom_headers(session: &Session, context: &Value) -> Result<()> {
    session.list(Listable::Tools).await?;
    for call in context["toolCalls"].as_array().ok_or("the context names no calls")? {
        let name = call["name"].as_str().ok_or("a call without a name")?;
        session.call_tool(name, call["arguments"].clone()).await?;
    }
    Ok(())
}

/// Calls every tool that the library did not refuse.
async fn invalid_headers(session: &Session) -> Result<()> {
    for tool in session.list(Listable::Tools).await?.items {
        let name = tool["name"].as_str().ok_or("a tool without a name")?;
        session.call_tool(name, json!({"region": "us-east1"})).await?;
    }
    Ok(())
}

/// Sends a schema back unchanged.
async fn echo_schema(session: &Session) -> Result<()> {
    let tools = session.list(Listable::Tools).await?.items;
    let tool = tools.iter().find(|tool| tool["name"] == "json_schema_2020_12_tool");
    let schema = tool.ok_or("the tool with the schema is not listed")?["inputSchema"].clone();
    session.call_tool("json_schema_echo", json!({"schema": schema})).await?;
    Ok(())
}

/// Loads every skill and then its other files, as a model that follows the skill would.
async fn use_skills(session: &Session) -> Result<()> {
    for skill in skills::list(session).await? {
        skill.load(session).await?;
        for file in skill.files.iter().flatten().filter(|file| file.uri != skill.uri) {
            skill.read(session, &file.uri).await?;
        }
    }
    Ok(())
}
