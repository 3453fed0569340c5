//! Refuses requests that a web page sends to a server on this machine under a name of its own (DNS rebinding).

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use http::header::{HOST, ORIGIN};
use http::uri::Authority;

use crate::zone::is_local;

/// Which requests are accepted.
#[derive(Debug, Clone, Copy)]
pub struct Guard {
    /// Only names and addresses of this machine are accepted as `Host`.
    only_local_names: bool,
    /// A page of another origin must not use credentials that the proxy adds.
    only_local_pages: bool,
}

impl Guard {
    /// For a server at this address. The server behind a proxy checks `Origin` itself, unless the proxy adds credentials.
    pub fn new(listening: SocketAddr, adds_credentials: bool) -> Self {
        let only_local_names = listening.ip().is_loopback();
        Self { only_local_names, only_local_pages: only_local_names && adds_credentials }
    }

    /// # Errors
    /// The reason to refuse the request.
    pub fn check(self, headers: &HeaderMap) -> Result<(), &'static str> {
        let hosts = headers.get_all(HOST).iter();
        let is_local_host =
            |value: &http::HeaderValue| value.to_str().is_ok_and(is_local_authority);
        if self.only_local_names && !hosts.into_iter().all(is_local_host) {
            return Err("the header `Host` does not name this machine");
        }
        let is_local_page = |value: &http::HeaderValue| {
            let origin = value.to_str().unwrap_or_default();
            let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
            is_local_authority(authority)
        };
        if self.only_local_pages && !headers.get_all(ORIGIN).iter().all(is_local_page) {
            return Err("the header `Origin` names another machine");
        }
        Ok(())
    }
}

fn is_local_authority(text: &str) -> bool {
    let Ok(authority) = text.parse::<Authority>() else { return false };
    let host = authority.host();
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    match bare.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => is_local(&bare.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(guard: Guard, name: &'static str, value: &str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        guard.check(&headers).is_ok()
    }

    #[test]
    fn only_names_of_this_machine_reach_a_local_server() {
        let guard = Guard::new("127.0.0.1:80".parse().unwrap(), false);
        for host in [
            "localhost:80",
            "LOCALHOST",
            "127.0.0.1:1",
            "[::1]:80",
            "a.localhost",
            "[::ffff:127.0.0.1]",
        ] {
            assert!(accepts(guard, "host", host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "10.0.0.1", "", "0.0.0.0"] {
            assert!(!accepts(guard, "host", host), "{host}");
        }
        assert!(accepts(guard, "origin", "https://evil.example"), "the server decides");
        assert!(guard.check(&HeaderMap::new()).is_ok());
        let open = Guard::new("0.0.0.0:80".parse().unwrap(), true);
        assert!(accepts(open, "host", "evil.example"));
    }

    #[test]
    fn pages_of_other_origins_cannot_use_credentials_of_the_proxy() {
        let guard = Guard::new("[::1]:80".parse().unwrap(), true);
        assert!(accepts(guard, "origin", "http://localhost:6274"));
        for origin in ["https://evil.example", "null", "file://"] {
            assert!(!accepts(guard, "origin", origin), "{origin}");
        }
    }
}
