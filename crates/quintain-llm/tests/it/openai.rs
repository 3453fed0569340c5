//! OpenAI's chat completions, on the wire.

use quintain_llm::{ChatRequest, Output, ToolCallRequest, Usage};
use serde_json::{Value, json};

use crate::server::{Recorded, Reply, Server};
use crate::web::{KEY, handle, spec};

fn said(text: &str) -> Reply {
    Reply::ok(json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}))
}

async fn sent(id: &str, config: Value, request: &ChatRequest) -> Recorded {
    let server = Server::start([said("Hello")]).await;
    let mut spec = spec(id, &format!("{}/v1", server.url));
    spec.config.extend(config.as_object().unwrap().clone());
    handle(&spec).chat(request).await.unwrap();
    server.only()
}

#[tokio::test]
async fn the_request_has_the_usual_defaults() {
    let sent =
        sent("openai:chat:gpt-4o", json!({"organization": "org"}), &ChatRequest::text("Hi")).await;
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(sent.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(sent.headers["content-type"], "application/json");
    assert_eq!(sent.headers["openai-organization"], "org");
    let expected = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1024, "temperature": 0});
    assert_eq!(sent.body, expected);
}

#[tokio::test]
async fn models_that_reason_get_other_parameters() {
    for name in ["o3-mini", "gpt-5.1", "openai/gpt-5", "o1"] {
        let config = json!({"max_tokens": 5, "temperature": 1, "max_completion_tokens": 9, "reasoning_effort": "low"});
        let sent = sent(&format!("openai:chat:{name}"), config, &ChatRequest::text("Hi")).await;
        assert_eq!(sent.body["max_completion_tokens"], 9, "{name}");
        assert_eq!(sent.body["reasoning_effort"], "low", "{name}");
        for key in ["max_tokens", "temperature"] {
            assert!(sent.body.get(key).is_none(), "{name} {key}");
        }
    }
}

#[tokio::test]
async fn options_overrides_and_passthrough_are_merged() {
    let config = json!({
        "temperature": "0.5", "top_p": 0.9, "seed": 7, "stop": ["x"], "frequency_penalty": 1, "presence_penalty": 2,
        "headers": {"x-team": "red", "Authorization": "Basic abc"}, "passthrough": {"top_k": 3},
        "tools": [{"name": "add", "inputSchema": {"type": "object"}}], "tool_choice": "required",
    });
    let mut request = ChatRequest::text("Hi");
    request.overrides.insert("temperature".to_owned(), json!(0.25));
    request.overrides.insert("max_tokens".to_owned(), json!(10));
    let sent = sent("openai:gpt-4o", config, &request).await;
    assert_eq!(sent.headers["x-team"], "red");
    assert_eq!(sent.headers["authorization"], "Basic abc");
    let body = sent.body;
    assert_eq!((&body["temperature"], &body["max_tokens"]), (&json!(0.25), &json!(10)));
    assert_eq!(
        (&body["top_p"], &body["seed"], &body["top_k"]),
        (&json!(0.9), &json!(7), &json!(3))
    );
    assert_eq!(body["stop"], json!(["x"]));
    assert_eq!((&body["frequency_penalty"], &body["presence_penalty"]), (&json!(1), &json!(2)));
    assert_eq!(
        body["tools"][0],
        json!({"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}})
    );
    assert_eq!(body["tool_choice"], "required");
    for key in ["headers", "apiKey", "apiBaseUrl", "passthrough", "backoffMs"] {
        assert!(body.get(key).is_none(), "{key}");
    }
}

#[tokio::test]
async fn calls_usage_and_the_model_are_read() {
    let body = json!({"model": "gpt-4o-2024-08-06", "choices": [{"finish_reason": "tool_calls", "message": {"content": null, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "add", "arguments": "{\"x\": 2}"}},
        {"id": "b", "type": "function", "function": {"name": "add", "arguments": "{\"x\": "}}]}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100,
            "prompt_tokens_details": {"cached_tokens": 200}, "completion_tokens_details": {"reasoning_tokens": 50}}});
    let server = Server::start([Reply::ok(body.clone())]).await;
    let answer = handle(&spec("openai:chat:gpt-4o", &server.url))
        .chat(&ChatRequest::text("2+2"))
        .await
        .unwrap();
    let call = |id: &str, arguments| ToolCallRequest {
        id: id.to_owned(),
        name: "add".to_owned(),
        arguments,
    };
    assert_eq!(
        answer.tool_calls,
        [call("a", Ok(json!({"x": 2}))), call("b", Err("{\"x\": ".to_owned()))]
    );
    let calls = body.pointer("/choices/0/message/tool_calls").unwrap().as_array().unwrap().clone();
    assert_eq!(answer.output, Output::ToolCalls(calls));
    assert_eq!(answer.finish_reason.as_deref(), Some("tool_calls"));
    assert_eq!(answer.model.as_deref(), Some("gpt-4o-2024-08-06"));
    let usage = Usage {
        prompt: Some(1000),
        completion: Some(100),
        total: Some(1100),
        cached: Some(200),
        cache_write: None,
        reasoning: Some(50),
    };
    assert_eq!(answer.usage, usage);
    // 800 at 2.5, 200 at 1.25 and 100 at 10 dollars per million.
    assert!((answer.cost.unwrap() - 0.003_25).abs() < 1e-9, "{:?}", answer.cost);
    // The conversation continues with the same calls.
    assert_eq!(answer.to_message()["tool_calls"][0]["function"]["name"], "add");
}

#[tokio::test]
async fn refusals_are_marked() {
    let refused = json!({"choices": [{"message": {"content": null, "refusal": "I can't help"}, "finish_reason": "stop"}]});
    let filtered =
        json!({"choices": [{"message": {"content": ""}, "finish_reason": "content_filter"}]});
    let rejected =
        json!({"error": {"code": "content_filter", "message": "The prompt was filtered"}});
    let replies = [Reply::ok(refused), Reply::ok(filtered), Reply::status(400, rejected)];
    let server = Server::start(replies).await;
    let handle = handle(&spec("openai:chat:gpt-4o", &server.url));
    for expected in ["I can't help", "Content filtered by provider", "The prompt was filtered"] {
        let answer = handle.chat(&ChatRequest::text("Hi")).await.unwrap();
        assert_eq!(answer.refusal.as_deref(), Some(expected));
        assert_eq!(answer.output, Output::Text(expected.to_owned()));
    }
}

#[tokio::test]
async fn text_json_and_messages_are_shown_as_promptfoo_does() {
    let message =
        |message: Value| json!({"choices": [{"message": message, "finish_reason": "stop"}]});
    let both = json!({"content": "Let me add", "tool_calls": [{"id": "a", "function": {"name": "add", "arguments": "{}"}}]});
    let thought = json!({"content": "4", "reasoning_content": "2+2"});
    let replies =
        [message(both.clone()), message(thought), message(json!({"content": "{\"a\": 1}"}))];
    let server = Server::start(replies.map(Reply::ok)).await;
    let config = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": {}}});
    let handle = handle(&spec("openai:chat:gpt-4o", &server.url).with("response_format", config));
    let request = ChatRequest::text("Hi");
    assert_eq!(handle.chat(&request).await.unwrap().output, Output::Json(both));
    let answer = handle.chat(&request).await.unwrap();
    // What is JSON is shown as such, and the thought is not part of the text.
    assert_eq!((answer.output, answer.text.as_str()), (Output::Json(json!(4)), "4"));
    assert_eq!(handle.chat(&request).await.unwrap().output, Output::Json(json!({"a": 1})));
}

#[tokio::test]
async fn log_probabilities_are_kept() {
    let body = json!({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop",
        "logprobs": {"content": [{"token": "H", "logprob": -0.5}, {"token": "i", "logprob": -0.25}]}}]});
    let server = Server::start([Reply::ok(body)]).await;
    let answer = handle(&spec("openai:chat:gpt-4o", &server.url))
        .chat(&ChatRequest::text("Hi"))
        .await
        .unwrap();
    assert_eq!(answer.logprobs, Some(vec![-0.5, -0.25]));
}

#[tokio::test]
async fn azure_has_its_own_path_and_header() {
    let server = Server::start([said("Hello")]).await;
    let spec = spec("azure:chat:my deployment", &server.url).with("apiVersion", "2025-01-01");
    handle(&spec).chat(&ChatRequest::text("Hi")).await.unwrap();
    let sent = server.only();
    assert_eq!(
        sent.path,
        "/openai/deployments/my%20deployment/chat/completions?api-version=2025-01-01"
    );
    assert_eq!(sent.headers["api-key"], KEY);
    assert!(!sent.headers.contains_key("authorization"));
}

#[tokio::test]
async fn a_failure_with_status_200_is_a_failure() {
    let body = json!({"error": {"message": "provider returned error", "code": 429}});
    let server = Server::start([Reply::ok(body), said("Hello")]).await;
    let answer = handle(&spec("openrouter:some/model", &server.url))
        .chat(&ChatRequest::text("Hi"))
        .await
        .unwrap();
    assert_eq!(answer.attempts, 2);
}

#[tokio::test]
async fn a_deployment_takes_parameters_and_price_from_its_model() {
    let usage = json!({"prompt_tokens": 1_000_000, "completion_tokens": 0});
    let body = json!({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}], "usage": usage});
    let server = Server::start([Reply::ok(body)]).await;
    let handle = |name: &str| handle(&spec("azure:chat:mine", &server.url).with("modelName", name));
    let answer = handle("gpt-4o").chat(&ChatRequest::text("Hi")).await.unwrap();
    assert_eq!(answer.cost, Some(2.5));
    handle("o3-mini").chat(&ChatRequest::text("Hi")).await.unwrap();
    assert!(server.seen()[1].body.get("temperature").is_none());
}

#[tokio::test]
async fn credentials_in_an_address_are_shown_nowhere() {
    let server = Server::start([said("Hello")]).await;
    let url = server.url.replace("http://", &format!("http://user:{KEY}@"));
    let handle = handle(&spec("openai:chat:gpt-4o", &url).with("apiKey", "other-key-123"));
    let answer = handle.chat(&ChatRequest::text("Hi")).await.unwrap();
    assert!(!format!("{answer:?} {}", handle.model().fingerprint()).contains(KEY));
    let errors = crate::web::models()
        .model(&spec("openai:chat:x", &format!("ftp://user:{KEY}@h")))
        .unwrap_err();
    assert!(!format!("{errors:?}").contains(KEY), "{errors:?}");
}

#[tokio::test]
async fn services_differ_where_they_must() {
    let mistral =
        sent("mistral:mistral-small-latest", json!({"seed": 7}), &ChatRequest::text("Hi")).await;
    assert_eq!((&mistral.body["random_seed"], mistral.body.get("seed")), (&json!(7), None));
    assert!(mistral.body.get("temperature").is_none());
    let own = sent("mistral:m", json!({"temperature": 0.5}), &ChatRequest::text("Hi")).await;
    assert_eq!(own.body["temperature"], 0.5);
}

#[tokio::test]
async fn a_failure_inside_of_a_choice_is_a_failure() {
    let body = json!({"choices": [{"error": {"code": 502, "message": "upstream"}, "message": {"content": ""}, "finish_reason": "error"}]});
    let server = Server::start([Reply::ok(body), said("Hello")]).await;
    let answer = handle(&spec("openrouter:some/model", &server.url))
        .chat(&ChatRequest::text("Hi"))
        .await
        .unwrap();
    assert_eq!((answer.text.as_str(), answer.attempts), ("Hello", 2));
}
