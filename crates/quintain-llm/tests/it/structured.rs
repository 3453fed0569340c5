//! Structured output: how each dialect asks for it, and what happens with answers that do not match.

use quintain_llm::{ChatRequest, JsonSchema, ModelError};
use serde_json::{Value, json};

use crate::server::{Reply, Server};
use crate::web::{handle, spec};

fn schema() -> JsonSchema {
    let schema = json!({"type": "object", "required": ["pass"], "additionalProperties": false, "properties": {"pass": {"type": "boolean"}}});
    JsonSchema { name: "verdict".to_owned(), schema }
}

fn openai(text: &str) -> Reply {
    Reply::ok(json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}))
}

async fn body_of(id: &str, reply: Reply) -> (Value, Value) {
    let server = Server::start([reply]).await;
    let answer = handle(&spec(id, &server.url))
        .chat_json(&ChatRequest::text("Judge"), &schema())
        .await
        .expect(id);
    (server.only().body, answer.value)
}

#[tokio::test]
async fn every_dialect_asks_in_its_way() {
    let pass = json!({"pass": true});
    let (body, value) = body_of("openai:chat:gpt-4o", openai("{\"pass\": true}")).await;
    let expected = json!({"type": "json_schema", "json_schema": {"name": "verdict", "schema": schema().schema, "strict": true}});
    assert_eq!((&body["response_format"], &value), (&expected, &pass));

    let call = json!({"content": [{"type": "tool_use", "id": "a", "name": "verdict", "input": pass}], "stop_reason": "tool_use"});
    let (body, value) = body_of("anthropic:messages:claude-haiku-4-5", Reply::ok(call)).await;
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "verdict"}));
    assert_eq!((&body["tools"][0]["input_schema"], &value), (&schema().schema, &pass));

    let text = json!({"content": [{"type": "text", "text": "{\"pass\": true}"}], "stop_reason": "end_turn"});
    let (body, value) = body_of("anthropic:messages:claude-mythos-5-1", Reply::ok(text)).await;
    assert_eq!(
        body["output_config"]["format"],
        json!({"type": "json_schema", "schema": schema().schema})
    );
    assert_eq!((body.get("tool_choice"), &value), (None, &pass));

    let text = json!({"message": {"content": "{\"pass\": true}"}, "done": true});
    let (body, value) = body_of("ollama:chat:llama3.2", Reply::ok(text)).await;
    assert_eq!((&body["format"], &value), (&schema().schema, &pass));

    let text = json!({"candidates": [{"content": {"parts": [{"text": "{\"pass\": true}"}]}, "finishReason": "STOP"}]});
    let (body, value) = body_of("google:gemini-2.5-flash", Reply::ok(text)).await;
    assert_eq!(body["generationConfig"]["responseMimeType"], "application/json");
    assert_eq!(body["generationConfig"]["responseSchema"]["type"], "OBJECT");
    assert_eq!(value, pass);

    let text = json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "{\"pass\": true}"}]}]});
    let (body, value) = body_of("openai:responses:gpt-4o", Reply::ok(text)).await;
    assert_eq!((&body["text"]["format"]["type"], &value), (&json!("json_schema"), &pass));

    let (body, value) = body_of("deepseek:deepseek-chat", openai("{\"pass\": true}")).await;
    assert_eq!((&body["response_format"], &value), (&json!({"type": "json_object"}), &pass));
    assert!(body["messages"][1]["content"].as_str().unwrap().contains("JSON schema"));
}

#[tokio::test]
async fn a_wrong_answer_is_asked_for_once_more_with_its_fault() {
    let server =
        Server::start([openai("{\"pass\": 1}"), openai("```json\n{\"pass\": true}\n```")]).await;
    let handle = handle(&spec("openai:chat:gpt-4o", &server.url));
    let answer = handle.chat_json(&ChatRequest::text("Judge"), &schema()).await.unwrap();
    assert_eq!(answer.value, json!({"pass": true}));
    assert_eq!(answer.completions.len(), 2);
    let again = &server.seen()[1].body["messages"];
    assert_eq!(again[0]["content"], "Judge");
    assert_eq!(again[1], json!({"role": "assistant", "content": "{\"pass\":1}"}));
    let fault = again[2]["content"].as_str().unwrap();
    assert!(fault.contains("/pass") && fault.contains("JSON schema"), "{fault}");
}

#[tokio::test]
async fn two_wrong_answers_are_an_error() {
    let server = Server::start([openai("I think it passes")]).await;
    let error = handle(&spec("openai:chat:gpt-4o", &server.url))
        .chat_json(&ChatRequest::text("Judge"), &schema())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, ModelError::NotJson(why) if why.contains("I think it passes")),
        "{error:?}"
    );
    assert_eq!(server.seen().len(), 2);
    let server = Server::start([openai("{\"fail\": true}")]).await;
    let error = handle(&spec("openai:chat:gpt-4o", &server.url))
        .chat_json(&ChatRequest::text("Judge"), &schema())
        .await
        .unwrap_err();
    assert!(matches!(error, ModelError::WrongSchema(_)), "{error:?}");
}

#[tokio::test]
async fn a_refusal_is_not_asked_again() {
    let refused = json!({"choices": [{"message": {"content": null, "refusal": "I can't help"}, "finish_reason": "stop"}]});
    let server = Server::start([Reply::ok(refused)]).await;
    let error = handle(&spec("openai:chat:gpt-4o", &server.url))
        .chat_json(&ChatRequest::text("Judge"), &schema())
        .await
        .unwrap_err();
    assert!(matches!(error, ModelError::Refused(_)), "{error:?}");
    assert_eq!(server.seen().len(), 1);
}
