//! The cache as requests see it.

use std::path::Path;
use std::time::Duration;

use quintain_llm::{CacheOptions, ChatRequest, ModelSpec, ModelsOptions};
use serde_json::json;

use crate::memory::{Memory, Scripted, models};
use crate::web::KEY;

fn options(dir: &Path) -> ModelsOptions {
    let cache =
        CacheOptions { dir: dir.to_owned(), max_bytes: 1 << 20, ttl: None, has_secret: None };
    ModelsOptions { cache: Some(cache), ..ModelsOptions::default() }
}

fn said(text: &str) -> Scripted {
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 0, "total_tokens": 1000});
    (
        200,
        None,
        json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": usage}),
    )
}

fn spec() -> ModelSpec {
    ModelSpec::new("openai:chat:gpt-4o").with("apiKey", KEY).with("backoffMs", 1)
}

#[tokio::test]
async fn the_same_request_is_answered_from_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let replies = ["one", "two", "three", "four", "five"].map(said).to_vec();
    let network = Memory::new(replies, Duration::ZERO);
    // A new run finds what the last one stored.
    let ask = async |spec: &ModelSpec, request: &ChatRequest| {
        let models = models(network.clone(), options(dir.path()));
        models.model(spec).unwrap().chat(request).await.unwrap()
    };
    let request = ChatRequest::text("Hi");
    let first = ask(&spec(), &request).await;
    assert!(!first.cached && first.text == "one");
    let again = ask(&spec(), &request).await;
    assert!(again.cached && again.text == "one");
    assert_eq!((again.cost, again.cost), (first.cost, Some(0.0025)));
    assert_eq!((again.attempts, &again.raw), (0, &first.raw));

    // Another key may belong to another account, or be wrong.
    let other_key = ask(&spec().with("apiKey", "another-key"), &request).await;
    assert!(!other_key.cached && other_key.text == "two");

    let sample = ChatRequest { sample: 1, ..request.clone() };
    assert_eq!(ask(&spec(), &sample).await.text, "three");
    assert_eq!(ask(&spec().with("temperature", 1), &request).await.text, "four");
    let mut other = request.clone();
    other.overrides.insert("seed".to_owned(), json!(1));
    assert_eq!(ask(&spec(), &other).await.text, "five");
}

#[tokio::test]
async fn failures_are_not_stored() {
    let dir = tempfile::tempdir().unwrap();
    let network = Memory::new(vec![(400, None, json!({})), said("fine")], Duration::ZERO);
    let handle = models(network, options(dir.path())).model(&spec()).unwrap();
    handle.chat(&ChatRequest::text("Hi")).await.unwrap_err();
    let answer = handle.chat(&ChatRequest::text("Hi")).await.unwrap();
    assert!(!answer.cached);
}

#[tokio::test]
async fn no_file_contains_the_key() {
    let dir = tempfile::tempdir().unwrap();
    let network =
        Memory::new(vec![said("fine"), said(&format!("your key is {KEY}"))], Duration::ZERO);
    let handle = models(network, options(dir.path())).model(&spec()).unwrap();
    handle.chat(&ChatRequest::text("a")).await.unwrap();
    handle.chat(&ChatRequest::text("b")).await.unwrap();
    let mut files = 0;
    for folder in std::fs::read_dir(dir.path()).unwrap() {
        for file in std::fs::read_dir(folder.unwrap().path()).unwrap() {
            files += 1;
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!text.contains(KEY));
        }
    }
    assert_eq!(files, 1);
}

#[tokio::test]
async fn a_script_in_order_is_never_cached() {
    let dir = tempfile::tempdir().unwrap();
    let network = Memory::new(vec![said("unused")], Duration::ZERO);
    let spec = ModelSpec::new("scripted").with("responses", json!(["one", "two"]));
    let handle = models(network, options(dir.path())).model(&spec).unwrap();
    assert_eq!(handle.chat(&ChatRequest::text("Hi")).await.unwrap().text, "one");
    assert_eq!(handle.chat(&ChatRequest::text("Hi")).await.unwrap().text, "two");
}
