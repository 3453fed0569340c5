//! Raw HTTP requests: other headers, changed or missing credentials, sessions of another identity.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use quintain_content::secret::names_a_secret;
use quintain_evidence::connection::{ApiKeyPlacement, Auth, Launch, McpTarget, Transport};
use quintain_evidence::evidence::Outcome;
use quintain_redteam::attack::{Given, HttpRequest, Token};
use quintain_wire::destination::Destinations;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Map, Value, json};
use url::Url;

use super::gate::Gate;
use super::request_parts::{MAX_BODY, RequestParts};
use super::sse_stream::{self, SseStream};
use crate::web::{Reply, Request, Web};

const TIME: Duration = Duration::from_secs(8);
const SESSION: &str = "mcp-session-id";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"begin","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"quintain","version":"0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// The URL and headers of an identity.
#[derive(Clone)]
pub(super) struct RawConnection {
    url: Url,
    /// All headers of the identity, including credentials.
    headers: Vec<(String, String)>,
    /// Uses the older HTTP+SSE transport, which sends answers on a stream.
    sse: bool,
}

impl RawConnection {
    pub(super) fn is_sse(&self) -> bool {
        self.sse
    }

    /// The connection to an HTTP target; `None` if it is not reached over HTTP.
    pub(super) fn of(target: &McpTarget) -> Option<Self> {
        let Launch::Url { url, headers, auth, transport } = &target.servers.first()?.launch else {
            return None;
        };
        let mut url = Url::parse(url).ok()?;
        let mut headers: Vec<(String, String)> = headers
            .iter()
            .map(|(name, value)| (name.clone(), value.expose_secret().to_owned()))
            .collect();
        match auth {
            Auth::None | Auth::OAuth(_) | Auth::Stored => {}
            Auth::Bearer { token } => {
                headers.push(("authorization".into(), format!("Bearer {}", token.expose_secret())));
            }
            Auth::Basic { username, password } => {
                let pair = format!("{username}:{}", password.expose_secret());
                let coded = base64::engine::general_purpose::STANDARD.encode(pair);
                headers.push(("authorization".into(), format!("Basic {coded}")));
            }
            Auth::ApiKey { value, key_name, placement } => match placement {
                ApiKeyPlacement::Header => {
                    headers.push((key_name.clone(), value.expose_secret().to_owned()));
                }
                ApiKeyPlacement::Query => {
                    url.query_pairs_mut().append_pair(key_name, value.expose_secret());
                }
            },
        }
        let sse = match transport {
            Transport::Sse => true,
            Transport::Auto => url.path().ends_with("/sse"),
            Transport::StreamableHttp => false,
        };
        Some(Self { url, headers, sse })
    }
}

/// Sends raw requests for all identities.
pub(super) struct RawConnections {
    all: Vec<Option<RawConnection>>,
    /// Tokens from the user that the target must refuse.
    tokens: Vec<(Given, SecretString)>,
    gate: Arc<Gate>,
    web: Web,
}

impl RawConnections {
    pub(super) fn new(
        raw_connections: Vec<Option<RawConnection>>,
        tokens: &[(Given, SecretString)],
        gate: Arc<Gate>,
        destinations: Destinations,
    ) -> Self {
        let web = Web::new(MAX_BODY, destinations);
        Self { all: raw_connections, tokens: tokens.to_vec(), gate, web }
    }

    /// The value of a header with another token in it.
    fn header(&self, token: &Token, value: &str) -> Option<String> {
        let Token::Given(given) = token else { return token.header(value) };
        let (_, other) = self.tokens.iter().find(|(known, _)| known == given)?;
        let other = other.expose_secret();
        Some(match value.split_once(' ') {
            Some((scheme, _)) if !other.contains(' ') => format!("{scheme} {other}"),
            _ => other.to_owned(),
        })
    }

    /// Sends a request and returns its outcome.
    pub(super) async fn send(&self, request: &HttpRequest) -> Outcome {
        let sent = match self.gate.check_raw(request.body.as_bytes()) {
            Ok(()) => self.attempt(request).await,
            Err(why) => Err(why),
        };
        sent.unwrap_or_else(|why| Outcome::Refused { why })
    }

    async fn attempt(&self, request: &HttpRequest) -> Result<Outcome, String> {
        let raw_connection = |at: usize| {
            let raw_connection = self.all.get(at).and_then(Option::as_ref);
            raw_connection.ok_or("the identity does not exist or is not reached over HTTP")
        };
        let who = request.identity.or(request.session_of).unwrap_or(0);
        let plain = self.request_parts(raw_connection(who)?, request.identity.is_some(), None)?;
        let mut changed =
            self.request_parts(raw_connection(who)?, request.identity.is_some(), Some(request))?;
        // Only messages get their answers on the stream.
        if raw_connection(who)?.sse && request.method == "POST" {
            let of = match request.session_of {
                Some(of) => self.request_parts(raw_connection(of)?, true, None)?,
                None if request.fresh => changed.clone(),
                None => plain,
            };
            let sending = self.over_stream(request, &of, changed);
            let sent = tokio::time::timeout(TIME, sending).await;
            return sent.unwrap_or(Ok(Outcome::TimedOut { after: TIME }));
        }
        let session = if request.fresh {
            match self.begin(&changed).await? {
                Ok(session) => session,
                Err(refusal) => return Ok(refusal),
            }
        } else if let Some(of) = request.session_of {
            self.begin(&self.request_parts(raw_connection(of)?, true, None)?)
                .await?
                .unwrap_or_default()
        } else if request.identity.is_some() && !request.body.contains("\"initialize\"") {
            self.begin(&plain).await?.unwrap_or_default()
        } else {
            None
        };
        if let Some(session) = session {
            let value = HeaderValue::try_from(session).map_err(|error| error.to_string())?;
            changed.headers.entry(SESSION).or_insert(value);
        }
        let method =
            Method::try_from(request.method.as_str()).map_err(|error| error.to_string())?;
        self.post(method, &changed, request.body.clone()).await.map(|reply| outcome(&reply))
    }

    /// Sends a request over HTTP+SSE. `of` opens the stream for the answer.
    async fn over_stream(
        &self,
        request: &HttpRequest,
        of: &RequestParts,
        mut changed: RequestParts,
    ) -> Result<Outcome, String> {
        let mut stream = match SseStream::open(&self.web, of, TIME).await? {
            Ok(stream) => stream,
            Err(refusal) => return Ok(outcome(&refusal)),
        };
        let mut own = RequestParts { url: stream.endpoint.clone(), headers: of.headers.clone() };
        let begins = request.body.contains("\"initialize\"");
        if !begins {
            let reply = self.post(Method::POST, &own, INITIALIZE.to_owned()).await?;
            if !reply.status.is_success() || stream.answer(&json!("begin")).await.is_none() {
                return Ok(outcome(&reply));
            }
            self.post(Method::POST, &own, INITIALIZED.to_owned()).await?;
        }
        if let Some(made_up) = changed.headers.remove(SESSION) {
            sse_stream::rename_session(&mut own.url, made_up.to_str().unwrap_or_default());
        }
        let added = changed
            .url
            .query_pairs()
            .filter(|pair| !of.url.query_pairs().any(|known| known == *pair));
        let added: Vec<(String, String)> =
            added.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        for (name, value) in added {
            own.url.query_pairs_mut().append_pair(&name, &value);
        }
        changed.url = own.url;
        let reply = self.post(Method::POST, &changed, request.body.clone()).await?;
        if !reply.status.is_success() {
            return Ok(outcome(&reply));
        }
        let id = serde_json::from_str::<Value>(&request.body).ok();
        let id = id.and_then(|body| body.get("id").cloned()).unwrap_or_default();
        let Some(body) = stream.answer(&id).await else { return Ok(outcome(&reply)) };
        let session = sse_stream::session_in(&stream.endpoint).unwrap_or_default();
        let headers = json!({ SESSION: session });
        Ok(Outcome::Reply(json!({"status": 200, "headers": headers, "body": body})))
    }

    /// Starts a session. Returns its id, or the outcome if the server refuses.
    async fn begin(
        &self,
        request_parts: &RequestParts,
    ) -> Result<Result<Option<String>, Outcome>, String> {
        let reply = self.post(Method::POST, request_parts, INITIALIZE.to_owned()).await?;
        if !reply.status.is_success() {
            return Ok(Err(outcome(&reply)));
        }
        let session = reply.headers.get(SESSION).and_then(|value| value.to_str().ok());
        let session = session.map(str::to_owned);
        let mut request_parts = request_parts.clone();
        if let Some(value) = session.as_deref().and_then(|id| HeaderValue::try_from(id).ok()) {
            request_parts.headers.insert(SESSION, value);
        }
        self.post(Method::POST, &request_parts, INITIALIZED.to_owned()).await?;
        Ok(Ok(session))
    }

    async fn post(
        &self,
        method: Method,
        request_parts: &RequestParts,
        body: String,
    ) -> Result<Reply, String> {
        let RequestParts { url, headers } = request_parts.clone();
        let body = (!body.is_empty()).then(|| body.into());
        let request = Request { method, url, headers, body };
        self.web.send(request, TIME).await.map_err(|error| error.to_string())
    }
}

fn outcome(reply: &Reply) -> Outcome {
    let headers = reply.headers.iter().map(|(name, value)| {
        (name.to_string(), Value::from(String::from_utf8_lossy(value.as_bytes())))
    });
    let headers: Map<String, Value> = headers.collect();
    let body = String::from_utf8_lossy(&reply.body);
    Outcome::Reply(json!({"status": reply.status.as_u16(), "headers": headers, "body": body}))
}

impl RawConnections {
    /// The URL and headers of a request, with the changes that it asks for.
    fn request_parts(
        &self,
        raw_connection: &RawConnection,
        credentials: bool,
        request: Option<&HttpRequest>,
    ) -> Result<RequestParts, String> {
        let mut url = raw_connection.url.clone();
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert("accept", HeaderValue::from_static("application/json, text/event-stream"));
        let wrong = |error: &dyn std::fmt::Display| error.to_string();
        for (name, value) in &raw_connection.headers {
            let secret = names_a_secret(name);
            if secret && !credentials {
                continue;
            }
            let value = match request.and_then(|request| request.token.as_ref()).filter(|_| secret)
            {
                Some(token) => self
                    .header(token, value)
                    .ok_or("this change does not apply to the credentials")?,
                None => value.clone(),
            };
            if let Some(parameter) =
                request.and_then(|request| request.token_in_query.as_ref()).filter(|_| secret)
            {
                let bare = value.split_once(' ').map_or(value.as_str(), |(_, bare)| bare);
                url.query_pairs_mut().append_pair(parameter, bare);
                continue;
            }
            let name = HeaderName::try_from(name.as_str()).map_err(|error| wrong(&error))?;
            let value = HeaderValue::try_from(value).map_err(|error| wrong(&error))?;
            headers.append(name, value);
        }
        for (name, value) in request.into_iter().flat_map(|request| &request.headers) {
            let name = HeaderName::try_from(name.as_str()).map_err(|error| wrong(&error))?;
            if value.is_empty() {
                headers.remove(&name);
            } else {
                headers.insert(name, HeaderValue::try_from(value).map_err(|error| wrong(&error))?);
            }
        }
        if let Some(path) = request.and_then(|request| request.path.as_ref()) {
            url = url.join(path).map_err(|error| wrong(&error))?;
        }
        Ok(RequestParts { url, headers })
    }
}
