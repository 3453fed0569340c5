//! A client that writes JSON by hand, so that the tests see the actual messages.

use std::collections::HashMap;

use quintain_demo::{DemoConfig, Running, serve_stream};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

/// The response to a tool call, in any form.
#[derive(Debug)]
pub(crate) struct CallReply {
    pub(crate) text: String,
    pub(crate) failed: bool,
    /// Code of a JSON-RPC error.
    pub(crate) code: Option<i64>,
    pub(crate) message: Value,
}

impl CallReply {
    fn new(message: Value) -> Self {
        let code = message["error"]["code"].as_i64();
        let text = match code {
            Some(_) => message["error"].to_string(),
            None => message["result"]["content"][0]["text"].as_str().unwrap_or_default().into(),
        };
        let failed = code.is_some() || message["result"]["isError"] == true;
        Self { text, failed, code, message }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }
}

/// A session over an in-memory pipe.
pub(crate) struct Session {
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    next_id: u64,
    /// The server's notifications and requests.
    pub(crate) notifications: Vec<Value>,
    /// The answer to any elicitation.
    pub(crate) elicitation: Value,
}

impl Session {
    /// Connects without sending anything.
    pub(crate) fn connect(config: DemoConfig) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        tokio::spawn(serve_stream(config, theirs));
        Self::over(ours)
    }

    /// Uses a pipe with a server at its other end.
    pub(crate) fn over(ours: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(ours);
        Self {
            writer,
            lines: BufReader::new(reader).lines(),
            next_id: 0,
            notifications: Vec::new(),
            elicitation: Value::Null,
        }
    }

    /// Connects and opens a session with the given client capabilities.
    pub(crate) async fn open(config: DemoConfig, capabilities: Value) -> Self {
        let mut session = Self::connect(config);
        let answer = session.request("initialize", initialize(capabilities)).await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "techmart-payments", "{answer}");
        session.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        session
    }

    async fn send(&mut self, message: Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        loop {
            let line = self.lines.next_line().await.unwrap().expect("the server closed the pipe");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["method"] == "elicitation/create" {
                let result = self.elicitation.clone();
                self.send(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).await;
            } else if message["id"] == id {
                return message;
            } else {
                self.notifications.push(message);
            }
        }
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> CallReply {
        let params = json!({ "name": tool, "arguments": arguments });
        CallReply::new(self.request("tools/call", params).await)
    }
}

/// Opens a session without capabilities.
pub(crate) async fn open(config: DemoConfig) -> Session {
    Session::open(config, json!({})).await
}

pub(crate) fn initialize(capabilities: Value) -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": capabilities,
        "clientInfo": { "name": "test", "version": "0" },
    })
}

pub(crate) fn call(id: u64, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

pub(crate) fn http() -> reqwest::Client {
    // The client library needs a TLS provider even for plain HTTP.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .tls_certs_only([])
        .build()
        .unwrap()
}

/// Sends one request to the streamable HTTP endpoint.
pub(crate) struct Http {
    pub(crate) client: reqwest::Client,
    pub(crate) url: String,
    pub(crate) headers: HashMap<String, String>,
}

impl Http {
    pub(crate) fn new(running: &Running) -> Self {
        Self { client: http(), url: running.url(), headers: HashMap::new() }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    pub(crate) fn bearer(self, token: &str) -> Self {
        self.with("authorization", format!("Bearer {token}"))
    }

    pub(crate) fn prepare(&self, method: Method) -> RequestBuilder {
        let mut request = self
            .client
            .request(method, &self.url)
            .header("accept", "application/json, text/event-stream");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        request
    }

    pub(crate) async fn post(&self, message: &Value) -> reqwest::Response {
        self.prepare(Method::POST).json(message).send().await.unwrap()
    }

    /// Tries to open a session; the status shows whether it was allowed.
    pub(crate) async fn initialize(&self) -> reqwest::Response {
        let params = initialize(json!({}));
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        self.post(&message).await
    }

    /// Opens a session and adds its id to the headers.
    pub(crate) async fn open(mut self) -> Self {
        let response = self.initialize().await;
        assert_eq!(response.status(), StatusCode::OK);
        let id = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        response.text().await.unwrap();
        self.headers.insert("mcp-session-id".into(), id);
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&message).await.status(), StatusCode::ACCEPTED);
        self
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> CallReply {
        let response = self.post(&call(1, tool, arguments)).await;
        assert_eq!(response.status(), StatusCode::OK);
        CallReply::new(last_event(&response.text().await.unwrap()))
    }
}

/// The last message of an event stream that has ended.
pub(crate) fn last_event(text: &str) -> Value {
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
    let last = data.rfind(|data| !data.is_empty());
    serde_json::from_str(last.unwrap_or_else(|| panic!("no event in {text:?}"))).unwrap()
}
