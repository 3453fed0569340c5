//! The demo over HTTP: streamable HTTP at `/mcp`, the older HTTP+SSE at `/sse` and `/mcp/sse`.

mod guard;
mod sse;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Router, middleware,
    routing::{any_service, get, post},
    serve::ListenerExt,
};
use rmcp::transport::streamable_http_server::{
    SessionManager, StreamableHttpServerConfig, StreamableHttpService,
    session::local::LocalSessionManager,
};
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use self::guard::Guard;
use crate::{
    auth::{self, Gate, oauth},
    config::{Auth, DemoConfig},
    error::DemoError,
    session::Demo,
    tools,
};

/// How long open connections may take to close when the server stops.
const LONGEST_FAREWELL: Duration = Duration::from_secs(1);

/// A running server. It stops when this is dropped.
pub struct Running {
    addr: SocketAddr,
    gate: Arc<Gate>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Running {
    /// The address that the server listens on, with the actual port.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The URL of the streamable HTTP endpoint.
    pub fn url(&self) -> String {
        format!("{}/mcp", base_url(self.addr))
    }

    /// The URL of the HTTP+SSE endpoint.
    pub fn sse_url(&self) -> String {
        format!("{}/sse", base_url(self.addr))
    }

    /// The number of requests to the OAuth token endpoint so far.
    pub fn token_requests(&self) -> u64 {
        self.gate.oauth.token_requests()
    }

    /// Revokes every issued OAuth access token, without notifying its owner.
    pub fn revoke_access_tokens(&self) {
        self.gate.oauth.revoke_access_tokens();
    }

    /// Waits until the server stops by itself, which happens only if it fails.
    pub async fn wait(&mut self) -> Result<(), DemoError> {
        Ok((&mut self.task).await?)
    }

    /// Ends all sessions, waits briefly for connections to close, and removes the data.
    pub async fn shutdown(mut self) -> Result<(), DemoError> {
        self.stop.send_replace(true);
        Ok((&mut self.task).await?)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

/// Starts the demo on [`DemoConfig::bind`] and returns as soon as it listens.
pub async fn serve_http(config: DemoConfig) -> Result<Running, DemoError> {
    let cannot_bind = |source| DemoError::Bind { address: config.bind, source };
    let listener = TcpListener::bind(config.bind).await.map_err(cannot_bind)?;
    let addr = listener.local_addr().map_err(cannot_bind)?;
    let demo = Demo::open(&config, tools::router(config.twin)).await?;
    let gate = Arc::new(Gate::new(&config, base_url(addr)));
    let (stop, stopping) = watch::channel(false);

    // The guard in the app checks Host and Origin for all routes, so rmcp does not.
    let settings = StreamableHttpServerConfig::default().disable_allowed_hosts();
    let streams = settings.cancellation_token.clone();
    let sessions = Arc::new(LocalSessionManager::default());
    let demo = Arc::new(demo);
    let app = app(
        &config,
        addr,
        &gate,
        streamable(Arc::clone(&demo), Arc::clone(&sessions), settings),
        Arc::new(sse::Hub::new(Arc::clone(&demo), Arc::clone(&gate), stopping.clone())),
    );
    // Responses are written in several small pieces. Without this, each would wait for the peer's
    // acknowledgement, about forty milliseconds.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    let task = tokio::spawn(async move {
        let stopped = {
            let stopping = stopping.clone();
            async move {
                until(stopping).await;
                streams.cancel();
                // Ending the streams leaves their sessions alive, so they end one by one.
                let ids: Vec<_> = sessions.sessions.read().await.keys().cloned().collect();
                for id in ids {
                    let _ = sessions.close_session(&id).await;
                }
            }
        };
        let too_long = async {
            until(stopping).await;
            tokio::time::sleep(LONGEST_FAREWELL).await;
        };
        let serving = axum::serve(listener, app).with_graceful_shutdown(stopped).into_future();
        tokio::select! {
            served = serving => if let Err(error) = served {
                tracing::error!(%error, "the HTTP server failed");
            },
            () = too_long => tracing::debug!("some connections did not close in time"),
        }
        demo.store().close().await;
    });
    Ok(Running { addr, gate, stop, task })
}

/// Waits for the signal to stop, or until the handle is dropped.
async fn until(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stopping| *stopping).await;
}

type Streamable = StreamableHttpService<Demo, LocalSessionManager>;

fn streamable(
    demo: Arc<Demo>,
    sessions: Arc<LocalSessionManager>,
    settings: StreamableHttpServerConfig,
) -> Streamable {
    Streamable::new(move || Ok(demo.session(demo.caller().clone())), sessions, settings)
}

fn app(
    config: &DemoConfig,
    addr: SocketAddr,
    gate: &Arc<Gate>,
    streamable: Streamable,
    hub: Arc<sse::Hub>,
) -> Router {
    let sse = Router::new()
        .route("/sse", get(sse::open))
        .route("/mcp/sse", get(sse::open))
        .route("/messages", post(sse::message))
        .with_state(hub);
    let mut app = Router::new()
        .route("/mcp", any_service(streamable))
        .merge(sse)
        .layer(middleware::from_fn_with_state(Arc::clone(gate), auth::layer));
    if config.auth == Auth::OAuth {
        app = app.merge(oauth::routes().with_state(Arc::clone(gate)));
    }
    app.layer(middleware::from_fn_with_state(Guard::new(config.twin, addr), guard::layer))
}

/// The URL of the server as a client on this machine writes it.
fn base_url(addr: SocketAddr) -> String {
    let mut addr = addr;
    if addr.ip().is_unspecified() {
        addr.set_ip(IpAddr::from([127, 0, 0, 1]));
    }
    format!("http://{addr}")
}
