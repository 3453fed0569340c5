//! Test cases of `quintain-grade` from what a session of `quintain-wire` returns.

use std::sync::Arc;
use std::time::Duration;

use quintain_evidence::trace::Trace;
use quintain_grade::case::{LlmTestCase, McpServer, McpToolCall};
use quintain_grade::evaluate::{McpUseMetric, evaluate};
use quintain_wire::connect::{Address, Options, connect};
use quintain_wire::era::Choice;
use quintain_wire::limits::Limits;
use quintain_wire::rpc::{Deadline, Script};
use quintain_wire::session::Listable;
use quintain_wire::transport::stdio::StdioConfig;
use serde_json::json;

use crate::support::{Stage, world};

#[tokio::test(flavor = "multi_thread")]
async fn what_a_session_returns_is_a_test_case() {
    let stage = Stage::new();
    let server = stage.server("shop", &[]);
    let args = server["args"].as_array().unwrap().iter();
    let address = Address::Stdio(StdioConfig {
        command: "python3".to_owned(),
        args: args.map(|arg| arg.as_str().unwrap().to_owned()).collect(),
        env: world().env.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
        cwd: None,
    });
    let options = Options {
        protocol: Choice::default(),
        deadline: Deadline::after(Duration::from_secs(20)),
        responder: Arc::new(Script::default()),
        recording: world().recording(),
        limits: Limits::default(),
    };
    let session = connect(&address, &options).await.unwrap();
    let tools = session.list(Listable::Tools).await.unwrap();
    let tool_args = json!({"text": "order A-1 is sent"});
    let result = session.call_tool("echo", tool_args.clone()).await.unwrap();
    session.close().await;

    let mcp_server = McpServer::new().server_name("shop").available_tools(tools.items);
    let mcp_tool_called = McpToolCall::new("echo", tool_args).result(result.value().unwrap());
    let test_case = LlmTestCase {
        mcp_servers: vec![mcp_server],
        mcp_tools_called: vec![mcp_tool_called],
        ..LlmTestCase::new("Repeat: order A-1 is sent", "Order A-1 is sent.")
    };
    let trace = Trace::from(test_case.clone());
    assert_eq!(trace.calls().next().unwrap().text(), "order A-1 is sent");
    let evaluation = evaluate([test_case], [McpUseMetric]).unwrap();
    assert_eq!(evaluation.results[0].metrics[0].score, Some(1.0));
}
