//! The other end of a connection, as requests know it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio_util::sync::CancellationToken;

/// Who opened a connection, and whether a request on it was authenticated.
#[derive(Debug)]
pub struct Peer {
    pub address: SocketAddr,
    is_known: AtomicBool,
    /// Closes the connection.
    pub closed: CancellationToken,
}

impl Peer {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, is_known: AtomicBool::new(false), closed: CancellationToken::new() }
    }

    /// A request of this connection was authenticated.
    pub fn recognise(&self) {
        self.is_known.store(true, Ordering::Relaxed);
    }

    pub fn is_known(&self) -> bool {
        self.is_known.load(Ordering::Relaxed)
    }
}
