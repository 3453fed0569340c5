//! Test cases of `quintain-grade` from what a client session of rmcp returns.

use quintain_evidence::trace::{CallKind, Trace};
use quintain_grade::case::{LlmTestCase, McpPromptCall, McpResourceCall, McpServer, McpToolCall};
use quintain_grade::evaluate::{McpUseMetric, evaluate};
use rmcp::model::{
    CallToolResult, GetPromptResult, ListPromptsResult, ListResourcesResult, ListToolsResult,
    ReadResourceResult,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A result as rmcp reads it from the wire.
fn received<T: DeserializeOwned>(result: Value) -> T {
    serde_json::from_value(result).unwrap()
}

fn server() -> McpServer {
    let schema =
        json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let tools: ListToolsResult =
        received(json!({"tools": [{"name": "get_order", "inputSchema": schema}]}));
    let resources: ListResourcesResult =
        received(json!({"resources": [{"uri": "shop://terms", "name": "terms"}]}));
    let prompts: ListPromptsResult = received(json!({"prompts": [{"name": "review"}]}));
    McpServer::new()
        .server_name("shop")
        .available_tools(tools.tools)
        .available_resources(resources.resources)
        .available_prompts(prompts.prompts)
}

#[test]
fn results_of_rmcp_are_results() {
    let found: CallToolResult = received(
        json!({"content": [{"type": "text", "text": "{\"state\": \"sent\"}"}], "isError": false}),
    );
    let refused: CallToolResult =
        received(json!({"content": [{"type": "text", "text": "no such order"}], "isError": true}));
    let read: ReadResourceResult =
        received(json!({"contents": [{"uri": "shop://terms", "text": "14 days"}]}));
    let prompt: GetPromptResult = received(
        json!({"messages": [{"role": "user", "content": {"type": "text", "text": "Review it"}}]}),
    );
    let case = LlmTestCase {
        mcp_servers: vec![server()],
        mcp_tools_called: vec![
            McpToolCall::new("get_order", json!({"id": "A-1"})).result(found),
            McpToolCall::new("get_order", json!({"id": "A-2"})).result(refused),
        ],
        mcp_resources_called: vec![McpResourceCall::new("shop://terms").result(read)],
        mcp_prompts_called: vec![McpPromptCall::new("review").result(prompt)],
        ..LlmTestCase::new(
            "Where are A-1 and A-2?",
            "A-1 is sent. There is no order A-2; you have 14 days.",
        )
    };
    let trace = Trace::from(case.clone());
    let calls: Vec<(CallKind, bool, String)> =
        trace.calls().map(|call| (call.kind, call.is_error(), call.text().into_owned())).collect();
    assert_eq!(
        calls,
        [
            (CallKind::Tool, false, "{\"state\": \"sent\"}".to_owned()),
            (CallKind::Tool, true, "no such order".to_owned()),
            (CallKind::Resource, false, "14 days".to_owned()),
            (CallKind::Prompt, false, "Review it".to_owned()),
        ]
    );
    let evaluation = evaluate([case], [McpUseMetric]).unwrap();
    assert!(evaluation.results[0].metrics[0].score.is_some());
}

#[test]
fn schemas_that_rmcp_listed_are_checked() {
    let called: CallToolResult = received(json!({"content": []}));
    let case = LlmTestCase {
        mcp_servers: vec![server()],
        mcp_tools_called: vec![McpToolCall::new("get_order", json!({"order": 7})).result(called)],
        ..LlmTestCase::new("Where is it?", "I do not know.")
    };
    let evaluation = evaluate([case], [McpUseMetric]).unwrap();
    let checks: Vec<&str> =
        evaluation.results[0].findings.iter().map(|finding| finding.check.as_str()).collect();
    assert!(checks.contains(&"args.schema"), "{checks:?}");
}
