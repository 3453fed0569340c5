//! Ollama, on the wire.

use quintain_llm::{ChatRequest, Output};
use serde_json::json;

use crate::server::{End, Reply, Server};
use crate::web::{handle, spec};

#[tokio::test]
async fn options_are_nested_and_arguments_are_objects() {
    let ok = json!({"message": {"content": "Hello"}, "done": true, "done_reason": "stop", "prompt_eval_count": 3, "eval_count": 4});
    let server = Server::start([Reply::ok(ok)]).await;
    let spec = spec("ollama:chat:llama3.2:1b", &server.url)
        .with("temperature", 0.5)
        .with("num_ctx", 100)
        .with("think", false);
    let mut request = ChatRequest::messages(vec![
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a", "function": {"name": "add", "arguments": "{\"x\":2}"}}]}),
    ]);
    request.overrides.insert("max_tokens".to_owned(), json!(7));
    let answer = handle(&spec).chat(&request).await.unwrap();
    assert_eq!(answer.usage.total, Some(7));
    let sent = server.only();
    assert_eq!(sent.path, "/api/chat");
    assert_eq!(
        sent.body,
        json!({
            "model": "llama3.2:1b", "stream": false, "think": false,
            "messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": {"name": "add", "arguments": {"x": 2}}}]}],
            "options": {"temperature": 0.5, "num_ctx": 100, "num_predict": 7},
        })
    );
}

#[tokio::test]
async fn completions_have_a_prompt() {
    let server = Server::start([Reply::ok(json!({"response": "Hello", "done": true}))]).await;
    let answer = handle(&spec("ollama:llama3.2:1b", &server.url))
        .chat(&ChatRequest::text("Hi"))
        .await
        .unwrap();
    assert_eq!(answer.text, "Hello");
    let sent = server.only();
    assert_eq!((sent.path.as_str(), &sent.body["prompt"]), ("/api/generate", &json!("Hi")));
    assert_eq!(sent.body["model"], "llama3.2:1b");
}

#[tokio::test]
async fn calls_and_thoughts_are_read() {
    let calls = json!([{"function": {"name": "add", "arguments": {"x": 2}}}]);
    let replies = [
        json!({"message": {"content": "", "tool_calls": calls}, "done": true, "done_reason": "stop"}),
        json!({"message": {"content": "4", "thinking": "2+2"}, "done": true}),
        json!({"error": "model not found"}),
    ];
    let server = Server::start(replies.map(Reply::ok)).await;
    let handle = handle(&spec("ollama:chat:llama3.2", &server.url).with("maxRetries", 0));
    let answer = handle.chat(&ChatRequest::text("2+2")).await.unwrap();
    assert_eq!(answer.output, Output::ToolCalls(calls.as_array().unwrap().clone()));
    assert_eq!(answer.tool_calls[0].arguments, Ok(json!({"x": 2})));
    let answer = handle.chat(&ChatRequest::text("2+2")).await.unwrap();
    assert_eq!(
        (answer.output, answer.text.as_str()),
        (Output::Text("Thinking: 2+2\n\n4".to_owned()), "4")
    );
    let error = handle.chat(&ChatRequest::text("2+2")).await.unwrap_err();
    assert!(error.to_string().contains("model not found"), "{error}");
}

#[tokio::test]
async fn lines_are_joined_and_half_of_them_is_an_error() {
    let lines = [
        "{\"message\": {\"content\": \"Hel\"}, \"done\": false}\n",
        "{\"message\": {\"content\": \"lo\"}, \"done\": true}\n",
    ];
    let reply = |lines: &[&str]| Reply::Stream {
        kind: "application/x-ndjson",
        chunks: lines.iter().map(|line| (*line).to_owned()).collect(),
        end: End::Proper,
    };
    let server = Server::start([reply(&lines[..1]), reply(&lines)]).await;
    let spec = spec("ollama:chat:llama3.2", &server.url).with("stream", true);
    let answer = handle(&spec).chat(&ChatRequest::text("Hi")).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.attempts), ("Hello", 2));
}
