//! Protection against web pages that reach a local server through the user's browser.

use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use url::{Host, Url};

use crate::config::Twin;

/// Knows which Host and Origin belong to this server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guard {
    twin: Twin,
    addr: SocketAddr,
}

impl Guard {
    pub(super) fn new(twin: Twin, addr: SocketAddr) -> Self {
        Self { twin, addr }
    }

    fn admits(self, headers: &HeaderMap) -> bool {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or_default());
        let host_is_ours =
            text(header::HOST).is_some_and(|host| self.is_ours(&format!("http://{host}")));
        let origin_is_ours = text(header::ORIGIN).is_none_or(|origin| self.is_ours(origin));
        host_is_ours && origin_is_ours
    }

    fn is_ours(self, origin: &str) -> bool {
        let Ok(url) = Url::parse(origin) else { return false };
        let is_our_host = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => ip.is_loopback() || IpAddr::V4(ip) == self.addr.ip(),
            Some(Host::Ipv6(ip)) => ip.is_loopback() || IpAddr::V6(ip) == self.addr.ip(),
            None => false,
        };
        let is_our_port = url.port_or_known_default() == Some(self.addr.port());
        url.scheme() == "http" && is_our_host && is_our_port
    }
}

pub(super) async fn layer(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    // PLANTED (http-host-origin): any page that can resolve a name to this machine may call.
    if guard.twin.is_vulnerable() || guard.admits(request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "host or origin not allowed").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_and_this_port_are_ours() {
        let guard = Guard::new(Twin::Patched, "127.0.0.1:4000".parse().unwrap());
        for (host, origin, expected) in [
            ("127.0.0.1:4000", None, true),
            ("localhost:4000", Some("http://localhost:4000"), true),
            ("localhost:4001", None, false),
            ("evil.example:4000", None, false),
            ("127.0.0.1:4000", Some("http://evil.example"), false),
            ("127.0.0.1:4000", Some("null"), false),
            ("127.0.0.1:4000", Some("http://localhost.evil.example:4000"), false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            assert_eq!(guard.admits(&headers), expected, "{host} {origin:?}");
        }
    }
}
