//! Raw requests over HTTP+SSE. Answers arrive on a stream that must stay open.

use std::time::Duration;

use http::{HeaderValue, Method, header};
use quintain_wire::transport::events::{Event, Events};
use reqwest::Response;
use serde_json::Value;
use url::Url;

use super::request_parts::{MAX_BODY, RequestParts};
use crate::web::{Reply, Request, Web};

/// How long to wait for an answer on the stream.
const TIMEOUT: Duration = Duration::from_secs(3);

/// A stream, and the endpoint that accepts its messages.
pub(super) struct SseStream {
    pub(super) endpoint: Url,
    stream: Response,
    events: Events,
}

impl SseStream {
    /// Opens a stream, or returns the reply if the server refuses.
    pub(super) async fn open(
        web: &Web,
        request_parts: &RequestParts,
        time: Duration,
    ) -> Result<Result<Self, Reply>, String> {
        let RequestParts { url, mut headers } = request_parts.clone();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.remove(header::CONTENT_TYPE);
        let request = Request { method: Method::GET, url: url.clone(), headers, body: None };
        let stream = match web.stream(request, time).await.map_err(|error| error.to_string())? {
            Ok(stream) => stream,
            Err(reply) => return Ok(Err(reply)),
        };
        let mut stream = Self { endpoint: url.clone(), stream, events: Events::new(MAX_BODY) };
        let named = loop {
            let event = tokio::time::timeout(time, stream.event()).await.ok().flatten();
            let event = event.ok_or("the stream sent no endpoint")?;
            if event.kind == "endpoint" {
                break String::from_utf8_lossy(&event.data).into_owned();
            }
        };
        stream.endpoint = url.join(named.trim()).map_err(|error| error.to_string())?;
        // Do not send credentials to an endpoint of another origin.
        if stream.endpoint.origin() != url.origin() {
            return Err("the endpoint of the stream has another origin".to_owned());
        }
        Ok(Ok(stream))
    }

    /// Waits for the answer to a request.
    pub(super) async fn answer(&mut self, id: &Value) -> Option<String> {
        let reading = async {
            loop {
                let event = self.event().await?;
                let text = String::from_utf8_lossy(&event.data).into_owned();
                let message: Option<Value> = serde_json::from_str(&text).ok();
                if message.is_some_and(|message| message.get("id") == Some(id)) {
                    return Some(text);
                }
            }
        };
        tokio::time::timeout(TIMEOUT, reading).await.ok().flatten()
    }

    async fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.next_event().ok()? {
                return Some(event);
            }
            let chunk = self.stream.chunk().await.ok()??;
            self.events.push(&chunk);
        }
    }
}

/// The query parameter that contains the session id: the one with "session" in its name, otherwise the longest.
fn session_parameter(url: &Url) -> Option<(String, String)> {
    let pairs: Vec<(String, String)> =
        url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let named = pairs.iter().find(|(name, _)| name.to_ascii_lowercase().contains("session"));
    named.or_else(|| pairs.iter().max_by_key(|(_, value)| value.len())).cloned()
}

pub(super) fn session_in(url: &Url) -> Option<String> {
    session_parameter(url).map(|(_, value)| value)
}

/// Replaces the session id in a URL.
pub(super) fn rename_session(url: &mut Url, to: &str) {
    let Some((session, _)) = session_parameter(url) else { return };
    let pairs: Vec<(String, String)> =
        url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let mut query = url.query_pairs_mut();
    query.clear();
    for (name, value) in pairs {
        query.append_pair(&name, if name == session { to } else { &value });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_in_the_query() {
        let mut url: Url = "http://h/messages?v=1&sessionId=abc".parse().unwrap();
        assert_eq!(session_in(&url).as_deref(), Some("abc"));
        rename_session(&mut url, "x y");
        assert_eq!(url.query(), Some("v=1&sessionId=x+y"));
        assert_eq!(session_in(&"http://h/m".parse().unwrap()), None);
    }
}
