//! HTTP requests other than MCP: webhooks, HTTP targets and models.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};
use quintain_wire::destination::{Destinations, NotAllowed};
use quintain_wire::net::{self, Client, SendError};
use url::Url;

/// Maximum number of redirects, all to the same origin.
const MAX_REDIRECTS: usize = 10;

/// The HTTP clients of a run, created on first use: one for this machine and one for other hosts.
pub(crate) struct Web {
    local: Mutex<Option<Client>>,
    world: Mutex<Option<Client>>,
    /// Maximum size of a body in bytes.
    limit: usize,
    /// Where requests may go.
    destinations: Destinations,
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum WebError {
    #[error("Request timed out after {} ms", after.as_millis())]
    TimedOut { after: Duration },
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error("cannot reach {place}: {why}")]
    Lost { place: String, why: String },
    #[error("{0}")]
    Body(#[from] net::BodyError),
}

impl Web {
    pub(crate) fn new(limit: usize, destinations: Destinations) -> Self {
        Self { local: Mutex::default(), world: Mutex::default(), limit, destinations }
    }

    /// Sends a request and reads the answer, whatever its status. Does not follow redirects to other origins, since the
    /// headers may contain credentials.
    ///
    /// # Errors
    /// When no complete answer arrives in time.
    pub(crate) async fn send(&self, request: Request, time: Duration) -> Result<Reply, WebError> {
        let reading = async {
            let response = self.follow(request, time).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = net::bounded_body(response, self.limit).await?;
            Ok(Reply { status, headers, body })
        };
        let read = tokio::time::timeout(time, reading).await;
        read.unwrap_or(Err(WebError::TimedOut { after: time }))
    }

    /// Sends a request and returns the open event stream, or the complete answer if it is not an event stream.
    ///
    /// # Errors
    /// When no answer starts in time.
    pub(crate) async fn stream(
        &self,
        request: Request,
        time: Duration,
    ) -> Result<Result<reqwest::Response, Reply>, WebError> {
        let place = request.url.origin().ascii_serialization();
        let lost = |error| unsent(&place, error);
        let client = self.client(&request.url, time).map_err(lost)?;
        let sending = client.request(request.method, request.url).headers(request.headers);
        let sending = client.send(sending);
        let response = match tokio::time::timeout(time, sending).await {
            Ok(response) => response.map_err(lost)?,
            Err(_) => return Err(WebError::TimedOut { after: time }),
        };
        let (status, headers) = (response.status(), response.headers().clone());
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if status.is_success() && kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return Ok(Ok(response));
        }
        let body = net::bounded_body(response, self.limit).await?;
        Ok(Err(Reply { status, headers, body }))
    }

    /// Sends a request and returns as soon as the response starts, whatever its status.
    ///
    /// # Errors
    /// When no answer starts in time.
    pub(crate) async fn begin(
        &self,
        request: Request,
        time: Duration,
    ) -> Result<reqwest::Response, WebError> {
        let sent = tokio::time::timeout(time, self.follow(request, time)).await;
        sent.unwrap_or(Err(WebError::TimedOut { after: time }))
    }

    async fn follow(
        &self,
        mut request: Request,
        time: Duration,
    ) -> Result<reqwest::Response, WebError> {
        let place = request.url.origin().ascii_serialization();
        let lost = |error| unsent(&place, error);
        for _ in 0..MAX_REDIRECTS {
            let client = self.client(&request.url, time).map_err(lost)?;
            let Request { method, url, headers, body } = request.clone();
            let mut sending = client.request(method, url).headers(headers);
            if let Some(body) = body {
                sending = sending.body(body);
            }
            let response = client.send(sending).await.map_err(lost)?;
            let status = response.status();
            let Some(next) = redirect_target(&request.url, status, response.headers()) else {
                return Ok(response);
            };
            request.url = next;
            let keeps = matches!(status.as_u16(), 307 | 308);
            if !keeps && request.method != Method::HEAD {
                request.method = Method::GET;
                request.body = None;
                request.headers.remove(header::CONTENT_TYPE);
            }
        }
        Err(WebError::Lost { place, why: "too many redirects".to_owned() })
    }

    fn client(&self, to: &Url, time: Duration) -> Result<Client, SendError> {
        let slot = if net::is_loopback(to) { &self.local } else { &self.world };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = &*slot {
            return Ok(client.clone());
        }
        let client = Client::new(time, to, &self.destinations)?;
        *slot = Some(client.clone());
        Ok(client)
    }
}

fn unsent(place: &str, error: SendError) -> WebError {
    match error {
        SendError::NotAllowed(error) => error.into(),
        SendError::Failed(_) => WebError::Lost { place: place.to_owned(), why: error.to_string() },
    }
}

fn redirect_target(url: &Url, status: StatusCode, headers: &HeaderMap) -> Option<Url> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = headers.get(header::LOCATION)?.to_str().ok()?;
    let next = url.join(location).ok()?;
    (next.origin() == url.origin()).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_redirects_to_the_same_origin_are_followed() {
        let url: Url = "http://h:1/a".parse().unwrap();
        let to = |place: &str| {
            let headers = HeaderMap::from_iter([(header::LOCATION, place.parse().unwrap())]);
            redirect_target(&url, StatusCode::FOUND, &headers).map(String::from)
        };
        assert_eq!(to("/b").as_deref(), Some("http://h:1/b"));
        for other in ["http://h:2/b", "https://h:1/b", "//evil/b", "http://["] {
            assert_eq!(to(other), None, "{other}");
        }
        assert_eq!(redirect_target(&url, StatusCode::OK, &HeaderMap::new()), None);
    }
}
