//! Anthropic's messages, on the wire.

use quintain_llm::{ChatRequest, Output, Usage};
use serde_json::{Value, json};

use crate::server::{Recorded, Reply, Server};
use crate::web::{KEY, handle, spec};

const ID: &str = "anthropic:messages:claude-haiku-4-5";

fn said(text: &str) -> Reply {
    Reply::ok(json!({"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}))
}

async fn sent(id: &str, config: Value, request: &ChatRequest) -> Recorded {
    let server = Server::start([said("Hello")]).await;
    let mut spec = spec(id, &server.url);
    spec.config.extend(config.as_object().unwrap().clone());
    handle(&spec).chat(request).await.unwrap();
    server.only()
}

#[tokio::test]
async fn the_request_has_the_usual_defaults() {
    let prompt =
        r#"[{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Hi"}]"#;
    let sent = sent(ID, json!({}), &ChatRequest::text(prompt)).await;
    assert_eq!(sent.path, "/v1/messages");
    assert_eq!(sent.headers["x-api-key"], KEY);
    assert_eq!(sent.headers["anthropic-version"], "2023-06-01");
    let expected = json!({"model": "claude-haiku-4-5", "system": [{"type": "text", "text": "Be brief"}], "max_tokens": 1024,
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], "temperature": 0});
    assert_eq!(sent.body, expected);
}

#[tokio::test]
async fn newer_models_get_no_sampling_parameters() {
    let sent = sent(
        "anthropic:claude-opus-5",
        json!({"temperature": 1, "top_p": 0.5}),
        &ChatRequest::text("Hi"),
    )
    .await;
    assert!(sent.body.get("temperature").is_none() && sent.body.get("top_p").is_none());
    assert_eq!(sent.body["max_tokens"], 2048);
}

#[tokio::test]
async fn tools_and_their_results_are_translated() {
    let mut request = ChatRequest::messages(vec![
        json!({"role": "user", "content": "2+3"}),
        json!({"role": "assistant", "content": "", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "add", "arguments": "{\"x\":2}"}}]}),
        json!({"role": "tool", "tool_call_id": "a", "content": "5"}),
    ]);
    request.tools =
        Some(json!([{"name": "add", "description": "Adds", "inputSchema": {"type": "object"}}]));
    request.tool_choice = Some(json!("required"));
    let body = sent(ID, json!({"beta": ["x"], "stop": "END"}), &request).await.body;
    assert_eq!(
        body["tools"],
        json!([{"name": "add", "description": "Adds", "input_schema": {"type": "object"}}])
    );
    assert_eq!(body["tool_choice"], json!({"type": "any"}));
    assert_eq!(body["stop_sequences"], json!(["END"]));
    assert_eq!(body["messages"][1]["content"][0]["type"], "tool_use");
    assert_eq!(
        body["messages"][2]["content"][0],
        json!({"type": "tool_result", "tool_use_id": "a", "content": "5"})
    );
}

#[tokio::test]
async fn calls_and_usage_are_read() {
    let call = json!({"type": "tool_use", "id": "a", "name": "add", "input": {"x": 2}});
    let body = json!({"content": [{"type": "text", "text": "Adding"}, call], "stop_reason": "tool_use", "model": "claude-haiku-4-5-20251001",
        "usage": {"input_tokens": 100, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 30, "output_tokens": 10}});
    let server = Server::start([Reply::ok(body)]).await;
    let answer = handle(&spec(ID, &server.url)).chat(&ChatRequest::text("2+2")).await.unwrap();
    assert_eq!(answer.text, "Adding");
    assert_eq!(answer.output, Output::Text(format!("Adding\n\n{call}")));
    assert_eq!(answer.tool_calls[0].arguments, Ok(json!({"x": 2})));
    assert_eq!(answer.finish_reason.as_deref(), Some("tool_calls"));
    let usage = Usage {
        prompt: Some(150),
        completion: Some(10),
        total: Some(160),
        cached: Some(20),
        cache_write: Some(30),
        reasoning: None,
    };
    assert_eq!(answer.usage, usage);
    // 100 at 1, 20 at 0.1, 30 at 1.25 and 10 at 5 dollars per million.
    assert!((answer.cost.unwrap() - 0.000_189_5).abs() < 1e-12, "{:?}", answer.cost);
}

#[tokio::test]
async fn refusals_are_marked() {
    let body =
        json!({"content": [], "stop_reason": "refusal", "stop_details": {"category": "cyber"}});
    let server = Server::start([Reply::ok(body)]).await;
    let answer = handle(&spec(ID, &server.url)).chat(&ChatRequest::text("Hi")).await.unwrap();
    assert_eq!(
        answer.refusal.as_deref(),
        Some("Content refused by Anthropic safety filters — category: cyber")
    );
    assert_eq!(answer.finish_reason.as_deref(), Some("content_filter"));
}

#[tokio::test]
async fn an_overloaded_service_is_asked_again() {
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let server = Server::start([Reply::status(529, overloaded), said("Hello")]).await;
    let answer = handle(&spec(ID, &server.url)).chat(&ChatRequest::text("Hi")).await.unwrap();
    assert_eq!(answer.attempts, 2);
}
