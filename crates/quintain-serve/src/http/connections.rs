//! Accepts connections and serves them. A client that sends no complete request is disconnected after a time limit, and the
//! number of connections without an authenticated request is limited: the oldest of them makes room for a new one, so that
//! nobody can keep others out by holding connections open.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use crate::peer::Peer;

/// How long a client may take for the head of a request, and how long a connection may be idle.
const LONGEST_HEAD: Duration = Duration::from_secs(15);
/// Connections without an authenticated request, unless the process may open few files.
const MOST_STRANGERS: usize = 512;

/// Serves connections until `stopped`; then each ends after its request.
pub(super) async fn serve<L>(mut listener: L, app: Router, stopped: impl Future<Output = ()>)
where
    L: Listener<Addr = SocketAddr>,
{
    let ending = CancellationToken::new();
    let mut strangers = Strangers { limit: limit(), peers: VecDeque::new() };
    let mut connections = tokio::task::JoinSet::new();
    tokio::pin!(stopped);
    loop {
        let (io, address) = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stopped => break,
            Some(_) = connections.join_next() => continue,
        };
        let peer = Arc::new(Peer::new(address));
        strangers.add(&peer);
        connections.spawn(connection(io, app.clone(), peer, ending.clone()));
    }
    drop(listener);
    ending.cancel();
    while connections.join_next().await.is_some() {}
}

async fn connection<I>(io: I, app: Router, peer: Arc<Peer>, ending: CancellationToken)
where
    I: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let service = {
        let peer = Arc::clone(&peer);
        service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(Arc::clone(&peer));
            app.clone().call(request)
        })
    };
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(LONGEST_HEAD);
    let served = builder.serve_connection(TokioIo::new(io), service);
    tokio::pin!(served);
    tokio::select! {
        // A client that disconnects or sends no HTTP is no event.
        _ = &mut served => return,
        () = peer.closed.cancelled() => return,
        () = ending.cancelled() => served.as_mut().graceful_shutdown(),
    }
    let _ = served.await;
}

/// Connections without an authenticated request, oldest first.
struct Strangers {
    limit: usize,
    peers: VecDeque<Weak<Peer>>,
}

impl Strangers {
    fn add(&mut self, peer: &Arc<Peer>) {
        if self.peers.len() >= self.limit {
            self.peers.retain(|peer| peer.upgrade().is_some_and(|peer| !peer.is_known()));
        }
        while self.peers.len() >= self.limit {
            let oldest = self.peers.pop_front().and_then(|peer| peer.upgrade());
            if let Some(peer) = oldest {
                peer.closed.cancel();
            }
        }
        self.peers.push_back(Arc::downgrade(peer));
    }
}

/// At most a third of the files that the process may open.
fn limit() -> usize {
    let text = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("Max open files"));
    let files = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    files.map_or(MOST_STRANGERS, |files| (files / 3).clamp(8, MOST_STRANGERS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_stranger_makes_room_and_known_clients_stay() {
        let peer = || Arc::new(Peer::new(([127, 0, 0, 1], 1).into()));
        let mut strangers = Strangers { limit: 2, peers: VecDeque::new() };
        let all: Vec<_> = (0..4).map(|_| peer()).collect();
        strangers.add(&all[0]);
        all[0].recognise();
        for peer in &all[1..] {
            strangers.add(peer);
        }
        let closed: Vec<bool> = all.iter().map(|peer| peer.closed.is_cancelled()).collect();
        assert_eq!(closed, [false, true, false, false]);
    }
}
