//! Limits the addresses that a server under test may send us to.
//!
//! A server on the internet that names an issuer on this machine or in the local network would make us send requests
//! there. So everything that a server names must be at least as far away as the server itself.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::OnceCell;
use url::{Host, Url};

use crate::zone::{Zone, is_local};

const TOO_NEAR: &str =
    "the server sends us to this machine or its local network, although it is farther away itself";

/// The addresses that the server under test may name.
#[derive(Debug)]
pub(crate) struct Boundary {
    server: Host,
    zone: OnceCell<Zone>,
    /// The host names that the server named, whose addresses are checked. Other names, such as that of a proxy or of a
    /// URL in the suite, come from the user.
    named: Mutex<HashSet<String>>,
}

impl Boundary {
    pub(crate) fn around(server: &Url) -> Arc<Self> {
        let host = server.host().map(|host| host.to_owned());
        let server = host.unwrap_or_else(|| Host::Domain(String::new()));
        Arc::new(Self { server, zone: OnceCell::new(), named: Mutex::default() })
    }

    /// Whether the server may send us to `url`; the addresses of a host name are checked when it is resolved for the
    /// connection.
    pub(crate) async fn check(&self, url: &Url) -> Result<(), &'static str> {
        let host = url.host().map(|host| host.to_owned());
        let zone = match host {
            Some(host) if host == self.server => return Ok(()),
            Some(Host::Ipv4(address)) => Zone::of_v4(address),
            Some(Host::Ipv6(address)) => Zone::of_v6(address),
            Some(Host::Domain(name)) if is_local(&name) => Zone::Machine,
            Some(Host::Domain(name)) => {
                self.named.lock().unwrap_or_else(PoisonError::into_inner).insert(name);
                return Ok(());
            }
            None => return Err("it has no host"),
        };
        if zone < self.zone().await { Err(TOO_NEAR) } else { Ok(()) }
    }

    /// The distance of the server under test; a server that cannot be resolved counts as public.
    async fn zone(&self) -> Zone {
        let find = async || match &self.server {
            Host::Ipv4(address) => Zone::of_v4(*address),
            Host::Ipv6(address) => Zone::of_v6(*address),
            Host::Domain(name) if is_local(name) => Zone::Machine,
            // The farthest address counts: the owner of the name could add a near one.
            Host::Domain(name) => match tokio::net::lookup_host((name.as_str(), 0)).await {
                Ok(found) => found.map(|found| Zone::of(found.ip())).max().unwrap_or(Zone::Public),
                Err(_) => Zone::Public,
            },
        };
        *self.zone.get_or_init(find).await
    }

    fn is_named(&self, name: &str) -> bool {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }

    async fn far_enough(&self, name: &str, found: Vec<SocketAddr>) -> Result<Addrs, &'static str> {
        if !self.is_named(name) {
            return Ok(Box::new(found.into_iter()));
        }
        let zone = self.zone().await;
        let far: Vec<_> = found.into_iter().filter(|found| Zone::of(found.ip()) >= zone).collect();
        if far.is_empty() { Err(TOO_NEAR) } else { Ok(Box::new(far.into_iter())) }
    }
}

/// The resolver for hosts that the server names.
pub(crate) struct Resolver(pub(crate) Arc<Boundary>);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let boundary = Arc::clone(&self.0);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(boundary.far_enough(name.as_str(), found).await?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn may_name(server: &str, url: &str) -> bool {
        Boundary::around(&server.parse().unwrap()).check(&url.parse().unwrap()).await.is_ok()
    }

    const REMOTE: &str = "https://8.8.8.8/mcp";

    #[tokio::test]
    async fn a_remote_server_cannot_send_us_to_this_machine_or_its_network() {
        for near in [
            "https://127.0.0.1/",
            "https://127.9.9.9:8443/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://localhost/",
            "https://LOCALHOST./",
            "https://a.localhost/",
            "https://0.0.0.0/",
            "https://169.254.169.254/",
            "https://10.0.0.1/",
            "https://172.31.0.1/",
            "https://192.168.1.1/",
            "https://100.100.0.1/",
            "https://224.0.0.1/",
            "https://255.255.255.255/",
            "https://[::1]/",
            "https://[::]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::127.0.0.1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://[2002:7f00:1::]/",
            "https://[fe80::1]/",
            "https://[fd00::1]/",
            "https://[fec0::1]/",
            "https://[ff02::1]/",
        ] {
            assert!(!may_name(REMOTE, near).await, "{near}");
        }
        for far in ["https://9.9.9.9/", "https://[2620:fe::fe]/", "https://as.example/"] {
            assert!(may_name(REMOTE, far).await, "{far}");
        }
        // A name that does not exist (RFC 6761) counts as far away.
        assert!(!may_name("https://mcp.invalid/mcp", "https://127.0.0.1/").await);
    }

    #[tokio::test]
    async fn a_near_server_may_name_what_is_as_near_and_farther() {
        for (server, named, allowed) in [
            ("http://127.0.0.1:1/mcp", "http://localhost:2/", true),
            ("http://localhost:1/mcp", "https://10.0.0.1/", true),
            ("http://[::1]:1/mcp", "https://as.example/", true),
            ("https://10.1.1.1/mcp", "https://192.168.0.1/", true),
            ("https://10.1.1.1/mcp", "https://10.1.1.1:8443/", true),
            ("https://10.1.1.1/mcp", "https://127.0.0.1/", false),
            ("https://10.1.1.1/mcp", "https://169.254.169.254/", false),
            ("https://10.1.1.1/mcp", "https://9.9.9.9/", true),
        ] {
            assert_eq!(may_name(server, named).await, allowed, "{server} names {named}");
        }
    }

    #[tokio::test]
    async fn a_name_that_a_remote_server_gives_to_a_near_address_does_not_help_it() {
        let boundary = Boundary::around(&REMOTE.parse().unwrap());
        let near: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let far: SocketAddr = "9.9.9.9:0".parse().unwrap();
        boundary.check(&"https://rebound.example/".parse().unwrap()).await.unwrap();
        let resolve = async |name, found| {
            boundary.far_enough(name, found).await.map(Iterator::collect::<Vec<_>>)
        };
        assert_eq!(resolve("rebound.example", vec![near]).await, Err(TOO_NEAR));
        assert_eq!(resolve("rebound.example", vec![near, far]).await, Ok(vec![far]));
        assert_eq!(resolve("proxy.example", vec![near]).await, Ok(vec![near]), "named by the user");
    }

    #[tokio::test]
    async fn the_client_connects_to_no_near_address_of_a_name_that_a_remote_server_gave() {
        let server: Url = REMOTE.parse().unwrap();
        let boundary = Boundary::around(&server);
        // The only name with a near address on every machine, used like any other name here.
        boundary.named.lock().unwrap().insert("localhost".to_owned());
        let builder = crate::net::builder(std::time::Duration::from_secs(5), &server).no_proxy();
        let client = builder.dns_resolver(Resolver(boundary)).build().unwrap();
        let error = client.get("https://localhost:9/").send().await.unwrap_err();
        let why = crate::net::chain(&error);
        assert!(why.contains(TOO_NEAR), "{why}");
    }
}
