//! Streamable HTTP: a POST for each message, responses as JSON or as an event stream.
//!
//! Serves both eras. The legacy parts (session id, GET stream, resumption, DELETE) are used only if a server opens a
//! session or the caller starts to listen.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use reqwest::Response;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::courier::{self, HttpConfig, HttpSender, shown};
use super::events::Events;
use super::{Headers, Outgoing, Sink, Transport, TransportError};
use crate::frame::Recording;
use crate::limits::Limits;
use crate::message::{Id, TooLong};
use crate::net::{bounded_body, chain};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// Default time to wait before resuming a stream.
const RETRY: Duration = Duration::from_millis(500);
/// Maximum time to wait before resuming, whatever the server asks for.
const LONGEST_RETRY: Duration = Duration::from_secs(30);
/// Maximum number of resumptions in a row without a new event.
const FRUITLESS: usize = 5;
/// How long a stream may stay open after it delivered its response.
const LINGER: Duration = Duration::from_millis(100);
/// How long to wait for the stream of unasked messages to open.
const OPENING: Duration = Duration::from_millis(500);
/// How long to wait for the server to end a session.
const FAREWELL: Duration = Duration::from_secs(2);

/// A target with a streamable HTTP endpoint.
pub struct HttpTransport {
    inner: Arc<Inner>,
    /// Tasks by the request that they serve; the listener and notifications have none.
    tasks: Arc<Mutex<Tasks>>,
}

#[derive(Default)]
struct Tasks {
    requests: HashMap<Id, AbortHandle>,
    others: Vec<AbortHandle>,
}

struct Inner {
    courier: HttpSender,
    sink: Arc<dyn Sink>,
    limits: Limits,
    /// The session id from the server.
    session: RwLock<Option<HeaderValue>>,
}

impl HttpTransport {
    /// Prepares the client without sending anything.
    ///
    /// # Errors
    /// When the HTTP client cannot be set up.
    pub fn open(
        config: HttpConfig,
        limits: Limits,
        recording: Recording,
        sink: Arc<dyn Sink>,
    ) -> Result<Self, TransportError> {
        let courier = HttpSender::new(config, recording)?;
        let inner = Inner { courier, sink, limits, session: RwLock::default() };
        Ok(Self { inner: Arc::new(inner), tasks: Arc::default() })
    }
}

impl Transport for HttpTransport {
    fn send(&self, outgoing: Outgoing) {
        let inner = self.inner.clone();
        let Some(id) = outgoing.expects.clone() else {
            let task = tokio::spawn(async move {
                let posted = inner.post(&outgoing).await;
                if let Some(delivered) = outgoing.delivered {
                    let _ = delivered.send(posted);
                } else if let Err(error) = posted {
                    tracing::debug!(%error, "a notification was not accepted");
                }
            });
            let mut tasks = lock(&self.tasks);
            tasks.others.retain(|task| !task.is_finished());
            tasks.others.push(task.abort_handle());
            return;
        };
        // The lock is kept during the spawn, so that the task cannot finish before it is listed.
        let mut tasks = lock(&self.tasks);
        let listed = self.tasks.clone();
        let key = id.clone();
        let task = tokio::spawn(async move {
            if let Err(error) = inner.post(&outgoing).await {
                inner.sink.failed(&id, error);
            }
            lock(&listed).requests.remove(&id);
        });
        tasks.requests.insert(key, task.abort_handle());
    }

    fn abandon(&self, id: &Id) {
        if let Some(task) = lock(&self.tasks).requests.remove(id) {
            task.abort();
        }
    }

    fn listen(&self, headers: Headers) -> BoxFuture<'_, ()> {
        if self.inner.session().is_none() {
            // Without a session, a server cannot assign a stream to us.
            return Box::pin(async {});
        }
        let inner = self.inner.clone();
        let (opened, open) = oneshot::channel();
        let task = tokio::spawn(async move { inner.listen(headers, opened).await });
        lock(&self.tasks).others.push(task.abort_handle());
        Box::pin(async move {
            let _ = timeout(OPENING, open).await;
        })
    }

    fn close(&self, headers: Headers) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.abort_all();
            let session = self.inner.write_session().take();
            if let Some(session) = session {
                let mut headers: HeaderMap = headers.into_iter().collect();
                headers.insert(SESSION, session);
                let url = self.inner.courier.url();
                let body = Bytes::new();
                let farewell = self.inner.courier.send(Method::DELETE, url, &headers, &body);
                let _ = timeout(FAREWELL, farewell).await;
            }
        })
    }

    fn is_http(&self) -> bool {
        true
    }
}

impl HttpTransport {
    fn abort_all(&self) {
        let mut tasks = lock(&self.tasks);
        let requests = tasks.requests.drain().map(|(_, task)| task).collect::<Vec<_>>();
        for task in requests.into_iter().chain(tasks.others.drain(..)) {
            task.abort();
        }
    }
}

impl Drop for HttpTransport {
    fn drop(&mut self) {
        self.abort_all();
    }
}

fn lock(tasks: &Mutex<Tasks>) -> MutexGuard<'_, Tasks> {
    tasks.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    fn session(&self) -> Option<HeaderValue> {
        self.session.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn write_session(&self) -> std::sync::RwLockWriteGuard<'_, Option<HeaderValue>> {
        self.session.write().unwrap_or_else(PoisonError::into_inner)
    }

    async fn post(&self, outgoing: &Outgoing) -> Result<(), TransportError> {
        let url = self.courier.url();
        let mut headers = courier::post_headers(&outgoing.headers);
        let session = self.session().filter(|_| !outgoing.opens_session);
        let had_session = session.is_some();
        if let Some(session) = session {
            headers.insert(SESSION, session);
        }
        let response = self.courier.send(Method::POST, url, &headers, &outgoing.bytes).await?;
        let status = response.status();
        if status == StatusCode::NOT_FOUND && had_session {
            return Err(TransportError::SessionLost);
        }
        if !status.is_success() {
            return Err(courier::status_error(response, url).await);
        }
        if outgoing.opens_session {
            // Only the response to `initialize` may open a session.
            *self.write_session() = response.headers().get(SESSION).cloned();
        }
        let Some(id) = &outgoing.expects else { return Ok(()) };
        if courier::is_type(&response, "text/event-stream") {
            // Boxed, because otherwise the task of every call would be as large as this path.
            return Box::pin(self.stream(response, id, &headers)).await;
        }
        let content_type = courier::content_type(&response);
        let body = bounded_body(response, self.limits.message_bytes).await?;
        let looks_like_json = matches!(body.trim_ascii_start().first(), Some(b'{' | b'['));
        if !looks_like_json {
            return Err(if body.is_empty() {
                TransportError::StreamEnded { why: format!("{status} without a body") }
            } else {
                TransportError::NotMcp { url: shown(url), content_type, body }
            });
        }
        self.sink.received(body);
        if self.sink.awaits(id) {
            let why = "the body is not a response to this request".into();
            return Err(TransportError::StreamEnded { why });
        }
        Ok(())
    }

    /// Reads the stream that a POST opened, and resumes it while the server allows that.
    async fn stream(
        &self,
        response: Response,
        id: &Id,
        headers: &HeaderMap,
    ) -> Result<(), TransportError> {
        // The stream belongs to one call: an event that is too large fails it at once.
        let fresh = || Events::new(self.limits.message_bytes);
        let mut events = fresh();
        let mut broken = self.pump(response, &mut events, Some(id)).await?;
        let mut fruitless = 0;
        while self.sink.awaits(id) {
            let Some(last) = events.last_id().map(str::to_owned) else {
                return Err(TransportError::StreamEnded { why: broken });
            };
            if fruitless == FRUITLESS {
                return Err(TransportError::StreamEnded {
                    why: format!("{FRUITLESS} attempts to resume the stream brought nothing new"),
                });
            }
            sleep(retry(&events)).await;
            let response = self.resume(&last, headers).await?;
            events = resumed(fresh(), &events, &last);
            broken = self.pump(response, &mut events, Some(id)).await?;
            fruitless = if events.last_id() == Some(&last) { fruitless + 1 } else { 0 };
        }
        Ok(())
    }

    async fn resume(&self, last: &str, headers: &HeaderMap) -> Result<Response, TransportError> {
        let url = self.courier.url();
        let mut headers = headers.clone();
        headers.remove(::http::header::CONTENT_TYPE);
        headers.extend(courier::stream_headers(&[]));
        if let Ok(last) = HeaderValue::from_str(last) {
            headers.insert(LAST_EVENT, last);
        }
        let response = self.courier.send(Method::GET, url, &headers, &Bytes::new()).await?;
        if !response.status().is_success() || !courier::is_type(&response, "text/event-stream") {
            return Err(TransportError::StreamEnded {
                why: format!("the request to resume was answered with {}", response.status()),
            });
        }
        Ok(response)
    }

    /// Passes the events of one stream to the sink until it ends; returns how it ended.
    async fn pump(
        &self,
        mut response: Response,
        events: &mut Events,
        id: Option<&Id>,
    ) -> Result<String, TransportError> {
        loop {
            let done = id.is_some_and(|id| !self.sink.awaits(id));
            let chunk = if done {
                // Reading to the end allows the connection to be reused.
                match timeout(LINGER, response.chunk()).await {
                    Ok(chunk) => chunk,
                    Err(_) => return Ok(String::new()),
                }
            } else {
                response.chunk().await
            };
            match chunk {
                Ok(Some(chunk)) => events.push(&chunk),
                Ok(None) => return Ok(String::new()),
                Err(error) => return Ok(chain(&error.without_url())),
            }
            loop {
                match events.next_event() {
                    Ok(Some(event)) if matches!(event.kind.as_str(), "" | "message") => {
                        self.sink.received(event.data);
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(TooLong::Skipped(message)) => self.sink.oversized(message),
                    Err(TooLong::Endless) => {
                        let limit = self.limits.message_bytes;
                        return Err(TransportError::TooLarge { limit });
                    }
                }
            }
        }
    }

    /// Reads the stream of messages that are not responses. Many servers have none, which is not an error.
    async fn listen(&self, extra: Headers, opened: oneshot::Sender<()>) {
        let mut opened = Some(opened);
        let url = self.courier.url();
        let Limits { message_bytes, skipped_bytes, .. } = self.limits;
        let fresh = || Events::new(message_bytes).skipping(skipped_bytes);
        let mut events = fresh();
        let mut fruitless = 0;
        while fruitless < FRUITLESS {
            let Some(session) = self.session() else { return };
            let mut headers = courier::stream_headers(&extra);
            headers.insert(SESSION, session);
            let last = events.last_id().map(str::to_owned);
            if let Some(Ok(last)) = last.as_deref().map(HeaderValue::from_str) {
                headers.insert(LAST_EVENT, last);
            }
            let answer = self.courier.send(Method::GET, url, &headers, &Bytes::new()).await;
            let Ok(response) = answer else { return };
            if !response.status().is_success() || !courier::is_type(&response, "text/event-stream")
            {
                return;
            }
            if let Some(opened) = opened.take() {
                let _ = opened.send(());
            }
            events = resumed(fresh(), &events, last.as_deref().unwrap_or_default());
            if self.pump(response, &mut events, None).await.is_err() {
                return;
            }
            fruitless = if events.last_id() == last.as_deref() { fruitless + 1 } else { 0 };
            // Prevents a tight loop with a server that ends every stream at once.
            sleep(retry(&events) * 2u32.pow(u32::try_from(fruitless).unwrap_or_default())).await;
        }
    }
}

/// A parser for the continuation of a stream: an incomplete event is sent again.
fn resumed(mut events: Events, before: &Events, last: &str) -> Events {
    if !last.is_empty() {
        events.push(format!("id: {last}\n").as_bytes());
    }
    if let Some(retry) = before.retry_ms() {
        events.push(format!("retry: {retry}\n\n").as_bytes());
    }
    // The lines above contain no data, so they produce no event.
    let _ = events.next_event();
    events
}

fn retry(events: &Events) -> Duration {
    events.retry_ms().map_or(RETRY, Duration::from_millis).min(LONGEST_RETRY)
}
