//! Streams of OpenAI and Anthropic: whole, cut, stalled, failed.

use quintain_llm::{ChatRequest, Completion, ModelError, ModelSpec, Output};
use serde_json::{Value, json};

use crate::server::{End, Reply, Server};
use crate::web::{handle, spec};

async fn ask(
    id: &str,
    replies: Vec<Reply>,
    adapt: impl Fn(ModelSpec) -> ModelSpec,
) -> Result<Completion, ModelError> {
    let server = Server::start(replies).await;
    let spec = adapt(spec(id, &server.url).with("stream", true).with("maxRetries", 0));
    handle(&spec).chat(&ChatRequest::text("Hi")).await
}

fn openai() -> Vec<Value> {
    let delta = |delta: Value| json!({"model": "gpt-4o", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    vec![
        delta(json!({"role": "assistant", "content": "Hel"})),
        delta(json!({"content": "lo"})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "add", "arguments": "{\"x\":"}}]}),
        ),
        delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": "2}"}}]})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}}),
        json!("[DONE]"),
    ]
}

fn anthropic() -> Vec<Value> {
    vec![
        json!({"type": "message_start", "message": {"model": "claude", "content": [], "usage": {"input_tokens": 3, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo"}}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "a", "name": "add", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"x\":"}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "2}"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 4}}),
        json!({"type": "message_stop"}),
    ]
}

type Events = fn() -> Vec<Value>;

const IDS: [(&str, Events); 2] =
    [("openai:chat:gpt-4o", openai), ("anthropic:messages:claude-haiku-4-5", anthropic)];

#[tokio::test]
async fn a_whole_stream_is_the_same_as_an_answer() {
    for (id, events) in IDS {
        let answer =
            ask(id, vec![Reply::events(&events(), End::Proper)], |spec| spec).await.expect(id);
        assert_eq!(answer.text, "Hello", "{id}");
        assert_eq!(answer.tool_calls[0].id, "a", "{id}");
        assert_eq!(answer.tool_calls[0].arguments, Ok(json!({"x": 2})), "{id}");
        assert_eq!((answer.usage.prompt, answer.usage.completion), (Some(3), Some(4)), "{id}");
        assert_eq!(answer.finish_reason.as_deref(), Some("tool_calls"), "{id}");
        assert_eq!(answer.raw.response.as_array().unwrap().len(), events().len(), "{id}");
    }
}

#[tokio::test]
async fn half_a_stream_is_an_error_however_it_ends() {
    for (id, events) in IDS {
        for end in [End::Proper, End::Break] {
            let half = Reply::events(&events()[..4], end);
            let error = ask(id, vec![half], |spec| spec).await.expect_err(id);
            assert!(matches!(error, ModelError::Cut(_)), "{id} {end:?}: {error:?}");
        }
    }
}

#[tokio::test]
async fn a_stalled_stream_is_a_timeout() {
    for (id, events) in IDS {
        let half = Reply::events(&events()[..2], End::Stall);
        let error =
            ask(id, vec![half], |spec| spec.with("chunkTimeoutMs", 60)).await.expect_err(id);
        assert!(matches!(error, ModelError::TimedOut(_)), "{id}: {error:?}");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_is_an_error() {
    let failed =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    for (id, events) in IDS {
        let mut events = events();
        events.truncate(3);
        events.push(failed.clone());
        let error =
            ask(id, vec![Reply::events(&events, End::Proper)], |spec| spec).await.expect_err(id);
        assert_eq!(error.status(), Some(529), "{id}: {error:?}");
        assert!(error.is_retryable());
    }
}

#[tokio::test]
async fn an_endless_stream_is_bounded() {
    for (id, events) in IDS {
        let chunk = events()[3].clone();
        let endless = vec![chunk; 20_000];
        let error = ask(id, vec![Reply::events(&endless, End::Proper)], |spec| {
            spec.with("maxResponseBytes", 100_000)
        })
        .await
        .expect_err(id);
        assert!(matches!(error, ModelError::TooLarge { .. }), "{id}: {error:?}");
    }
}

#[tokio::test]
async fn a_server_that_ignores_the_wish_for_a_stream_is_understood() {
    let body = json!({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]});
    let answer = ask("openai:chat:gpt-4o", vec![Reply::ok(body)], |spec| spec).await.unwrap();
    assert_eq!(answer.output, Output::Text("Hello".to_owned()));
}
