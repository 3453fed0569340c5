//! HTTPS with certificate files. A handshake that hangs delays no other client.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::HttpError;
use crate::settings::Settings;

const LONGEST_HANDSHAKE: Duration = Duration::from_secs(10);
const MOST_WAITING: usize = 128;

/// The certificate and key of the settings.
pub(super) fn config(settings: &Settings) -> Result<Option<Arc<rustls::ServerConfig>>, HttpError> {
    let (cert, key) = match (&settings.tls_cert, &settings.tls_key) {
        (None, None) => return Ok(None),
        (Some(cert), Some(key)) => (cert, key),
        (Some(path), None) | (None, Some(path)) => {
            let why = "both tlsCert and tlsKey are required".to_owned();
            return Err(HttpError::Tls { path: path.clone(), why });
        }
    };
    let wrong = |path: &Path, why: String| HttpError::Tls { path: path.to_owned(), why };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect)
        .map_err(|error| wrong(cert, error.to_string()))?;
    let private =
        PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(cert, error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| wrong(cert, error.to_string()))?;
    Ok(Some(Arc::new(config)))
}

/// Accepts connections and completes their handshakes.
pub(super) struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    local: std::io::Result<SocketAddr>,
}

impl TlsListener {
    pub(super) fn new(listener: TcpListener, config: Arc<rustls::ServerConfig>) -> Self {
        let local = listener.local_addr();
        let (sender, ready) = mpsc::channel(MOST_WAITING);
        tokio::spawn(accept(listener, TlsAcceptor::from(config), sender));
        Self { ready, local }
    }
}

async fn accept(
    listener: TcpListener,
    acceptor: TlsAcceptor,
    ready: mpsc::Sender<(TlsStream<TcpStream>, SocketAddr)>,
) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = ready.closed() => return,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let (acceptor, ready) = (acceptor.clone(), ready.clone());
        tokio::spawn(async move {
            if let Ok(Ok(stream)) =
                tokio::time::timeout(LONGEST_HANDSHAKE, acceptor.accept(stream)).await
            {
                let _ = ready.send((stream, peer)).await;
            }
        });
    }
}

impl axum::serve::Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(accepted) => accepted,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<Self::Addr> {
        match &self.local {
            Ok(address) => Ok(*address),
            Err(error) => Err(std::io::Error::from(error.kind())),
        }
    }
}
