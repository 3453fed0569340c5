//! The HTTP+SSE transport of 2024-11-05: one GET stream for all responses, a POST for each message.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::http::Method;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use reqwest::Response;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use url::Url;

use super::courier::{self, HttpConfig, HttpSender, shown};
use super::events::{Event, Events};
use super::{Headers, Outgoing, Sink, Transport, TransportError};
use crate::frame::Recording;
use crate::limits::Limits;
use crate::message::{Id, TooLong};
use crate::net::chain;

/// Time limit of a POST: some servers never respond to a POST for an unknown session.
const POST_TIMEOUT: Duration = Duration::from_secs(30);

/// A target with the older HTTP transport.
pub struct SseTransport {
    inner: Arc<Inner>,
    posts: Arc<Mutex<HashMap<Id, AbortHandle>>>,
    reader: AbortHandle,
}

struct Inner {
    courier: HttpSender,
    endpoint: Url,
    sink: Arc<dyn Sink>,
}

impl SseTransport {
    /// Opens the stream and waits for the `endpoint` event.
    ///
    /// # Errors
    /// When the server does not offer this transport, or names an endpoint on another origin.
    pub async fn open(
        config: HttpConfig,
        limits: Limits,
        recording: Recording,
        wait: Duration,
        sink: Arc<dyn Sink>,
    ) -> Result<Self, TransportError> {
        let courier = HttpSender::new(config, recording)?;
        let events = Events::new(limits.message_bytes).skipping(limits.skipped_bytes);
        let mut stream = Stream { events, limits, sink: sink.clone(), response: None };
        let endpoint = timeout(wait, find_endpoint(&courier, &mut stream))
            .await
            .map_err(|_| TransportError::TimedOut { after: wait })??;
        let inner = Arc::new(Inner { courier, endpoint, sink });
        let reading = inner.clone();
        let reader = tokio::spawn(async move {
            let end = loop {
                match stream.next().await {
                    Ok(event) if matches!(event.kind.as_str(), "" | "message") => {
                        reading.sink.received(event.data);
                    }
                    Ok(_) => {}
                    Err(end) => break end,
                }
            };
            reading.sink.closed(end);
        });
        Ok(Self { inner, posts: Arc::default(), reader: reader.abort_handle() })
    }
}

async fn find_endpoint(courier: &HttpSender, stream: &mut Stream) -> Result<Url, TransportError> {
    let url = courier.url();
    let headers = courier::stream_headers(&[]);
    let response = courier.send(Method::GET, url, &headers, &Bytes::new()).await?;
    if !response.status().is_success() {
        return Err(courier::status_error(response, url).await);
    }
    let missing = |why: String| TransportError::NoEndpoint { url: shown(url), why };
    if !courier::is_type(&response, "text/event-stream") {
        let what = courier::content_type(&response);
        return Err(missing(format!("GET was answered with `{what}`, not with an event stream")));
    }
    stream.response = Some(response);
    let event = stream.next().await?;
    if event.kind != "endpoint" {
        return Err(missing("the first event is not `endpoint`".into()));
    }
    let named = String::from_utf8_lossy(&event.data).into_owned();
    let endpoint = url.join(named.trim()).map_err(|error| missing(error.to_string()))?;
    if endpoint.origin() != url.origin() {
        return Err(TransportError::ForeignEndpoint { endpoint: shown(&endpoint) });
    }
    Ok(endpoint)
}

struct Stream {
    response: Option<Response>,
    events: Events,
    limits: Limits,
    sink: Arc<dyn Sink>,
}

impl Stream {
    async fn next(&mut self) -> Result<Event, TransportError> {
        let Some(response) = &mut self.response else { return Err(TransportError::Closed) };
        loop {
            match self.events.next_event() {
                Ok(Some(event)) => return Ok(event),
                Ok(None) => {}
                Err(TooLong::Skipped(message)) => {
                    self.sink.oversized(message);
                    continue;
                }
                Err(TooLong::Endless) => {
                    return Err(TransportError::Endless { limit: self.limits.skipped_bytes });
                }
            }
            match response.chunk().await {
                Ok(Some(chunk)) => self.events.push(&chunk),
                Ok(None) => return Err(TransportError::StreamEnded { why: String::new() }),
                Err(error) => {
                    return Err(TransportError::StreamEnded { why: chain(&error.without_url()) });
                }
            }
        }
    }
}

impl Transport for SseTransport {
    fn send(&self, outgoing: Outgoing) {
        let inner = self.inner.clone();
        let mut posts = self.posts.lock().unwrap_or_else(PoisonError::into_inner);
        let listed = self.posts.clone();
        let key = outgoing.expects.clone();
        let task = tokio::spawn(async move {
            let posted = timeout(POST_TIMEOUT, inner.post(&outgoing)).await;
            let error = match posted {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error),
                Err(_) => Some(TransportError::TimedOut { after: POST_TIMEOUT }),
            };
            if let Some(delivered) = outgoing.delivered {
                let _ = delivered.send(error.clone().map_or(Ok(()), Err));
            }
            if let Some(id) = &outgoing.expects {
                if let Some(error) = error {
                    inner.sink.failed(id, error);
                }
                listed.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
            }
        });
        if let Some(id) = key {
            posts.insert(id, task.abort_handle());
        }
    }

    fn abandon(&self, id: &Id) {
        if let Some(task) = self.posts.lock().unwrap_or_else(PoisonError::into_inner).remove(id) {
            task.abort();
        }
    }

    fn close(&self, _headers: Headers) -> BoxFuture<'_, ()> {
        self.abort_all();
        Box::pin(async {})
    }

    fn is_http(&self) -> bool {
        true
    }
}

impl SseTransport {
    fn abort_all(&self) {
        self.reader.abort();
        for (_, task) in self.posts.lock().unwrap_or_else(PoisonError::into_inner).drain() {
            task.abort();
        }
    }
}

impl Drop for SseTransport {
    fn drop(&mut self) {
        self.abort_all();
    }
}

impl Inner {
    async fn post(&self, outgoing: &Outgoing) -> Result<(), TransportError> {
        let headers = courier::post_headers(&outgoing.headers);
        let endpoint = &self.endpoint;
        let sent = self.courier.send(Method::POST, endpoint, &headers, &outgoing.bytes);
        let response = sent.await?;
        if response.status().is_success() {
            Ok(())
        } else {
            Err(courier::status_error(response, endpoint).await)
        }
    }
}
