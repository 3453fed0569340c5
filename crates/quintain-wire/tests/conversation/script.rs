//! A transport to a function instead of a target.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use quintain_wire::era::{Agreement, Version};
use quintain_wire::frame::Recording;
use quintain_wire::limits::Limits;
use quintain_wire::message::Id;
use quintain_wire::rpc::{Connection, Deadline, Responder, Script};
use quintain_wire::session::Session;
use quintain_wire::transport::{Headers, Outgoing, Sink, Transport};
use serde_json::{Value, json};

/// A message as the target received it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) text: String,
    pub(crate) json: Value,
    pub(crate) headers: Vec<(String, String)>,
}

impl Seen {
    pub(crate) fn method(&self) -> &str {
        self.json["method"].as_str().unwrap_or_default()
    }

    pub(crate) fn id(&self) -> &Value {
        &self.json["id"]
    }
}

type Answers = dyn Fn(&Seen, &dyn Sink) + Send + Sync;

/// What a scripted target received so far, and which requests were abandoned.
#[derive(Clone, Default)]
pub(crate) struct Log {
    seen: Arc<Mutex<Vec<Seen>>>,
    abandoned: Arc<Mutex<Vec<Id>>>,
    sink: Arc<Mutex<Option<Arc<dyn Sink>>>>,
}

impl Log {
    /// The sink, for a target that sends messages by itself.
    pub(crate) fn sink(&self) -> Arc<dyn Sink> {
        self.sink.lock().unwrap().clone().unwrap()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn methods(&self) -> Vec<String> {
        self.seen().iter().map(|seen| seen.method().to_owned()).collect()
    }

    pub(crate) fn abandoned(&self) -> Vec<Id> {
        self.abandoned.lock().unwrap().clone()
    }
}

struct Scripted {
    sink: Arc<dyn Sink>,
    answers: Arc<Answers>,
    log: Log,
    http: bool,
}

impl Transport for Scripted {
    fn send(&self, outgoing: Outgoing) {
        let text = String::from_utf8_lossy(&outgoing.bytes).into_owned();
        let headers = outgoing
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        let seen = Seen { json: serde_json::from_str(&text).unwrap_or_default(), text, headers };
        self.log.seen.lock().unwrap().push(seen.clone());
        (self.answers)(&seen, &*self.sink);
        if let Some(delivered) = outgoing.delivered {
            let _ = delivered.send(Ok(()));
        }
    }

    fn abandon(&self, id: &Id) {
        self.log.abandoned.lock().unwrap().push(id.clone());
    }

    fn close(&self, _headers: Headers) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    fn is_http(&self) -> bool {
        self.http
    }
}

/// A target made of a function.
pub(crate) struct Target {
    responder: Arc<dyn Responder>,
    deadline: Deadline,
    http: bool,
}

impl Default for Target {
    fn default() -> Self {
        Self {
            responder: Arc::new(Script::default()),
            deadline: Deadline::after(Duration::from_secs(5)),
            http: false,
        }
    }
}

impl Target {
    pub(crate) fn answering(mut self, responder: Script) -> Self {
        self.responder = Arc::new(responder);
        self
    }

    pub(crate) fn within(mut self, deadline: Deadline) -> Self {
        self.deadline = deadline;
        self
    }

    pub(crate) fn over_http(mut self) -> Self {
        self.http = true;
        self
    }

    pub(crate) async fn session(
        self,
        version: &str,
        answers: impl Fn(&Seen, &dyn Sink) + Send + Sync + 'static,
    ) -> (Session, Log) {
        let log = Log::default();
        let (http, answers, kept) = (self.http, Arc::new(answers), log.clone());
        let connection = Connection::open(
            |sink| async move {
                *kept.sink.lock().unwrap() = Some(sink.clone());
                Ok(Scripted { sink, answers, log: kept, http })
            },
            self.responder,
            Recording::default(),
            Limits { pages: 20, ..Limits::default() },
        )
        .await
        .unwrap();
        let agreement = Agreement {
            version: Version::find(version).unwrap(),
            server: Value::Null,
            capabilities: json!({}),
            instructions: None,
        };
        (Session::new(connection, agreement, self.deadline), log)
    }
}

/// Sends a message of the target.
pub(crate) fn say(sink: &dyn Sink, message: Value) {
    sink.received(Bytes::from(message.to_string()));
}

/// Sends the target's response to a message.
pub(crate) fn answer(sink: &dyn Sink, seen: &Seen, result: Value) {
    say(sink, json!({"jsonrpc": "2.0", "id": seen.id(), "result": result}));
}

/// Sends the target's error for a message.
pub(crate) fn refuse(sink: &dyn Sink, seen: &Seen, code: i64, message: &str) {
    let error = json!({"code": code, "message": message});
    say(sink, json!({"jsonrpc": "2.0", "id": seen.id(), "error": error}));
}
