//! A server that responds with a closure and records every request, and a clock that tests can move.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use quintain_wire::auth::{
    AuthConfig, AuthContext, Authorizer, Clock, Credentials, GrantConfig, HttpRefusal, OAuthConfig,
    authorizer,
};
use quintain_wire::redact::Redactor;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use url::Url;

/// A request as the server received it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
    pub(crate) origin: String,
}

impl Seen {
    /// A parameter of the form body.
    pub(crate) fn form(&self, name: &str) -> Option<String> {
        find(&self.body, name)
    }

    /// A parameter of the query.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        find(&self.query, name)
    }

    pub(crate) fn authorization(&self) -> Option<&str> {
        self.headers.get(header::AUTHORIZATION)?.to_str().ok()
    }
}

fn find(pairs: &str, name: &str) -> Option<String> {
    let mut pairs = url::form_urlencoded::parse(pairs.as_bytes());
    pairs.find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
}

pub(crate) struct Mock {
    pub(crate) origin: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Mock {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Mock {
    pub(crate) async fn start(
        answer: impl Fn(&Seen) -> Response + Clone + Send + Sync + 'static,
    ) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (record, own) = (Arc::clone(&seen), origin.clone());
        let app = Router::new().fallback(move |request: Request| {
            let (record, own, answer) = (Arc::clone(&record), own.clone(), answer.clone());
            async move {
                let (parts, body) = request.into_parts();
                let body = to_bytes(body, 1 << 20).await.unwrap();
                let seen = Seen {
                    method: parts.method.to_string(),
                    path: parts.uri.path().to_owned(),
                    query: parts.uri.query().unwrap_or_default().to_owned(),
                    headers: parts.headers,
                    body: String::from_utf8_lossy(&body).into_owned(),
                    origin: own,
                };
                record.lock().unwrap().push(seen.clone());
                answer(&seen)
            }
        });
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { origin, seen, task }
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        format!("{}{path}", self.origin).parse().unwrap()
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.seen().into_iter().map(|seen| seen.path).collect()
    }

    /// The requests for one path.
    pub(crate) fn at(&self, path: &str) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.path == path).collect()
    }
}

pub(crate) fn json_with(status: u16, value: &Value) -> Response {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(value.to_string()))
        .unwrap()
}

pub(crate) fn ok(value: Value) -> Response {
    json_with(200, &value)
}

pub(crate) fn status(status: u16) -> Response {
    Response::builder().status(status).body(Body::empty()).unwrap()
}

pub(crate) fn redirect(to: &str) -> Response {
    Response::builder().status(302).header(header::LOCATION, to).body(Body::empty()).unwrap()
}

/// A counter that names tokens: `<prefix>-1`, `<prefix>-2`, ...
#[derive(Clone, Default)]
pub(crate) struct Counter(Arc<AtomicU64>);

impl Counter {
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A clock that does not move by itself.
#[derive(Clone)]
pub(crate) struct Time(Arc<AtomicU64>);

impl Time {
    pub(crate) fn new() -> Self {
        Self(Arc::new(AtomicU64::new(1_800_000_000)))
    }

    pub(crate) fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }

    pub(crate) fn clock(&self) -> Clock {
        let own = Arc::clone(&self.0);
        Clock::from_fn(move || UNIX_EPOCH + Duration::from_secs(own.load(Ordering::SeqCst)))
    }
}

pub(crate) fn secret(text: &str) -> SecretString {
    SecretString::from(text)
}

pub(crate) fn context() -> AuthContext {
    AuthContext { timeout: Duration::from_secs(10), ..AuthContext::new(Redactor::default()) }
}

/// Client credentials for `id` and `machine-secret` at `/token` of the mock.
pub(crate) fn client_credentials(token_url: Option<Url>) -> OAuthConfig {
    OAuthConfig {
        token_url,
        client_id: Some("id".to_owned()),
        client_secret: Some(secret("machine-secret")),
        ..OAuthConfig::new(GrantConfig::ClientCredentials { key: None })
    }
}

pub(crate) fn oauth(
    config: OAuthConfig,
    server: &Url,
    context: AuthContext,
) -> Arc<dyn Authorizer> {
    authorizer(AuthConfig::OAuth(config), server, context).unwrap()
}

/// The token in the `Authorization` header.
pub(crate) fn token(credentials: &Credentials) -> String {
    let (name, value) = &credentials.headers[0];
    assert_eq!(name, header::AUTHORIZATION);
    value.expose_secret().strip_prefix("Bearer ").unwrap().to_owned()
}

/// A refusal as a transport reports it.
pub(crate) fn refusal(status: u16, url: &Url, challenge: &str, generation: u64) -> HttpRefusal {
    let mut headers = HeaderMap::new();
    headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_str(challenge).unwrap());
    let status = StatusCode::from_u16(status).unwrap();
    HttpRefusal { status, headers, url: url.clone(), generation }
}

/// A token endpoint that numbers its tokens.
pub(crate) fn numbered(counter: &Counter, expires_in: u64) -> Response {
    let number = counter.next();
    ok(json!({
        "access_token": format!("token-{number}"), "token_type": "Bearer", "expires_in": expires_in,
    }))
}
