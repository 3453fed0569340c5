//! OpenAI's responses, on the wire.

use quintain_llm::{ChatRequest, Output};
use serde_json::json;

use crate::server::{End, Reply, Server};
use crate::web::{handle, spec};

const ID: &str = "openai:responses:gpt-4o";

#[tokio::test]
async fn text_stays_text_and_conversations_become_items() {
    let ok = json!({"status": "completed", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}]});
    let server = Server::start([Reply::ok(ok)]).await;
    let handle = handle(&spec(ID, &server.url));
    handle.chat(&ChatRequest::text("Hi")).await.unwrap();
    let mut request = ChatRequest::messages(vec![
        json!({"role": "user", "content": [{"type": "text", "text": "2+3"}]}),
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a", "function": {"name": "add", "arguments": "{}"}}]}),
        json!({"role": "tool", "tool_call_id": "a", "content": "5"}),
    ]);
    request.tools = Some(
        json!([{"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}]),
    );
    handle.chat(&request).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen[0].path, "/responses");
    let expected = json!({"model": "gpt-4o", "input": "Hi", "max_output_tokens": 1024, "temperature": 0, "text": {"format": {"type": "text"}}});
    assert_eq!(seen[0].body, expected);
    assert_eq!(
        seen[1].body["input"],
        json!([
        {"role": "user", "content": [{"type": "input_text", "text": "2+3"}]},
        {"type": "function_call", "call_id": "a", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "5"}])
    );
    assert_eq!(
        seen[1].body["tools"],
        json!([{"name": "add", "parameters": {"type": "object"}, "type": "function"}])
    );
}

#[tokio::test]
async fn calls_reasoning_refusals_and_usage_are_read() {
    let call =
        json!({"type": "function_call", "call_id": "a", "name": "add", "arguments": "{\"x\":2}"});
    let body = json!({"status": "completed", "model": "gpt-4o", "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}, call],
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "output_tokens_details": {"reasoning_tokens": 3}}});
    let refused = json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "refusal", "refusal": "No"}]}]});
    let failed = json!({"status": "failed", "error": {"code": "server_error", "message": "broken"}, "output": []});
    let replies =
        [Reply::ok(body), Reply::ok(refused.clone()), Reply::ok(failed), Reply::ok(refused)];
    let server = Server::start(replies).await;
    let handle = handle(&spec(ID, &server.url));
    let answer = handle.chat(&ChatRequest::text("2+2")).await.unwrap();
    assert_eq!(answer.output, Output::Text(format!("Reasoning: hm\n{call}")));
    assert_eq!(answer.tool_calls[0].arguments, Ok(json!({"x": 2})));
    assert_eq!((answer.usage.total, answer.usage.reasoning), (Some(15), Some(3)));
    assert_eq!(answer.finish_reason.as_deref(), Some("tool_calls"));
    let answer = handle.chat(&ChatRequest::text("Hi")).await.unwrap();
    assert_eq!(answer.refusal.as_deref(), Some("No"));
    let answer = handle.chat(&ChatRequest::text("Hi")).await.unwrap();
    assert_eq!(answer.attempts, 2, "a failed response is asked for again");
}

#[tokio::test]
async fn the_last_event_of_a_stream_is_the_answer() {
    let response = json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}]});
    let events = [
        json!({"type": "response.output_text.delta", "delta": "Hel"}),
        json!({"type": "response.completed", "response": response}),
    ];
    let replies = [Reply::events(&events[..1], End::Proper), Reply::events(&events, End::Proper)];
    let server = Server::start(replies).await;
    let answer = handle(&spec(ID, &server.url).with("stream", true))
        .chat(&ChatRequest::text("Hi"))
        .await
        .unwrap();
    assert_eq!((answer.text.as_str(), answer.attempts), ("Hello", 2));
    assert_eq!(server.seen()[0].body["stream"], true);
}
