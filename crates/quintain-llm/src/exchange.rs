//! One HTTP exchange with a model: sends JSON, reads a bounded body or stream, turns failures into errors without
//! secrets, and keeps what was sent and received.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use quintain_content::secret;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::completion::RawExchange;
use crate::config::{ConfigError, Options};
use crate::error::{ModelError, shorten};
use crate::limits::Limits;
use crate::network::{BodyStream, HttpReply, HttpRequest, Network};
use crate::retry::retry_after;
use crate::scrub::scrub;
use crate::sse::{Framing, Splitter};

/// A part takes tens of bytes in memory, but may take only two on the wire.
const MAX_PARTS: usize = 2_000_000;
/// Error texts are short; the rest of a failed body is not read.
const MAX_ERROR_BODY: usize = 64 << 10;

/// An endpoint with what every request to it needs.
pub(crate) struct Connection {
    base: Url,
    headers: HeaderMap,
    secrets: Vec<SecretString>,
    limits: Limits,
}

/// A body and the exchange that it belongs to.
pub(crate) struct ProviderReply {
    pub(crate) body: Value,
    pub(crate) raw: RawExchange,
}

/// A request that the server did not accept.
pub(crate) struct Rejection {
    pub(crate) status: u16,
    /// Such as `insufficient_quota`, `content_filter`.
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) raw: RawExchange,
}

pub(crate) enum Failure {
    Rejected(Box<Rejection>),
    Other(ModelError),
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::Other(error)
    }
}

impl From<Failure> for ModelError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Other(error) => error,
            Failure::Rejected(rejection) => rejection.error(),
        }
    }
}

impl Rejection {
    pub(crate) fn error(&self) -> ModelError {
        let used_up = ["insufficient_quota", "billing_hard_limit_reached", "billing_error"];
        if used_up.contains(&self.code.as_str()) {
            return ModelError::Quota(self.message.clone());
        }
        ModelError::status_of(self.status, &self.message, self.retry_after)
    }
}

/// Collects the events of a stream into the body that a request without `stream` would have got.
pub(crate) trait Assemble: Send {
    /// # Errors
    /// When the event is an error of the server.
    fn event(&mut self, event: &Value) -> Result<(), Failure>;

    /// A mark that is not JSON, such as `[DONE]`.
    fn mark(&mut self, _text: &str) {}

    /// Whether the end of the answer was seen.
    fn is_complete(&self) -> bool;

    fn body(&mut self) -> Value;
}

impl Connection {
    /// Reads limits and headers of the options. `auth` is the header with the key, unless the options replace it.
    pub(crate) fn read(
        options: &mut Options<'_>,
        base: Url,
        auth: Option<(HeaderName, String)>,
    ) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some((name, text)) = auth {
            if let Ok(mut value) = HeaderValue::try_from(text) {
                value.set_sensitive(true);
                headers.insert(name, value);
            } else {
                let message = "the key contains characters that no header can contain";
                options.fail(ConfigError::of("apiKey", message));
            }
        }
        for (name, value) in options.headers() {
            if let Some(name) = name {
                headers.insert(name, value);
            }
        }
        let limits = Limits::read(options);
        Self { base, headers, secrets: options.secrets(), limits }
    }

    /// Adds a header that is not secret, unless the options set it.
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        let name = HeaderName::from_static(name);
        if let (false, Ok(value)) = (self.headers.contains_key(&name), HeaderValue::try_from(value))
        {
            self.headers.insert(name, value);
        }
        self
    }

    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn secrets(&self) -> &[SecretString] {
        &self.secrets
    }

    /// The base URL followed by a path; a query of the base URL stays.
    pub(crate) fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let base = url.path().trim_end_matches('/').to_owned();
        url.set_path(&format!("{base}/{}", path.trim_start_matches('/')));
        url
    }

    /// What of the connection matters for answers: the URL without secrets, and the headers that are not credentials.
    pub(crate) fn fingerprint(&self) -> Value {
        let shown = secret::shown_url(self.base.as_str());
        let headers = self.headers.iter().filter_map(|(name, value)| {
            let text = value.to_str().ok()?;
            let is_secret = secret::is_secret(name.as_str(), text)
                || self.secrets.iter().any(|secret| text.contains(secret.expose_secret()));
            (!is_secret).then(|| (name.as_str().to_owned(), Value::from(text)))
        });
        json!({"url": shown, "headers": headers.collect::<serde_json::Map<_, _>>()})
    }

    /// Sends a body and reads the JSON answer.
    ///
    /// # Errors
    /// When there is no complete JSON answer with a status of success.
    pub(crate) async fn post(
        &self,
        network: &dyn Network,
        url: Url,
        body: &Value,
    ) -> Result<ProviderReply, Failure> {
        let deadline = Instant::now() + self.limits.request_time;
        let (reply, raw) = self.send(network, url, body, deadline, false).await?;
        self.whole(reply, raw, deadline).await
    }

    /// Sends a body and assembles the stream of the answer. A server that ignores `stream` is fine.
    ///
    /// # Errors
    /// When the stream ends early, or as [`Self::post`].
    pub(crate) async fn stream(
        &self,
        network: &dyn Network,
        url: Url,
        body: &Value,
        framing: Framing,
        assembler: &mut dyn Assemble,
    ) -> Result<ProviderReply, Failure> {
        let deadline = Instant::now() + self.limits.request_time;
        let (reply, raw) = self.send(network, url, body, deadline, true).await?;
        let kind = reply.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let is_whole = framing == Framing::Sse
            && kind.is_some_and(|kind| kind.starts_with("application/json"));
        if is_whole {
            return self.whole(reply, raw, deadline).await;
        }
        self.events(reply.body, raw, framing, assembler, deadline).await
    }

    async fn send(
        &self,
        network: &dyn Network,
        url: Url,
        body: &Value,
        deadline: Instant,
        streams: bool,
    ) -> Result<(HttpReply, RawExchange), Failure> {
        let mut headers = self.headers.clone();
        let accept =
            if streams { "text/event-stream, application/json" } else { "application/json" };
        if !headers.contains_key(ACCEPT) {
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
        }
        let shown = secret::shown_url(url.as_str());
        let request = json!({"method": "POST", "url": scrub(&shown, &self.secrets), "body": body});
        let raw = RawExchange { request, response: Value::Null };
        let request = HttpRequest {
            method: Method::POST,
            url,
            headers,
            body: Some(Bytes::from(body.to_string())),
        };
        let sending = network.send(request, self.limits.request_time);
        let sent = timeout_at(deadline, sending).await.map_err(|_| self.late())?;
        let reply = sent.map_err(|error| self.scrubbed(error.into()))?;
        if (200..300).contains(&reply.status) {
            return Ok((reply, raw));
        }
        Err(self.rejected(reply, raw, deadline).await)
    }

    fn late(&self) -> ModelError {
        ModelError::TimedOut(self.limits.request_time)
    }

    /// Texts of the network may quote URLs and headers.
    fn scrubbed(&self, error: ModelError) -> ModelError {
        match error {
            ModelError::Unreachable(why) => ModelError::Unreachable(scrub(&why, &self.secrets)),
            ModelError::Cut(why) => ModelError::Cut(scrub(&why, &self.secrets)),
            ModelError::NotAllowed(why) => ModelError::NotAllowed(scrub(&why, &self.secrets)),
            other => other,
        }
    }

    async fn whole(
        &self,
        mut reply: HttpReply,
        mut raw: RawExchange,
        deadline: Instant,
    ) -> Result<ProviderReply, Failure> {
        let bytes = self.bytes(&mut reply.body, deadline).await?;
        let body = self.json(&bytes)?;
        raw.response = body.clone();
        // Some gateways report failures with status 200.
        if let Some(rejection) = self.error_body(&body, &raw) {
            return Err(Failure::Rejected(Box::new(rejection)));
        }
        Ok(ProviderReply { body, raw })
    }

    async fn bytes(&self, body: &mut BodyStream, deadline: Instant) -> Result<Bytes, ModelError> {
        let limit = self.limits.body_bytes;
        let mut bytes = BytesMut::new();
        loop {
            let next = timeout_at(deadline, body.next()).await.map_err(|_| self.late())?;
            let Some(chunk) = next else { return Ok(bytes.freeze()) };
            let chunk = chunk.map_err(|error| self.scrubbed(cut(error.into())))?;
            if bytes.len() + chunk.len() > limit {
                return Err(ModelError::TooLarge { limit });
            }
            bytes.extend_from_slice(&chunk);
        }
    }

    fn json(&self, bytes: &[u8]) -> Result<Value, ModelError> {
        let parts = bytes.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        if parts > MAX_PARTS {
            return Err(ModelError::NotJson(format!("it has more than {MAX_PARTS} parts")));
        }
        serde_json::from_slice(bytes).map_err(|error| {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
            let start = scrub(&shorten(&start), &self.secrets);
            ModelError::NotJson(format!("{error}; it starts with `{start}`"))
        })
    }

    async fn events(
        &self,
        mut body: BodyStream,
        mut raw: RawExchange,
        framing: Framing,
        assembler: &mut dyn Assemble,
        deadline: Instant,
    ) -> Result<ProviderReply, Failure> {
        let mut splitter = Splitter::new(framing);
        let (mut size, mut events) = (0, Vec::new());
        loop {
            let pause = Instant::now() + self.limits.chunk_time;
            let next = timeout_at(deadline.min(pause), body.next()).await.map_err(|_| {
                if pause < deadline {
                    ModelError::TimedOut(self.limits.chunk_time)
                } else {
                    self.late()
                }
            })?;
            let (split, ended) = match next {
                None => (splitter.finish(), true),
                Some(chunk) => {
                    let chunk = chunk.map_err(|error| self.scrubbed(cut(error.into())))?;
                    size += chunk.len();
                    if size > self.limits.body_bytes {
                        return Err(ModelError::TooLarge { limit: self.limits.body_bytes }.into());
                    }
                    (splitter.push(&chunk), false)
                }
            };
            for event in split {
                let Ok(value) = self.json(event.data.as_bytes()) else {
                    assembler.mark(event.data.trim());
                    events.push(Value::String(event.data));
                    continue;
                };
                raw.response = Value::Null;
                if let Some(rejection) = self.error_body(&value, &raw) {
                    return Err(Failure::Rejected(Box::new(rejection)));
                }
                assembler.event(&value)?;
                events.push(value);
            }
            if ended {
                break;
            }
        }
        if !assembler.is_complete() {
            let why = format!("the stream ended after {} events without an end mark", events.len());
            return Err(ModelError::Cut(why).into());
        }
        raw.response = Value::Array(events);
        Ok(ProviderReply { body: assembler.body(), raw })
    }

    async fn rejected(
        &self,
        mut reply: HttpReply,
        mut raw: RawExchange,
        deadline: Instant,
    ) -> Failure {
        let mut bytes = BytesMut::new();
        while bytes.len() < MAX_ERROR_BODY {
            match timeout_at(deadline, reply.body.next()).await {
                Ok(Some(Ok(chunk))) => bytes.extend_from_slice(&chunk),
                _ => break,
            }
        }
        bytes.truncate(MAX_ERROR_BODY);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::String(text));
        let (code, message) = described(&body);
        let retry_after = retry_after(&reply.headers).or_else(|| retry_delay(&body));
        raw.response = body;
        let message = shorten(&scrub(&message, &self.secrets));
        let status = reply.status;
        Failure::Rejected(Box::new(Rejection { status, code, message, retry_after, raw }))
    }

    /// A body that is an error although its status is not.
    fn error_body(&self, body: &Value, raw: &RawExchange) -> Option<Rejection> {
        let error = body.get("error").filter(|error| error.is_object() || error.is_string())?;
        let has = |key: &str| {
            body.get(key).and_then(Value::as_array).is_some_and(|list| !list.is_empty())
        };
        let is_answer = has("choices") || has("output");
        if is_answer {
            return None;
        }
        let (code, message) = described(body);
        let number =
            error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        let status =
            number.filter(|code| (400..600).contains(code)).unwrap_or(match code.as_str() {
                "overloaded_error" => 529,
                "rate_limit_error" | "rate_limit_exceeded" => 429,
                "invalid_request_error" => 400,
                "authentication_error" => 401,
                "permission_error" => 403,
                "not_found_error" => 404,
                _ => 500,
            });
        let message = shorten(&scrub(&message, &self.secrets));
        Some(Rejection { status, code, message, retry_after: retry_delay(body), raw: raw.clone() })
    }
}

/// A connection that fails while a body is read did connect.
fn cut(error: ModelError) -> ModelError {
    match error {
        ModelError::Unreachable(why) => ModelError::Cut(why),
        other => other,
    }
}

/// The code and the message of an error body, in any of the usual forms.
fn described(body: &Value) -> (String, String) {
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str);
    let code = text("/error/code")
        .or_else(|| text("/error/type"))
        .or_else(|| text("/error/status"))
        .or_else(|| text("/code"))
        .unwrap_or_default();
    let message = text("/error/message")
        .or_else(|| text("/error"))
        .or_else(|| text("/message"))
        .or_else(|| text("/detail"))
        .or_else(|| text("/0/error/message"))
        .or(body.as_str())
        .filter(|message| !message.trim().is_empty());
    let message = message.map_or_else(|| body.to_string(), str::to_owned);
    let message = if message == "\"\"" { "no explanation".to_owned() } else { message };
    (code.to_owned(), message)
}

/// Google's way to ask for a pause: `details: [{retryDelay: "34s"}]`.
fn retry_delay(body: &Value) -> Option<Duration> {
    let details = body.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
