//! Runs in front of a URL: forwards every request of every path to the server's origin, and streams the response back.
//! Method, path, query, headers and bodies stay as they are, except `Host` and the headers that concern one connection only.

mod body;
mod decode;
mod delivery;
mod endpoint;
pub mod guard;
mod sessions;
mod upstream;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::uri::PathAndQuery;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version,
};
use http_body_util::{BodyExt, Empty, Full, StreamBody};
use hyper::body::{Body as _, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use url::Url;

use self::body::{BodyRecord, OnEvent, RecordedBody};
use self::delivery::{Delivering, Delivery};
use self::endpoint::EndpointRewriter;
use self::guard::Guard;
use self::sessions::Sessions;
pub(in crate::recording) use self::upstream::Body;
use self::upstream::{Partner, Upstream};
use super::capture::{Capture, FrameMeta, Side};
use super::{HEAD_OF_LONG_FRAME, MAX_FRAME};

/// Headers that concern one connection and are not forwarded, besides those that `Connection` names.
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// More than clients send.
const MAX_HEADERS: usize = 1_000;
/// Code of JSON-RPC errors that the proxy itself responds with.
const PROXY_ERROR: i64 = -32_000;

/// The server behind the proxy.
#[derive(Debug, Clone)]
pub struct Target {
    pub url: Url,
    /// Headers to add, unless the client sends them.
    pub headers: Vec<(HeaderName, HeaderValue)>,
}

impl Target {
    /// A user name and a password in the URL become a header, as in other clients.
    pub fn new(mut url: Url, mut headers: Vec<(HeaderName, HeaderValue)>) -> Self {
        if !url.username().is_empty() || url.password().is_some() {
            let plain = |text: &str| {
                let pairs = format!("x={}", text.replace('+', "%2B"));
                let decoded = url::form_urlencoded::parse(pairs.as_bytes()).next();
                decoded.map(|(_, text)| text.into_owned()).unwrap_or_default()
            };
            let (user, password) =
                (plain(url.username()), plain(url.password().unwrap_or_default()));
            let basic = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
            headers.extend(basic.parse().ok().map(|value| (AUTHORIZATION, value)));
            let _ = url.set_username("");
            let _ = url.set_password(None);
        }
        Self { url, headers }
    }

    fn adds_credentials(&self) -> bool {
        !self.headers.is_empty() || self.url.query().is_some()
    }
}

/// Serves connections until the future is dropped. Open streams end with it.
///
/// # Errors
/// When the target cannot be used at all.
pub async fn serve(listener: TcpListener, target: Target, capture: Capture) -> Result<(), String> {
    let listening = listener.local_addr().map_err(|error| error.to_string())?;
    let guard = Guard::new(listening, target.adds_credentials());
    let upstream = Upstream::new(&target.url)?;
    let proxy = Arc::new(Proxy {
        host: host_header(&target.url)?,
        target,
        upstream,
        guard,
        listening,
        capture,
        exchanges: AtomicU64::new(0),
        sessions: Sessions::default(),
    });
    let mut connections = tokio::task::JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(proxy.clone().serve_connection(stream));
                }
                // The system has no more descriptors; some become free when connections end.
                Err(_) => tokio::time::sleep(std::time::Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

fn host_header(url: &Url) -> Result<HeaderValue, String> {
    let host = url.host_str().ok_or("the URL has no host")?;
    let text = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    text.parse().map_err(|_| "the host of the URL is invalid".to_owned())
}

struct Proxy {
    target: Target,
    host: HeaderValue,
    upstream: Upstream,
    guard: Guard,
    listening: SocketAddr,
    capture: Capture,
    exchanges: AtomicU64,
    sessions: Sessions,
}

/// A request whose start was read.
struct Received {
    exchange: u64,
    head: http::request::Parts,
    body: Bytes,
    /// The rest of a body that is too long to be recorded whole.
    rest: Option<Incoming>,
    /// Whether the length of the body was not announced.
    is_chunked: bool,
}

impl Proxy {
    async fn serve_connection(self: Arc<Self>, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let (stream, delivery) = Delivering::new(stream);
        let partner = Arc::new(Mutex::new(Partner::new(self.upstream.clone())));
        let service = service_fn(move |request| {
            let (proxy, partner, delivery) = (self.clone(), partner.clone(), delivery.clone());
            async move { proxy.answer(request, &partner, delivery).await }
        });
        // Ends when the client closes the connection, even while the server is silent. Then the response is dropped, and
        // with it the connection to the server.
        let _ = http1::Builder::new()
            .auto_date_header(false)
            .preserve_header_case(true)
            .max_headers(MAX_HEADERS)
            .serve_connection(TokioIo::new(stream), service)
            .await;
    }

    /// An error means that the client closed the connection.
    async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        partner: &Mutex<Partner>,
        delivery: Delivery,
    ) -> Result<Response<Body>, hyper::Error> {
        let exchange = self.exchanges.fetch_add(1, Ordering::Relaxed) + 1;
        if let Err(why) = self.guard.check(request.headers()) {
            let refused = format!("the recorder refuses the request: {why}");
            return Ok(self.own_response(exchange, StatusCode::FORBIDDEN, &[], &refused));
        }
        let received = self.receive(exchange, request).await?;
        self.record_request(&received);
        let Received { head, body, rest, is_chunked, .. } = received;
        let rest = std::sync::Mutex::new(rest);
        let make = || {
            let rest = rest.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            self.forwarded(&head, body.clone(), rest, is_chunked)
        };
        let mut partner = partner.lock().await;
        let waiting = Waiting { capture: &self.capture, exchange };
        let sent = partner.send(make).await;
        waiting.finish();
        match sent {
            Ok(response) => Ok(self.passed_back(exchange, &head, response, delivery)),
            Err(error) => {
                let status = StatusCode::BAD_GATEWAY;
                Ok(self.own_response(exchange, status, &body, &error.to_string()))
            }
        }
    }

    /// Reads the body, because a message is recorded before it is passed on.
    async fn receive(
        &self,
        exchange: u64,
        request: Request<Incoming>,
    ) -> Result<Received, hyper::Error> {
        let (head, mut incoming) = request.into_parts();
        let is_chunked = head.headers.contains_key(TRANSFER_ENCODING);
        let mut body = BytesMut::new();
        // A body without an announced length shows its end only when it is read.
        let mut has_ended = incoming.is_end_stream();
        while !has_ended && body.len() <= MAX_FRAME {
            let Some(frame) = incoming.frame().await.transpose()? else {
                has_ended = true;
                break;
            };
            if let Ok(data) = frame.into_data() {
                body.extend_from_slice(&data);
            }
        }
        has_ended |= incoming.is_end_stream();
        let rest = (!has_ended).then_some(incoming);
        Ok(Received { exchange, head, body: body.freeze(), rest, is_chunked })
    }

    fn record_request(&self, received: &Received) {
        let Received { exchange, head, body, rest, .. } = received;
        let masking = self.capture.masking();
        let path = head.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        masking.learn_head(&head.headers, head.uri.query().unwrap_or_default());
        let mut details = Map::new();
        details.insert("exchange".to_owned(), (*exchange).into());
        details.insert("method".to_owned(), head.method.as_str().into());
        details.insert("headers".to_owned(), self.headers(&head.headers));
        let (via, session) = self.sessions.of_request(path, &head.headers);
        let meta =
            FrameMeta { exchange: Some(*exchange), session, ..FrameMeta::new(Side::Client, via) };
        let meta = FrameMeta { whole: rest.is_some().then_some(body.len() as u64), ..meta };
        self.capture.note_with("request", &[("path", &masking.path(path))], details);
        if !body.is_empty() {
            let on_event: OnEvent = Box::new(|_, _| {});
            let mut record = BodyRecord::new(self.capture.clone(), meta, &head.headers, on_event);
            let head = if rest.is_some() { body.len().min(HEAD_OF_LONG_FRAME) } else { body.len() };
            record.add(&body[..head]);
            record.end(if rest.is_some() { "too long to record" } else { "complete" });
        }
    }

    fn headers(&self, headers: &HeaderMap) -> Value {
        let mut shown: Map<String, Value> = Map::new();
        for (name, value) in headers {
            let value = String::from_utf8_lossy(value.as_bytes());
            let value = self.capture.masking().header(name.as_str(), &value);
            match shown.get_mut(name.as_str()) {
                Some(Value::String(before)) => *before = format!("{before}, {value}"),
                _ => {
                    shown.insert(name.as_str().to_owned(), value.into());
                }
            }
        }
        Value::Object(shown)
    }

    /// The request for the server.
    fn forwarded(
        &self,
        head: &http::request::Parts,
        body: Bytes,
        rest: Option<Incoming>,
        is_chunked: bool,
    ) -> Request<Body> {
        let mut headers = end_to_end(&head.headers);
        headers.insert(HOST, self.host.clone());
        for (name, value) in &self.target.headers {
            if !headers.contains_key(name) {
                headers.insert(name, value.clone());
            }
        }
        let mut request = Request::new(body_of(body, rest, is_chunked));
        *request.method_mut() = head.method.clone();
        *request.uri_mut() = self.path(&head.uri);
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = headers;
        // They contain how the client spelled the names of its headers.
        *request.extensions_mut() = head.extensions.clone();
        request
    }

    /// The path as the client wrote it. The query of the target's URL applies where the client sends none.
    fn path(&self, uri: &Uri) -> Uri {
        let path = uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        let own = self.target.url.query().filter(|_| uri.query().is_none());
        let own = own.filter(|_| path.path() == self.target.url.path());
        let path = own.and_then(|query| format!("{path}?{query}").parse().ok()).unwrap_or(path);
        Uri::from(path)
    }

    fn passed_back(
        self: &Arc<Self>,
        exchange: u64,
        request: &http::request::Parts,
        response: Response<Incoming>,
        delivery: Delivery,
    ) -> Response<Body> {
        let (mut head, incoming) = response.into_parts();
        let path = request.uri.path_and_query().map_or("/", PathAndQuery::as_str);
        let (via, session) = self.sessions.of_response(path, &request.headers, &head.headers);
        self.note_response(exchange, head.status, &head.headers);
        let meta =
            FrameMeta { exchange: Some(exchange), session, ..FrameMeta::new(Side::Server, via) };
        let is_stream = request.method == Method::GET && is_event_stream(&head.headers);
        let rewriter = (is_stream && !head.headers.contains_key(CONTENT_LENGTH)).then(|| {
            let own = request.headers.get(HOST).and_then(|host| host.to_str().ok());
            let own = own.map_or_else(|| self.listening.to_string(), str::to_owned);
            EndpointRewriter::new(self.target.url.clone(), format!("http://{own}"))
        });
        let proxy = self.clone();
        let on_event: OnEvent = Box::new(move |event, meta| {
            if is_stream {
                proxy.sessions.note_event(exchange, event, &proxy.target.url, meta);
            }
        });
        let record = BodyRecord::new(self.capture.clone(), meta, &head.headers, on_event);
        head.headers = end_to_end(&head.headers);
        head.version = Version::HTTP_11;
        let body = RecordedBody::new(incoming, record, rewriter, delivery);
        Response::from_parts(head, body.boxed())
    }

    fn note_response(&self, exchange: u64, status: StatusCode, headers: &HeaderMap) {
        let mut details = Map::new();
        details.insert("exchange".to_owned(), exchange.into());
        details.insert("status".to_owned(), status.as_u16().into());
        self.capture.masking().learn_head(headers, "");
        details.insert("headers".to_owned(), self.headers(headers));
        self.capture.note("response", details);
    }

    /// A response of the proxy itself, as a JSON-RPC error.
    fn own_response(
        &self,
        exchange: u64,
        status: StatusCode,
        request: &[u8],
        what: &str,
    ) -> Response<Body> {
        let mut details = Map::new();
        details.insert("exchange".to_owned(), exchange.into());
        details.insert("status".to_owned(), status.as_u16().into());
        details.insert("message".to_owned(), what.into());
        self.capture.note("response of the recorder", details);
        error_response(status, request, PROXY_ERROR, what, None)
    }
}

/// A request without a response so far. Dropped with it when the client closes the connection, which is noted.
struct Waiting<'a> {
    capture: &'a Capture,
    exchange: u64,
}

impl Waiting<'_> {
    fn finish(self) {
        std::mem::forget(self);
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut details = Map::new();
        details.insert("exchange".to_owned(), self.exchange.into());
        details.insert("outcome".to_owned(), "closed by the client before a response".into());
        self.capture.note("end of exchange", details);
    }
}

/// A JSON-RPC error as a response, with the id of the request if it has one.
pub(super) fn error_response(
    status: StatusCode,
    request: &[u8],
    code: i64,
    what: &str,
    data: Option<Value>,
) -> Response<Body> {
    #[derive(serde::Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }
    let id = serde_json::from_slice::<Head<'_>>(request).ok().and_then(|head| head.id);
    let mut error = json!({"code": code, "message": what});
    if let Some(data) = data {
        error["data"] = data;
    }
    let id = id.map_or("null", RawValue::get);
    let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
    let mut response = Response::new(full(body.into()));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub(super) fn full(body: Bytes) -> Body {
    Full::new(body).map_err(|never: Infallible| match never {}).boxed()
}

pub(super) fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("text/event-stream"))
}

fn body_of(body: Bytes, rest: Option<Incoming>, is_chunked: bool) -> Body {
    let none = |never: Infallible| match never {};
    match rest {
        Some(rest) => {
            let first = futures_util::stream::iter([Ok(Frame::data(body))]);
            BodyExt::boxed(StreamBody::new(first.chain(http_body_util::BodyStream::new(rest))))
        }
        // A body without an announced length stays one.
        None if is_chunked => {
            let frames = futures_util::stream::iter([Ok(Frame::data(body))]);
            BodyExt::boxed(StreamBody::new(frames))
        }
        None if body.is_empty() => Empty::new().map_err(none).boxed(),
        None => Full::new(body).map_err(none).boxed(),
    }
}

/// The headers that a proxy forwards, in their order.
fn end_to_end(headers: &HeaderMap) -> HeaderMap {
    let named = headers.get_all("connection").iter().filter_map(|value| value.to_str().ok());
    let named: Vec<String> = named
        .flat_map(|list| list.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let mut kept = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let is_own =
            HOP_BY_HOP.contains(&name.as_str()) || named.iter().any(|own| own == name.as_str());
        if !is_own {
            kept.append(name, value.clone());
        }
    }
    kept
}
