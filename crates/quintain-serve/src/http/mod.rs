//! The server over HTTP: streamable HTTP at `/mcp`, HTTP+SSE at `/mcp/sse`, and what operators of a server need.

mod answers;
mod call_scope;
mod connections;
mod gate;
mod guard;
mod messages;
mod sse;
mod state;
mod tls;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get};
use axum::serve::ListenerExt as _;
use axum::{Router, middleware};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{
    SessionManager as _, StreamableHttpServerConfig, StreamableHttpService,
};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::state::HttpState;
use crate::auth::{ExternalIssuer, IssuerError, KeyError, Verifier, oauth};
use crate::principal::Principal;
use crate::server::{Connection, Server};

/// How long open connections may take to close when the server stops.
const LONGEST_FAREWELL: Duration = Duration::from_secs(3);

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("cannot listen on {address}: {source}")]
    Bind { address: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error(transparent)]
    Issuer(#[from] IssuerError),
    #[error("cannot use the certificate {path}: {why}")]
    Tls { path: PathBuf, why: String },
    #[error("the HTTP server failed: {0}")]
    Serve(#[from] std::io::Error),
}

/// A server that listens.
pub struct Listening {
    listener: TcpListener,
    tls: Option<Arc<rustls::ServerConfig>>,
    state: Arc<HttpState>,
}

type Streamable = StreamableHttpService<Connection, LocalSessionManager>;

/// Opens the port, the keys and the certificate.
///
/// # Errors
/// If one of them cannot be used.
pub async fn listen(server: Arc<Server>, keys: &std::path::Path) -> Result<Listening, HttpError> {
    let settings = server.settings();
    let address = settings.address;
    let tls = tls::config(settings)?;
    let listener =
        TcpListener::bind(address).await.map_err(|source| HttpError::Bind { address, source })?;
    let local = listener.local_addr().map_err(|source| HttpError::Bind { address, source })?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let base_url =
        settings.public_url.clone().unwrap_or_else(|| format!("{scheme}://{}", reachable(local)));
    let external = match &settings.issuer {
        Some(issuer) => {
            let own = vec![format!("{base_url}/mcp"), base_url.clone()];
            let audiences = settings.audience.clone().map_or(own, |audience| vec![audience]);
            Some(Arc::new(ExternalIssuer::new(issuer, audiences)?))
        }
        None => None,
    };
    let verifier = Arc::new(Verifier::open(keys, &base_url, external)?);
    let provider = oauth::Provider::open(keys, Arc::clone(&verifier), settings);
    let state = HttpState::new(Arc::clone(&server), verifier, Arc::new(provider), local);
    Ok(Listening { listener, tls, state: Arc::new(state) })
}

/// The address as a client on this machine writes it.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip([127, 0, 0, 1].into());
    }
    address
}

impl Listening {
    /// The URL of the streamable HTTP endpoint.
    pub fn url(&self) -> String {
        self.state.verifier.resource()
    }

    /// The URL of the HTTP+SSE endpoint.
    pub fn sse_url(&self) -> String {
        format!("{}{}", self.state.verifier.base_url(), self.state.settings().sse_endpoint)
    }

    /// Serves until `stop` is true.
    ///
    /// # Errors
    /// If the port fails.
    pub async fn serve(self, stop: watch::Receiver<bool>) -> Result<(), HttpError> {
        let Self { listener, tls, state } = self;
        // The guard of the app checks Host and Origin for all routes, so rmcp does not.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(state.settings().max_body_size);
        let streams = config.cancellation_token.clone();
        let sessions = Arc::new(LocalSessionManager::default());
        let streamable = streamable(&state, Arc::clone(&sessions), config);
        let app = app(&state, streamable, streams.clone());
        let server = Arc::clone(&state.server);
        let stopped = {
            let stop = stop.clone();
            async move {
                until(stop).await;
                server.stop();
                streams.cancel();
                let ids: Vec<_> = sessions.sessions.read().await.keys().cloned().collect();
                for id in ids {
                    let _ = sessions.close_session(&id).await;
                }
            }
        };
        let too_long = async {
            until(stop).await;
            tokio::time::sleep(LONGEST_FAREWELL).await;
        };
        // Responses are written in several small pieces; without this, each waits for an acknowledgement.
        let serving = async {
            if let Some(tls) = tls {
                let listener = tls::TlsListener::new(listener, tls);
                return connections::serve(listener, app, stopped).await;
            }
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            connections::serve(listener, app, stopped).await;
        };
        tokio::select! {
            () = serving => {}
            () = too_long => {}
        }
        state.server.finished().await;
        Ok(())
    }
}

async fn until(mut stop: watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

fn streamable(
    state: &HttpState,
    sessions: Arc<LocalSessionManager>,
    config: StreamableHttpServerConfig,
) -> Streamable {
    let server = Arc::clone(&state.server);
    // Every request carries its principal. One without it is nobody.
    let nobody = Principal {
        owner: String::new(),
        operator: false,
        scopes: std::collections::BTreeSet::new(),
    };
    let connect = move || Ok(Connection::new(Arc::clone(&server), nobody.clone()));
    Streamable::new(connect, sessions, config)
}

fn app(state: &Arc<HttpState>, streamable: Streamable, streams: CancellationToken) -> Router {
    let hub = Arc::new(sse::Hub::new(Arc::clone(state), streams));
    let sse_endpoint = state.settings().sse_endpoint.clone();
    let both = {
        let streamable = streamable.clone();
        any(move |request: Request| {
            let (hub, streamable) = (Arc::clone(&hub), streamable.clone());
            async move {
                let has_session = request.headers().contains_key("mcp-session-id");
                match *request.method() {
                    Method::GET if !has_session => {
                        sse::open(&hub, request.extensions().get().cloned())
                    }
                    Method::POST if sse::session_id(&request).is_some() => {
                        sse::message(&hub, request).await
                    }
                    _ => into_response(streamable, request).await,
                }
            }
        })
    };
    let only = any(move |request: Request| into_response(streamable.clone(), request));
    let protocol = Router::new()
        .route("/mcp", only)
        .route(&sse_endpoint, both)
        .layer(middleware::from_fn_with_state(Arc::clone(state), messages::layer))
        .layer(middleware::from_fn_with_state(Arc::clone(state), gate::layer));
    let operation = Router::new()
        .route("/health", get(|| async { axum::Json(serde_json::json!({"status": "ok"})) }))
        .route("/ready", get(ready))
        .route("/metrics", get(metrics))
        .with_state(Arc::clone(state));
    Router::new()
        .merge(protocol)
        .merge(operation)
        .merge(oauth::routes(Arc::clone(&state.provider)))
        .layer(middleware::from_fn_with_state(Arc::clone(state), guard::layer))
}

async fn into_response(mut streamable: Streamable, request: Request) -> Response {
    use tower_service::Service as _;
    match streamable.call(request).await {
        Ok(response) => response.map(axum::body::Body::new),
        Err(never) => match never {},
    }
}

/// Whether the store answers.
async fn ready(State(state): State<Arc<HttpState>>) -> Response {
    let is_ready = state.server.platform.store.path().exists();
    if is_ready {
        axum::Json(serde_json::json!({"status": "ready"})).into_response()
    } else {
        let body =
            axum::Json(serde_json::json!({"status": "not ready", "why": "the store is missing"}));
        (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
    }
}

/// Open to every program of this machine if the server listens on loopback; elsewhere it needs a token, like everything else.
async fn metrics(State(state): State<Arc<HttpState>>, headers: HeaderMap) -> Response {
    let needs_token = state.settings().require_auth && !state.address.ip().is_loopback();
    if needs_token && !gate::is_authenticated(&state, &headers).await {
        let why = "a token is required".to_owned();
        return answers::unauthorized(state.verifier.base_url(), None, &why);
    }
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    (kind, state.server.counters.prometheus()).into_response()
}
