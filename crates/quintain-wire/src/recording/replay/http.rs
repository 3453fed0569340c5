//! Serves a capture over HTTP: streamable HTTP for clients that post their first message, the older transport with a
//! stream of events for clients that open a stream first.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Recorded;
use super::message::{Message, MessageKind};
use super::player::{Out, Player, Reply, Sent, error};
use crate::recording::MAX_FRAME;
use crate::recording::http::guard::Guard;
use crate::recording::http::{Body, full};

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// Where clients of the older transport post their messages.
const ENDPOINT: &str = "/message";
/// Messages that wait for a stream; older ones are dropped.
const MAX_QUEUE: usize = 1_000;
const MAX_SESSIONS: usize = 10_000;
const PARSE_ERROR: i64 = -32_700;
const INVALID_REQUEST: i64 = -32_600;

/// Serves connections until the future is dropped.
///
/// # Errors
/// When the listener has no address.
pub async fn serve(listener: TcpListener, recorded: &Recorded) -> io::Result<()> {
    let guard = Guard::new(listener.local_addr()?, true);
    let server = Arc::new(Server {
        recorded: recorded.clone(),
        guard,
        sessions: Mutex::default(),
        stateless: Session::new(recorded),
    });
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(server.clone().serve_connection(stream));
                }
                // The system has no more descriptors; some become free when connections end.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

struct Server {
    recorded: Recorded,
    guard: Guard,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// For clients without a session.
    stateless: Arc<Session>,
}

/// A session, and the stream for messages that belong to no request.
struct Session {
    player: Arc<Player>,
    stream: Mutex<EventStream>,
}

#[derive(Default)]
struct EventStream {
    open: Option<mpsc::UnboundedSender<Bytes>>,
    waiting: VecDeque<Bytes>,
}

impl Session {
    fn new(recorded: &Recorded) -> Arc<Self> {
        Arc::new(Self { player: Player::new(recorded.script.clone()), stream: Mutex::default() })
    }

    fn stream(&self) -> MutexGuard<'_, EventStream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a message on the stream, or keeps it until there is one.
    fn push(&self, event: Bytes) {
        let mut stream = self.stream();
        let rest = match &stream.open {
            Some(open) => open.send(event).err().map(|lost| lost.0),
            None => Some(event),
        };
        if let Some(event) = rest {
            stream.open = None;
            stream.waiting.push_back(event);
            if stream.waiting.len() > MAX_QUEUE {
                stream.waiting.pop_front();
            }
        }
    }

    /// Whether a client reads the stream.
    fn is_open(&self) -> bool {
        self.stream().open.as_ref().is_some_and(|open| !open.is_closed())
    }

    /// Opens the stream; an earlier one ends.
    fn open(&self) -> mpsc::UnboundedReceiver<Bytes> {
        let (open, events) = mpsc::unbounded_channel();
        let mut stream = self.stream();
        for event in stream.waiting.drain(..) {
            let _ = open.send(event);
        }
        stream.open = Some(open);
        events
    }

    /// Passes everything to the stream of the session.
    fn out(self: &Arc<Self>) -> Out {
        let session = self.clone();
        Arc::new(move |sent: Sent| {
            if sent.is_message {
                session.push(event("message", &sent.text));
            }
        })
    }
}

fn event(kind: &str, data: &str) -> Bytes {
    let data = data.replace(['\n', '\r'], " ");
    format!("event: {kind}\ndata: {data}\n\n").into()
}

impl Server {
    async fn serve_connection(self: Arc<Self>, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let service = service_fn(move |request| {
            let server = self.clone();
            async move { Ok::<_, Infallible>(server.answer(request).await) }
        });
        let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    }

    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<Body> {
        if let Err(why) = self.guard.check(request.headers()) {
            return refuse(StatusCode::FORBIDDEN, INVALID_REQUEST, why);
        }
        let (head, body) = request.into_parts();
        match head.method {
            Method::GET => self.stream(&head.headers).await,
            Method::DELETE => self.delete(&head.headers),
            Method::POST => {
                let Ok(body) = Limited::new(body, MAX_FRAME).collect().await else {
                    let what = "the body is too long or incomplete";
                    return refuse(StatusCode::PAYLOAD_TOO_LARGE, INVALID_REQUEST, what);
                };
                let body = String::from_utf8_lossy(&body.to_bytes()).into_owned();
                let query = head.uri.query().unwrap_or_default();
                self.post(&head.headers, query, &body).await
            }
            _ => {
                let what = "only GET, POST and DELETE are served";
                let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, INVALID_REQUEST, what);
                let allowed = HeaderValue::from_static("GET, POST, DELETE");
                response.headers_mut().insert(ALLOW, allowed);
                response
            }
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, id: &str) -> Option<Arc<Session>> {
        self.sessions().get(id).cloned()
    }

    fn start(&self) -> Option<(String, Arc<Session>)> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let id = format!("{:032x}", u128::from_be_bytes(bytes));
        let session = Session::new(&self.recorded);
        let mut sessions = self.sessions();
        if sessions.len() >= MAX_SESSIONS {
            return None;
        }
        sessions.insert(id.clone(), session.clone());
        Some((id, session))
    }

    /// A stream of a session, or one that starts a session of the older transport.
    async fn stream(&self, headers: &HeaderMap) -> Response<Body> {
        if let Some(id) = text(headers, SESSION) {
            return match self.find(id) {
                Some(session) => event_stream(session.open()),
                None => unknown_session(),
            };
        }
        if headers.contains_key(VERSION) {
            let what = "a stream needs the header `Mcp-Session-Id`";
            return refuse(StatusCode::METHOD_NOT_ALLOWED, INVALID_REQUEST, what);
        }
        let Some((id, session)) = self.start() else { return too_many_sessions() };
        session.push(event("endpoint", &format!("{ENDPOINT}?sessionId={id}")));
        let events = session.open();
        session.player.open(&session.out()).await;
        event_stream(events)
    }

    fn delete(&self, headers: &HeaderMap) -> Response<Body> {
        let removed = text(headers, SESSION).and_then(|id| self.sessions().remove(id));
        match removed {
            Some(session) => {
                session.player.stop_waiting();
                session.stream().open = None;
                empty(StatusCode::OK)
            }
            None => unknown_session(),
        }
    }

    async fn post(&self, headers: &HeaderMap, query: &str, body: &str) -> Response<Body> {
        let Some((messages, is_batch)) = read(body) else {
            let what = "the body is not a JSON-RPC message";
            return refuse(StatusCode::BAD_REQUEST, PARSE_ERROR, what);
        };
        let older = url::form_urlencoded::parse(query.as_bytes());
        let older = older.into_iter().find(|(name, _)| name == "sessionId");
        if let Some((_, id)) = older {
            return match self.find(&id) {
                Some(session) => older_post(&session, messages, is_batch),
                None => unknown_session(),
            };
        }
        let starts = messages.iter().any(|message| message.method() == "initialize");
        let (started, session) = match text(headers, SESSION) {
            Some(id) => match self.find(id) {
                Some(session) => (None, session),
                None => return unknown_session(),
            },
            None if starts => match self.start() {
                Some((id, session)) => {
                    session.player.open(&session.out()).await;
                    (Some(id), session)
                }
                None => return too_many_sessions(),
            },
            None => (None, self.stateless.clone()),
        };
        let mut response = respond(headers, &session, messages, is_batch).await;
        if let Some(id) = started.and_then(|id| HeaderValue::try_from(id).ok()) {
            response.headers_mut().insert(SESSION, id);
        }
        response
    }
}

/// The messages of a body, and whether it is a batch.
fn read(body: &str) -> Option<(Vec<Message>, bool)> {
    let raw: &RawValue = serde_json::from_str(body).ok()?;
    let messages = super::message::messages(raw.get());
    (!messages.is_empty()).then(|| (messages, raw.get().starts_with('[')))
}

/// Messages of the older transport are answered on its stream.
fn older_post(session: &Arc<Session>, messages: Vec<Message>, is_batch: bool) -> Response<Body> {
    let (session, out) = (session.clone(), session.out());
    tokio::spawn(async move {
        let chosen = take_all(&session, messages, &out).await;
        let (answers, calls) = play_all(&session, &chosen, &out).await;
        send_answers(&answers, is_batch, |text| session.push(event("message", text)));
        follow_all(&session, &calls, &out).await;
    });
    let mut response = Response::new(full("Accepted".into()));
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

type Chosen = Vec<(Message, Reply)>;

/// Takes notifications and responses, and chooses the replies to requests.
async fn take_all(session: &Session, messages: Vec<Message>, out: &Out) -> Chosen {
    let mut chosen = Vec::new();
    for message in messages {
        match message.kind {
            MessageKind::Response => session.player.answered(&message),
            MessageKind::Notification(_) => session.player.react(&message, out).await,
            MessageKind::Request(_) => {
                let reply = session.player.choose(&message);
                chosen.push((message, reply));
            }
        }
    }
    chosen
}

async fn play_all<'m>(
    session: &Session,
    chosen: &'m Chosen,
    out: &Out,
) -> (Vec<String>, Vec<(usize, &'m Message)>) {
    let (mut answers, mut calls) = (Vec::new(), Vec::new());
    for (message, reply) in chosen {
        match reply {
            Reply::Own(text) => answers.push(text.clone()),
            Reply::Recorded(call) => {
                if let Some(text) = session.player.play(*call, message, out).await {
                    answers.push(text);
                    calls.push((*call, message));
                }
            }
        }
    }
    (answers, calls)
}

async fn follow_all(session: &Session, calls: &[(usize, &Message)], out: &Out) {
    for (call, message) in calls {
        session.player.follow(*call, message, out).await;
    }
}

fn send_answers(answers: &[String], is_batch: bool, mut send: impl FnMut(&str)) {
    if is_batch && !answers.is_empty() {
        send(&format!("[{}]", answers.join(",")));
    } else {
        answers.iter().for_each(|answer| send(answer));
    }
}

/// Answers with JSON where the answer is all, else with a stream.
async fn respond(
    headers: &HeaderMap,
    session: &Arc<Session>,
    messages: Vec<Message>,
    is_batch: bool,
) -> Response<Body> {
    let session = session.clone();
    let apart = session.out();
    let has_request = messages.iter().any(|one| matches!(one.kind, MessageKind::Request(_)));
    if !has_request {
        // Reactions may wait for responses, which come in later requests.
        tokio::spawn(async move { take_all(&session, messages, &apart).await });
        return empty(StatusCode::ACCEPTED);
    }
    let chosen = take_all(&session, messages, &apart).await;
    let accepted = text(headers, ACCEPT).unwrap_or("*/*").to_ascii_lowercase();
    let accepts = |kind: &str| accepted.contains(kind) || accepted.contains("*/*");
    let needs = |(_, reply): &(Message, Reply)| match reply {
        Reply::Own(_) => false,
        Reply::Recorded(call) => session.player.needs_stream(*call, session.is_open()),
    };
    let is_stream =
        accepts("text/event-stream") && (!accepts("application/json") || chosen.iter().any(needs));
    if !is_stream {
        let (answers, calls) = play_all(&session, &chosen, &apart).await;
        let mut text = String::new();
        send_answers(&answers, is_batch, |answer| text.push_str(answer));
        let calls: Vec<(usize, Message)> =
            calls.into_iter().map(|(call, message)| (call, message.clone())).collect();
        tokio::spawn(async move {
            for (call, message) in calls {
                session.player.follow(call, &message, &apart).await;
            }
        });
        if text.is_empty() {
            return empty(StatusCode::ACCEPTED);
        }
        return json(StatusCode::OK, text);
    }
    let (open, events) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let (own, other, of) = (open.clone(), apart.clone(), session.clone());
        let out: Out = Arc::new(move |sent: Sent| {
            if sent.apart && of.is_open() {
                other(sent);
            } else if sent.is_message {
                let _ = own.send(event("message", &sent.text));
            }
        });
        let (answers, calls) = play_all(&session, &chosen, &out).await;
        drop(out);
        send_answers(&answers, is_batch, |text| {
            let _ = open.send(event("message", text));
        });
        if answers.is_empty() {
            // A request that was never answered keeps its stream.
            open.closed().await;
        }
        drop(open);
        follow_all(&session, &calls, &apart).await;
    });
    event_stream(events)
}

fn event_stream(mut events: mpsc::UnboundedReceiver<Bytes>) -> Response<Body> {
    let frames = futures_util::stream::poll_fn(move |context| {
        events.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(event))))
    });
    let mut response = Response::new(StreamBody::new(frames).boxed());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn json(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(full(text.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(full(Bytes::new()));
    *response.status_mut() = status;
    response
}

fn refuse(status: StatusCode, code: i64, what: &str) -> Response<Body> {
    json(status, error("null", code, what, &Value::Null))
}

fn unknown_session() -> Response<Body> {
    refuse(StatusCode::NOT_FOUND, INVALID_REQUEST, "the session does not exist")
}

fn too_many_sessions() -> Response<Body> {
    refuse(StatusCode::SERVICE_UNAVAILABLE, INVALID_REQUEST, "too many sessions")
}

fn text(headers: &HeaderMap, name: impl http::header::AsHeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
