//! What must hold for every dialect: retries, limits, broken answers, secrets.

use quintain_llm::{ChatRequest, Completion, ModelError, ModelSpec};
use serde_json::{Value, json};

use crate::server::{End, Reply, Server};
use crate::web::{KEY, handle, spec};

struct Dialect {
    id: &'static str,
    ok: Value,
    /// No text and no calls.
    empty: Value,
}

fn dialects() -> Vec<Dialect> {
    vec![
        Dialect {
            id: "openai:chat:gpt-4o",
            ok: json!({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}),
            empty: json!({"choices": [{"message": {"content": null}, "finish_reason": "length"}]}),
        },
        Dialect {
            id: "openai:completion:davinci-002",
            ok: json!({"choices": [{"text": "Hello", "finish_reason": "stop"}]}),
            empty: json!({"choices": [{"finish_reason": "length"}]}),
        },
        Dialect {
            id: "openai:responses:gpt-4o",
            ok: json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}]}),
            empty: json!({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []}),
        },
        Dialect {
            id: "anthropic:messages:claude-haiku-4-5",
            ok: json!({"content": [{"type": "text", "text": "Hello"}], "stop_reason": "end_turn"}),
            empty: json!({"content": [], "stop_reason": "max_tokens"}),
        },
        Dialect {
            id: "google:gemini-2.5-flash",
            ok: json!({"candidates": [{"content": {"parts": [{"text": "Hello"}]}, "finishReason": "STOP"}]}),
            empty: json!({"candidates": [{"content": {}, "finishReason": "MAX_TOKENS"}]}),
        },
        Dialect {
            id: "ollama:chat:llama3.2",
            ok: json!({"message": {"role": "assistant", "content": "Hello"}, "done": true, "done_reason": "stop"}),
            empty: json!({"done": true, "done_reason": "length"}),
        },
        Dialect {
            id: "groq:llama-3.3-70b",
            ok: json!({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}),
            empty: json!({"choices": []}),
        },
        Dialect {
            id: "azure:chat:deployment",
            ok: json!({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}),
            empty: json!({"choices": []}),
        },
        Dialect {
            id: "huggingface:text-generation:gpt2",
            ok: json!([{"generated_text": "Hello"}]),
            empty: json!([]),
        },
    ]
}

async fn ask(spec: &ModelSpec) -> Result<Completion, ModelError> {
    let answer = handle(spec).chat(&ChatRequest::text("Hi")).await;
    if let Err(error) = &answer {
        assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
    }
    answer
}

#[tokio::test]
async fn answers_are_read_and_keys_are_in_no_record() {
    for dialect in dialects() {
        let server = Server::start([Reply::ok(dialect.ok.clone())]).await;
        let spec = spec(dialect.id, &server.url);
        let answer = ask(&spec).await.expect(dialect.id);
        assert_eq!((answer.text.as_str(), answer.attempts), ("Hello", 1), "{}", dialect.id);
        assert_eq!(answer.raw.response, dialect.ok, "{}", dialect.id);
        assert_eq!(answer.raw.request["body"], server.only().body, "{}", dialect.id);
        let sent = server.only();
        assert!(sent.headers.values().any(|value| value.contains(KEY)), "{}", dialect.id);
        let handle = handle(&spec);
        let shown = format!(
            "{answer:?} {spec:?} {handle:?} {:?} {}",
            handle.model().secrets(),
            handle.model().fingerprint()
        );
        assert!(!shown.contains(KEY), "{}: {shown}", dialect.id);
        assert!(handle.model().endpoint().is_some(), "{}", dialect.id);
    }
}

#[tokio::test]
async fn a_pause_that_the_server_asks_for_is_made() {
    for dialect in dialects() {
        let server = Server::start([Reply::limited("0"), Reply::ok(dialect.ok)]).await;
        let answer = ask(&spec(dialect.id, &server.url)).await.expect(dialect.id);
        assert_eq!(answer.attempts, 2, "{}", dialect.id);
    }
}

#[tokio::test]
async fn failures_of_the_server_and_lost_connections_are_retried() {
    let overloaded = json!({"error": {"message": "overloaded"}});
    for dialect in dialects() {
        let replies = [Reply::status(500, overloaded.clone()), Reply::Close, Reply::ok(dialect.ok)];
        let server = Server::start(replies).await;
        let answer = ask(&spec(dialect.id, &server.url)).await.expect(dialect.id);
        assert_eq!(answer.attempts, 3, "{}", dialect.id);
    }
}

#[tokio::test]
async fn endless_refusals_end() {
    for dialect in dialects() {
        let server = Server::start([Reply::limited("0")]).await;
        let error = ask(&spec(dialect.id, &server.url)).await.expect_err(dialect.id);
        assert_eq!(server.seen().len(), 4, "{}", dialect.id);
        assert!(matches!(error, ModelError::GaveUp { attempts: 4, .. }), "{error:?}");
        assert!(matches!(error.root(), ModelError::RateLimited { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn what_does_not_pass_is_asked_once() {
    let quota = json!({"error": {"message": "no credit", "code": "insufficient_quota"}});
    let wrong = json!({"error": {"message": format!("invalid key {KEY}")}});
    for dialect in dialects() {
        for status in [400, 401, 404] {
            let server = Server::start([Reply::status(status, wrong.clone())]).await;
            let error = ask(&spec(dialect.id, &server.url)).await.expect_err(dialect.id);
            assert_eq!(error.status(), Some(status), "{}", dialect.id);
            assert!(error.to_string().contains("invalid key ***"), "{error}");
            assert_eq!(server.seen().len(), 1, "{}", dialect.id);
        }
        let server = Server::start([Reply::status(429, quota.clone())]).await;
        let error = ask(&spec(dialect.id, &server.url)).await.expect_err(dialect.id);
        assert!(matches!(error, ModelError::Quota(_)), "{error:?}");
        assert_eq!(server.seen().len(), 1, "{}", dialect.id);
    }
}

#[tokio::test]
async fn silence_is_a_timeout() {
    for dialect in dialects() {
        let server = Server::start([Reply::Silence]).await;
        let spec = spec(dialect.id, &server.url).with("timeoutMs", 60).with("maxRetries", 0);
        let error = ask(&spec).await.expect_err(dialect.id);
        assert!(matches!(error, ModelError::TimedOut(_)), "{}: {error:?}", dialect.id);
    }
}

#[tokio::test]
async fn half_a_body_is_an_error() {
    for dialect in dialects() {
        let half = dialect.ok.to_string().chars().take(20).collect();
        let reply = Reply::Stream { kind: "application/json", chunks: vec![half], end: End::Break };
        let server = Server::start([reply]).await;
        let error = ask(&spec(dialect.id, &server.url)).await.expect_err(dialect.id);
        assert!(matches!(error.root(), ModelError::Cut(_)), "{}: {error:?}", dialect.id);
    }
}

#[tokio::test]
async fn other_than_json_is_an_error() {
    for dialect in dialects() {
        let server = Server::start([Reply::Text("<html>Bad gateway</html>".to_owned())]).await;
        let error = ask(&spec(dialect.id, &server.url)).await.expect_err(dialect.id);
        assert!(matches!(error, ModelError::NotJson(_)), "{}: {error:?}", dialect.id);
        assert!(error.to_string().contains("Bad gateway"), "{error}");
    }
}

#[tokio::test]
async fn an_empty_answer_is_an_error() {
    for dialect in dialects() {
        let server = Server::start([Reply::ok(dialect.empty)]).await;
        let error = ask(&spec(dialect.id, &server.url)).await.expect_err(dialect.id);
        assert!(
            matches!(error, ModelError::Empty(_) | ModelError::WrongSchema(_)),
            "{}: {error:?}",
            dialect.id
        );
        assert_eq!(server.seen().len(), 1, "{}", dialect.id);
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_an_error() {
    for dialect in dialects() {
        let server = Server::start([Reply::Text("x".repeat(10 << 20))]).await;
        let spec = spec(dialect.id, &server.url).with("maxResponseBytes", 1 << 20);
        let error = ask(&spec).await.expect_err(dialect.id);
        assert!(matches!(error, ModelError::TooLarge { limit: 1_048_576 }), "{error:?}");
    }
}

#[tokio::test]
async fn a_long_answer_within_the_limit_is_read() {
    let text = "x".repeat(10 << 20);
    let body = json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]});
    let server = Server::start([Reply::ok(body)]).await;
    let answer = ask(&spec("openai:chat:gpt-4o", &server.url)).await.unwrap();
    assert_eq!(answer.text.len(), 10 << 20);
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    // The port was free a moment ago, and nobody else gets it so soon.
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    for dialect in dialects() {
        let error = ask(&spec(dialect.id, &url)).await.expect_err(dialect.id);
        assert!(matches!(error.root(), ModelError::Unreachable(_)), "{}: {error:?}", dialect.id);
    }
}

/// A server that asks for a pause of years is not waited for.
#[tokio::test]
async fn an_absurd_pause_is_not_made() {
    for dialect in dialects() {
        for pause in ["99999999999", "1e300", "-5", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            let server = Server::start([Reply::limited(pause)]).await;
            let spec = spec(dialect.id, &server.url).with("maxRetries", 1).with("backoffMs", 1);
            let begin = std::time::Instant::now();
            let error = ask(&spec).await.expect_err(dialect.id);
            assert!(matches!(error.root(), ModelError::RateLimited { .. }), "{error:?}");
            assert!(begin.elapsed().as_secs() < 10, "{} {pause}", dialect.id);
        }
    }
}

/// JSON of another form than the dialect's: an error or an answer, never a crash or a verdict of its own.
#[tokio::test]
async fn other_json_is_an_error() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let bodies = [
        "null",
        "1",
        "\"Hello\"",
        "[]",
        "{}",
        "[[]]",
        "{\"choices\": \"Hello\"}",
        "{\"choices\": [null]}",
        "{\"content\": 5}",
        "{\"output\": {\"a\": 1}}",
        "{\"candidates\": [[]]}",
        "{\"message\": []}",
        deep.as_str(),
    ];
    for dialect in dialects() {
        for body in bodies {
            let reply = Reply::Stream {
                kind: "application/json",
                chunks: vec![body.to_owned()],
                end: End::Proper,
            };
            let server = Server::start([reply]).await;
            let spec = spec(dialect.id, &server.url).with("maxRetries", 0);
            let shown: String = body.chars().take(40).collect();
            let error = ask(&spec).await.expect_err(&format!("{} {shown}", dialect.id));
            assert!(error.to_string().len() < 2_000, "{} {shown}: {error}", dialect.id);
        }
    }
}

/// Control characters of an error do not reach the terminal as lines of their own.
#[tokio::test]
async fn errors_are_one_line() {
    let nasty = json!({"error": {"message": "bad\n\u{1b}[2Jkey\r\nerror: fake"}});
    for dialect in dialects() {
        let server = Server::start([Reply::status(400, nasty.clone())]).await;
        let error = ask(&spec(dialect.id, &server.url)).await.expect_err(dialect.id);
        assert!(!error.to_string().contains(['\n', '\r']), "{error:?}");
    }
}
