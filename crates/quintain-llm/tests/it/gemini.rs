//! Gemini, on the wire.

use quintain_llm::{ChatRequest, Output};
use serde_json::json;

use crate::server::{End, Reply, Server};
use crate::web::{KEY, handle, spec};

const ID: &str = "google:gemini-2.5-flash";

#[tokio::test]
async fn the_request_has_contents_and_generation_options() {
    let ok = json!({"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]});
    let server = Server::start([Reply::ok(ok)]).await;
    let spec = spec(ID, &server.url).with("temperature", 0.5).with("maxOutputTokens", 99);
    let mut request = ChatRequest::text(
        r#"[{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Hi"}]"#,
    );
    request.overrides.insert("stop".to_owned(), json!("END"));
    request.tools = Some(
        json!([{"name": "add", "inputSchema": {"type": "object", "additionalProperties": false}}]),
    );
    request.tool_choice = Some(json!("none"));
    handle(&spec).chat(&request).await.unwrap();
    let sent = server.only();
    assert_eq!(sent.path, "/v1beta/models/gemini-2.5-flash:generateContent");
    assert_eq!(sent.headers["x-goog-api-key"], KEY);
    assert_eq!(
        sent.body,
        json!({
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
            "generationConfig": {"temperature": 0.5, "maxOutputTokens": 99, "stopSequences": ["END"]},
            "toolConfig": {"functionCallingConfig": {"mode": "NONE"}},
            "tools": [{"functionDeclarations": [{"name": "add", "parameters": {"type": "OBJECT"}}]}],
            "system_instruction": {"parts": [{"text": "Be brief"}]},
        })
    );
}

#[tokio::test]
async fn calls_usage_and_blocks_are_read() {
    let parts = json!([{"functionCall": {"name": "add", "args": {"x": 2}}}]);
    let body = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}], "modelVersion": "gemini-2.5-flash",
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "thoughtsTokenCount": 2, "totalTokenCount": 17}});
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
    let unsafe_answer = json!({"candidates": [{"finishReason": "SAFETY"}]});
    let server = Server::start([body, blocked, unsafe_answer].map(Reply::ok)).await;
    let handle = handle(&spec(ID, &server.url));
    let answer = handle.chat(&ChatRequest::text("2+2")).await.unwrap();
    assert_eq!(answer.output, Output::Json(parts));
    assert_eq!(answer.tool_calls[0].arguments, Ok(json!({"x": 2})));
    assert_eq!(
        (answer.usage.completion, answer.usage.reasoning, answer.usage.total),
        (Some(7), Some(2), Some(17))
    );
    assert_eq!(answer.finish_reason.as_deref(), Some("tool_calls"));
    for _ in 0..2 {
        let answer = handle.chat(&ChatRequest::text("Hi")).await.unwrap();
        assert!(answer.refusal.unwrap().contains("SAFETY"));
    }
}

#[tokio::test]
async fn streams_are_joined() {
    let chunk = |text: &str, finish| json!({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": finish}]});
    let events = [chunk("Hel", None), chunk("lo", Some("STOP"))];
    let replies = [Reply::events(&events[..1], End::Proper), Reply::events(&events, End::Proper)];
    let server = Server::start(replies).await;
    let answer = handle(&spec(ID, &server.url).with("stream", true))
        .chat(&ChatRequest::text("Hi"))
        .await
        .unwrap();
    assert_eq!((answer.text.as_str(), answer.attempts), ("Hello", 2));
    assert_eq!(
        server.seen()[0].path,
        "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
    );
}

#[tokio::test]
async fn a_quota_per_minute_names_its_pause() {
    let limited = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota", "details": [{"retryDelay": "0.01s"}]}});
    let ok = json!({"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]});
    let server = Server::start([Reply::status(429, limited), Reply::ok(ok)]).await;
    let answer = handle(&spec(ID, &server.url)).chat(&ChatRequest::text("Hi")).await.unwrap();
    assert_eq!(answer.attempts, 2);
}
