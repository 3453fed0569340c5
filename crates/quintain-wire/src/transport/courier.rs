//! Sends HTTP requests to a target: credentials, redirects, recording.
//!
//! Credentials are sent only to the origin that the user named, even after a redirect.

use std::sync::Arc;
use std::time::Duration;

use ::http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use bytes::Bytes;
use reqwest::{Request, Response};
use secrecy::ExposeSecret;
use url::Url;

use super::TransportError;
use crate::auth::{AuthError, Authorizer, Credentials, HttpRefusal, oauth};
use crate::destination::Destinations;
use crate::frame::{Direction, HttpMeta, Recording};
use crate::net::{self, BodyError, Client, SendError};

/// Maximum number of redirects within one origin.
const REDIRECTS: usize = 5;
/// Maximum number of retries with new credentials; the authorizer may give up earlier.
const RENEWALS: usize = 4;
/// Maximum size of an error body to keep.
const ERROR_BODY: usize = 64 << 10;

/// A target with a URL.
#[derive(Clone)]
pub struct HttpConfig {
    /// The MCP endpoint.
    pub url: Url,
    /// Headers from the user.
    pub headers: HeaderMap,
    /// Provides credentials.
    pub authorizer: Arc<dyn Authorizer>,
    /// Time limit for opening a connection.
    pub connect_timeout: Duration,
    /// Allowed destinations; redirects are checked, too.
    pub destinations: Destinations,
}

/// The HTTP client of one target.
pub(crate) struct HttpSender {
    client: Client,
    config: HttpConfig,
    recording: Recording,
}

impl HttpSender {
    pub(crate) fn new(config: HttpConfig, recording: Recording) -> Result<Self, TransportError> {
        let client = Client::new(config.connect_timeout, &config.url, &config.destinations)
            .map_err(|error| TransportError::Broken(net::chain(&error)))?;
        Ok(Self { client, config, recording })
    }

    pub(crate) fn url(&self) -> &Url {
        &self.config.url
    }

    /// Sends a request with credentials; retries after a refusal if the authorizer has other credentials.
    pub(crate) async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<Response, TransportError> {
        let mut renewals = 0;
        loop {
            let credentials = self.config.authorizer.credentials().await?;
            let response = self.follow(&method, url, headers, body, Some(&credentials)).await?;
            let status = response.status();
            if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                return Ok(response);
            }
            let refusal = HttpRefusal {
                status,
                headers: response.headers().clone(),
                url: url.clone(),
                generation: credentials.generation,
            };
            if renewals == RENEWALS || !self.config.authorizer.refused(refusal).await? {
                return Ok(response);
            }
            renewals += 1;
        }
    }

    async fn follow(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: &Bytes,
        credentials: Option<&Credentials>,
    ) -> Result<Response, TransportError> {
        let mut at = url.clone();
        for _ in 0..=REDIRECTS {
            let response = self.once(method, &at, headers, body, credentials).await?;
            let Some(next) = redirect(&response, &at) else { return Ok(response) };
            if next.origin() != self.config.url.origin() {
                return Err(TransportError::Redirected { url: shown(url), to: shown(&next) });
            }
            at = next;
        }
        Err(TransportError::RedirectLoop { url: shown(url) })
    }

    async fn once(
        &self,
        method: &Method,
        url: &Url,
        headers: &HeaderMap,
        body: &Bytes,
        credentials: Option<&Credentials>,
    ) -> Result<Response, TransportError> {
        let mut all = self.config.headers.clone();
        all.reserve(headers.len());
        for (name, value) in headers {
            all.insert(name, value.clone());
        }
        let mut to = url.clone();
        if let Some(credentials) = credentials {
            attach(credentials, method, &mut all, &mut to)?;
        }
        if self.recording.is_on() {
            let meta = HttpMeta::request(method.as_str(), &to, &all);
            self.recording.record(Direction::Sent, body, Some(meta));
        }
        // Without the builder, which would copy every header again.
        let mut request = Request::new(method.clone(), to);
        *request.headers_mut() = all;
        *request.body_mut() = Some(body.clone().into());
        let response = self.client.execute(request).await.map_err(|error| match error {
            SendError::NotAllowed(error) => TransportError::NotAllowed(error),
            SendError::Failed(_) => {
                TransportError::Unreachable { url: shown(url), why: error.to_string() }
            }
        })?;
        if let Some(proof) = credentials.and_then(|credentials| credentials.proof.as_ref()) {
            proof.learn(url, response.headers());
        }
        if self.recording.is_on() {
            let meta = HttpMeta::response(response.status(), response.headers());
            self.recording.record(Direction::Received, &Bytes::new(), Some(meta));
        }
        Ok(response)
    }
}

fn attach(
    credentials: &Credentials,
    method: &Method,
    headers: &mut HeaderMap,
    url: &mut Url,
) -> Result<(), AuthError> {
    for (name, value) in &credentials.headers {
        let mut value = HeaderValue::from_str(value.expose_secret()).map_err(|_| {
            AuthError::Failed(format!(
                "the credential for `{name}` contains characters that headers forbid"
            ))
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    if let Some(proof) = &credentials.proof {
        headers.insert(oauth::dpop::HEADER, proof.header(method, url)?);
    }
    for (name, value) in &credentials.query {
        url.query_pairs_mut().append_pair(name, value.expose_secret());
    }
    Ok(())
}

fn redirect(response: &Response, at: &Url) -> Option<Url> {
    let moved = matches!(response.status().as_u16(), 301 | 302 | 307 | 308);
    let location = response.headers().get(LOCATION).filter(|_| moved)?;
    at.join(location.to_str().ok()?).ok()
}

/// A URL for display: queries and user names can contain credentials.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}

/// The error for a response with an error status.
pub(crate) async fn status_error(response: Response, url: &Url) -> TransportError {
    let status = response.status();
    let body = clipped_body(response).await;
    TransportError::Status { url: shown(url), status, body }
}

/// The start of a body, for messages.
pub(crate) async fn clipped_body(mut response: Response) -> Bytes {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = ERROR_BODY - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == ERROR_BODY {
            break;
        }
    }
    body.into()
}

/// Whether the content type of a response is `wanted`, with any parameters.
pub(crate) fn is_type(response: &Response, wanted: &str) -> bool {
    let value = response.headers().get(CONTENT_TYPE).map_or(&[][..], HeaderValue::as_bytes);
    let kind = value.split(|&byte| byte == b';').next().unwrap_or_default();
    kind.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes())
}

pub(crate) fn content_type(response: &Response) -> String {
    let value = response.headers().get(CONTENT_TYPE);
    value.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}

/// The headers of a POST with a message.
pub(crate) fn post_headers(extra: &[(HeaderName, HeaderValue)]) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(extra.len() + 4);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers.extend(extra.iter().cloned());
    headers
}

/// The headers of a GET that opens an event stream.
pub(crate) fn stream_headers(extra: &[(HeaderName, HeaderValue)]) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(extra.len() + 3);
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    headers.extend(extra.iter().cloned());
    headers
}

impl From<BodyError> for TransportError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge { limit } => Self::TooLarge { limit },
            broken @ BodyError::Broken(_) => Self::Broken(broken.to_string()),
        }
    }
}
