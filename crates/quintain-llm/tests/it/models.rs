//! Retries, rates and parallel requests over time, and how models are resolved.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use quintain_llm::{ChatRequest, Environment, ModelError, ModelSpec, Models, ModelsOptions};
use serde_json::{Value, json};

use crate::memory::{Memory, Scripted, handle, models};
use crate::server::{Reply, Server};
use crate::web::{KEY, Web};

fn ok() -> Scripted {
    (200, None, json!({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}))
}

fn limited(retry_after: Option<&str>) -> Scripted {
    (429, retry_after.map(str::to_owned), json!({"error": {"message": "slow down"}}))
}

fn spec() -> ModelSpec {
    ModelSpec::new("openai:chat:gpt-4o").with("apiKey", KEY)
}

#[tokio::test(start_paused = true)]
async fn the_wait_is_what_the_server_asks_for() {
    let network = Memory::new(vec![limited(Some("7")), ok()], Duration::ZERO);
    let answer = handle(network.clone(), &spec()).chat(&ChatRequest::text("Hi")).await.unwrap();
    assert_eq!(answer.attempts, 2);
    let second = network.times()[1];
    assert!((7.0..8.0).contains(&second), "{second}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_hours_is_not_made() {
    let network = Memory::new(vec![limited(Some("36000")), ok()], Duration::ZERO);
    let error = handle(network.clone(), &spec()).chat(&ChatRequest::text("Hi")).await.unwrap_err();
    assert_eq!(network.times().len(), 1);
    assert_eq!(error.retry_after(), Some(Duration::from_hours(10)));
}

#[tokio::test(start_paused = true)]
async fn attempts_and_time_are_bounded() {
    let network = Memory::new(vec![limited(None)], Duration::ZERO);
    let error = handle(network.clone(), &spec()).chat(&ChatRequest::text("Hi")).await.unwrap_err();
    assert_eq!(network.times().len(), 4);
    assert!(network.times()[3] < 10.0, "{:?}", network.times());
    assert!(error.to_string().ends_with("(4 attempts)"), "{error}");

    let network = Memory::new(vec![limited(Some("50"))], Duration::ZERO);
    let spec = spec().with("maxAttempts", 1000).with("totalTimeoutMs", 120_000);
    let error = handle(network.clone(), &spec).chat(&ChatRequest::text("Hi")).await.unwrap_err();
    assert!(network.times().len() <= 3, "{:?}", network.times());
    assert!(matches!(error, ModelError::GaveUp { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_ends_with_the_total_time() {
    let network = Memory::new(vec![ok()], Duration::from_hours(1));
    let spec = spec().with("timeoutMs", 10_000_000).with("totalTimeoutMs", 5_000);
    let error = handle(network, &spec).chat(&ChatRequest::text("Hi")).await.unwrap_err();
    assert!(
        matches!(error, ModelError::TimedOut(after) if after == Duration::from_secs(5)),
        "{error:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn requests_keep_to_the_rate_of_the_provider() {
    let network = Memory::new(vec![ok()], Duration::ZERO);
    let models = models(network.clone(), ModelsOptions::default());
    // Two models of one provider share its limit.
    let one = models.model(&spec().with("requestsPerMinute", 60)).unwrap();
    let other = models
        .model(&ModelSpec {
            id: "openai:chat:gpt-4o-mini".to_owned(),
            ..spec().with("requestsPerMinute", 60)
        })
        .unwrap();
    let request = ChatRequest::text("Hi");
    let (a, b, c) = tokio::join!(one.chat(&request), other.chat(&request), one.chat(&request));
    a.and(b).and(c).unwrap();
    let mut times = network.times();
    times.sort_by(f64::total_cmp);
    assert_eq!(times.iter().map(|time| time.round()).collect::<Vec<_>>(), [0.0, 1.0, 2.0]);
}

#[tokio::test(start_paused = true)]
async fn requests_in_parallel_are_bounded() {
    let request = ChatRequest::text("Hi");
    for (spec, options, most) in [
        (spec().with("maxConcurrency", 2), ModelsOptions::default(), 2),
        (spec(), ModelsOptions { concurrency: Some(3), ..ModelsOptions::default() }, 3),
    ] {
        let network = Memory::new(vec![ok()], Duration::from_secs(1));
        let handle = models(network.clone(), options).model(&spec).unwrap();
        let answers = join_all((0..10).map(|_| handle.chat(&request))).await;
        assert!(answers.iter().all(Result::is_ok));
        assert_eq!(network.most(), most);
    }
}

#[tokio::test]
async fn a_script_answers_by_rules_turns_and_order() {
    let config = json!({
        "rules": [{"match": "/re.und/", "reply": {"json": {"pass": true}}}],
        "responses": ["one", {"fail": {"status": 500}}, {"text": "two", "usage": {"prompt": 1, "completion": 2}}],
        "default": {"tool_calls": [{"name": "add", "arguments": {"x": 2}}]}, "backoffMs": 1,
    });
    let spec = ModelSpec::read(&json!({"id": "scripted:judge", "config": config})).unwrap();
    let handle = handle(Memory::new(vec![ok()], Duration::ZERO), &spec);
    let ask = async |text: &str| handle.chat(&ChatRequest::text(text)).await.unwrap();
    assert_eq!(ask("a refund?").await.output.to_value(), json!({"pass": true}));
    assert_eq!(ask("a").await.text, "one");
    let second = ask("b").await;
    assert_eq!((second.text.as_str(), second.attempts, second.usage.total), ("two", 2, Some(3)));
    let call = &ask("c").await.tool_calls[0];
    assert_eq!((call.name.as_str(), call.arguments.clone()), ("add", Ok(json!({"x": 2}))));
}

#[tokio::test]
async fn a_script_sees_the_conversation() {
    let spec = ModelSpec::new("scripted:agent")
        .with("turns", json!([{"tool_calls": [{"name": "add"}]}, "done"]));
    let handle = handle(Memory::new(vec![ok()], Duration::ZERO), &spec);
    let mut messages = vec![json!({"role": "user", "content": "add"})];
    for _ in 0..2 {
        let first = handle.chat(&ChatRequest::messages(messages.clone())).await.unwrap();
        assert_eq!(first.tool_calls[0].name, "add", "the same conversation gets the same reply");
        messages.truncate(1);
        messages.push(first.to_message());
        messages
            .push(json!({"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "4"}));
        let second = handle.chat(&ChatRequest::messages(messages.clone())).await.unwrap();
        assert_eq!(second.text, "done");
        messages.truncate(1);
    }
}

#[tokio::test]
async fn a_script_measures_words() {
    let config = json!({"classifications": {"bad": {"INJECTION": 0.9, "SAFE": 0.1}}, "moderations": {"": {"hate": 0.7}}});
    let spec = ModelSpec::read(&json!({"id": "scripted", "config": config})).unwrap();
    let handle = handle(Memory::new(vec![ok()], Duration::ZERO), &spec);
    assert_eq!(handle.classify("a bad text").await.unwrap().scores[0].0, "INJECTION");
    assert!(handle.moderate("x").await.unwrap().flagged);
    let scores = handle
        .compare("the cat sat", &["The cat sat!".to_owned(), "dogs bark".to_owned()])
        .await
        .unwrap()
        .scores;
    assert!(scores[0] > 0.99 && scores[1] < 0.5, "{scores:?}");
}

#[tokio::test]
async fn echo_returns_the_last_message_of_the_user() {
    let handle = handle(Memory::new(vec![ok()], Duration::ZERO), &ModelSpec::new("echo"));
    let prompt = r#"[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]"#;
    assert_eq!(handle.chat(&ChatRequest::text(prompt)).await.unwrap().text, "c");
}

struct Files(BTreeMap<String, String>);

impl Environment for Files {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).cloned()
    }

    fn file(&self, path: &Path) -> Result<String, String> {
        match path.to_str() {
            Some("key.txt") => Ok(format!("{KEY}\n")),
            _ => Err("it does not exist".to_owned()),
        }
    }
}

fn with_environment(variables: &[(&str, &str)]) -> Models {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Models::new(
        Arc::new(Web::new()),
        Arc::new(Files(variables.collect())),
        ModelsOptions::default(),
    )
}

async fn authorization(server: &Server, models: &Models, spec: Value) -> String {
    let handle = models.model(&ModelSpec::read(&spec).unwrap()).unwrap();
    handle.chat(&ChatRequest::text("Hi")).await.unwrap();
    server.seen().last().unwrap().headers["authorization"].clone()
}

#[tokio::test]
async fn keys_and_addresses_come_from_options_files_and_variables() {
    let server = Server::start([Reply::ok(ok().2)]).await;
    let models = with_environment(&[
        ("OPENAI_API_KEY", "from-environment"),
        ("OPENAI_BASE_URL", &server.url),
        ("OTHER_KEY", "from-other"),
        ("OPENAI_TEMPERATURE", "0.5"),
    ]);
    let id = "openai:chat:gpt-4o";
    for (config, expected) in [
        (json!({}), "Bearer from-environment".to_owned()),
        (json!({"apiKeyEnvar": "OTHER_KEY"}), "Bearer from-other".to_owned()),
        (json!({"apiKeyFile": "key.txt"}), format!("Bearer {KEY}")),
        (json!({"apiKey": "own", "apiKeyFile": "key.txt"}), "Bearer own".to_owned()),
    ] {
        assert_eq!(
            authorization(&server, &models, json!({"id": id, "config": config})).await,
            expected
        );
    }
    let own = json!({"id": id, "env": {"OPENAI_API_KEY": "of-entry"}});
    assert_eq!(authorization(&server, &models, own).await, "Bearer of-entry");
    assert_eq!(server.seen()[0].body["temperature"], 0.5);
}

#[test]
fn all_mistakes_of_a_spec_are_reported() {
    let models = with_environment(&[]);
    let config = json!({"temperature": "hot", "apiBaseUrl": "ftp://x", "timeoutMs": 0, "apiKeyFile": "none", "headers": {"a b": "c"}});
    let spec = ModelSpec::read(&json!({"id": "openai:chat:gpt-4o", "config": config})).unwrap();
    let errors = models.model(&spec).unwrap_err();
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    for expected in
        ["cannot read the key file `none`", "OpenAI needs a key", "`ftp://x` is not a valid URL"]
    {
        assert!(texts.iter().any(|text| text.contains(expected)), "{expected}: {texts:?}");
    }
    let config =
        json!({"temperature": "hot", "apiKey": "k", "timeoutMs": 0, "headers": {"a b": "c"}});
    let spec = ModelSpec::read(&json!({"id": "openai:chat:gpt-4o", "config": config})).unwrap();
    let errors = models.model(&spec).unwrap_err();
    let keys: Vec<Option<&str>> = errors.iter().map(|error| error.key.as_deref()).collect();
    assert_eq!(keys, [Some("headers"), Some("timeoutMs"), Some("temperature")]);
}

#[test]
fn providers_that_are_not_supported_say_what_to_use() {
    let models = with_environment(&[]);
    let errors = models.model(&ModelSpec::new("bedrock:nova")).unwrap_err();
    assert_eq!(
        errors[0].to_string(),
        "`bedrock` needs AWS signatures, which Quintain does not support"
    );
    assert!(errors[0].help.as_deref().unwrap().contains("apiBaseUrl"));
    let errors = models.model(&ModelSpec::new("opnai:x")).unwrap_err();
    assert_eq!(errors[0].help.as_deref(), Some("did you mean `openai`?"));
    let errors = models.model(&ModelSpec::new("openai:image:x").with("apiKey", "k")).unwrap_err();
    assert_eq!(errors[0].to_string(), "`openai:image` is not supported");
}

#[test]
fn equal_specs_share_a_model() {
    let models = with_environment(&[]);
    let one = models.model(&ModelSpec::new("echo")).unwrap();
    let other = models.model(&ModelSpec::new("echo")).unwrap();
    assert!(Arc::ptr_eq(&one, &other));
}

#[tokio::test(start_paused = true)]
async fn a_slow_provider_does_not_occupy_the_slots_of_others() {
    let network = Memory::new(vec![ok()], Duration::ZERO);
    let options = ModelsOptions { concurrency: Some(1), ..ModelsOptions::default() };
    let models = models(network.clone(), options);
    let slow = models.model(&spec().with("requestsPerMinute", 1)).unwrap();
    let fast = models.model(&ModelSpec::new("echo")).unwrap();
    let request = ChatRequest::text("Hi");
    slow.chat(&request).await.unwrap();
    let waiting = async { slow.chat(&request).await.map(|_| 60) };
    let quick = async {
        for _ in 0..3 {
            fast.chat(&request).await?;
        }
        Ok::<_, ModelError>(0)
    };
    let begin = tokio::time::Instant::now();
    tokio::select! {
        biased;
        slow = waiting => panic!("{slow:?}"),
        quick = quick => assert_eq!(quick.unwrap(), 0),
    }
    assert!(begin.elapsed() < Duration::from_secs(1));
}

#[test]
fn requests_show_no_credentials() {
    let mut headers = http::HeaderMap::new();
    let mut value: http::HeaderValue = format!("Bearer {KEY}").parse().unwrap();
    value.set_sensitive(true);
    headers.insert("authorization", value);
    let url = format!("https://user:{KEY}@models.example/v1").parse().unwrap();
    let request =
        quintain_llm::HttpRequest { method: http::Method::POST, url, headers, body: None };
    assert!(!format!("{request:?}").contains(KEY));
}

/// Callers spawn requests on threads of a runtime.
#[tokio::test]
async fn requests_can_move_between_threads() {
    fn movable<T: Send + 'static>(value: T) -> T {
        value
    }
    let handle = handle(Memory::new(vec![ok()], Duration::ZERO), &ModelSpec::new("echo"));
    let asked = movable(async move {
        let schema = quintain_llm::JsonSchema { name: "any".to_owned(), schema: json!({}) };
        let _ = handle.embed(&["a".to_owned()]).await;
        let _ = handle.moderate("a").await;
        let _ = handle.classify("a").await;
        let _ = handle.compare("a", &["b".to_owned()]).await;
        handle.chat_json(&ChatRequest::text("{}"), &schema).await
    });
    let answer = tokio::spawn(asked).await.unwrap().unwrap();
    assert_eq!(answer.value, json!({}));
}
