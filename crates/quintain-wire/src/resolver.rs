//! Finds the addresses of names for a client that may not go everywhere, and leaves out those that it may not reach.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::destination::{Destinations, NotAllowed};

/// A resolver that looks at what names lead to.
pub(crate) struct CheckedResolver {
    destinations: Destinations,
    /// Finds the addresses; that of the system if absent.
    inner: Option<Arc<dyn Resolve>>,
    /// The names of requests. Others, such as that of a proxy, belong to whoever runs this process.
    checked: Mutex<HashSet<String>>,
}

impl std::fmt::Debug for CheckedResolver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckedResolver")
            .field("destinations", &self.destinations)
            .finish_non_exhaustive()
    }
}

impl CheckedResolver {
    pub(crate) fn new(destinations: Destinations, inner: Option<Arc<dyn Resolve>>) -> Self {
        Self { destinations, inner, checked: Mutex::default() }
    }

    /// From now on, the addresses of this name are looked at.
    pub(crate) fn checks(&self, name: &str) {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if !checked.contains(name) {
            checked.insert(name.to_owned());
        }
    }

    fn is_checked(&self, name: &str) -> bool {
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    }
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let text = name.as_str().to_owned();
        let finding = self.inner.as_ref().map(|inner| inner.resolve(name));
        let destinations = self.destinations.clone();
        let is_checked = self.is_checked(&text);
        Box::pin(async move {
            let found: Addrs = if let Some(finding) = finding {
                finding.await?
            } else {
                let found = tokio::net::lookup_host((text.as_str(), 0)).await?;
                Box::new(found.collect::<Vec<_>>().into_iter())
            };
            if !is_checked {
                return Ok(found);
            }
            Ok(Box::new(allowed(&destinations, &text, found)?.into_iter()) as Addrs)
        })
    }
}

/// The addresses of a name that may be reached.
fn allowed(
    destinations: &Destinations,
    name: &str,
    found: impl Iterator<Item = SocketAddr>,
) -> Result<Vec<SocketAddr>, NotAllowed> {
    let (mut allowed, mut refused) = (Vec::new(), None);
    for one in found {
        match destinations.check_resolved(name, one.ip()) {
            Ok(()) => allowed.push(one),
            Err(error) => refused = Some(error),
        }
    }
    match refused {
        Some(error) if allowed.is_empty() => Err(error),
        _ => Ok(allowed),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::net::{self, Client};

    /// Every name leads to this machine.
    struct Here;

    impl Resolve for Here {
        fn resolve(&self, _: Name) -> Resolving {
            let here: SocketAddr = "127.0.0.1:0".parse().unwrap();
            Box::pin(async move { Ok(Box::new(std::iter::once(here)) as Addrs) })
        }
    }

    async fn reaches(list: &[&str], name: &str, port: u16) -> Result<(), String> {
        let list: Vec<_> = list.iter().map(|text| text.parse().unwrap()).collect();
        let url: url::Url = format!("http://{name}:{port}/").parse().unwrap();
        let builder = net::builder(Duration::from_secs(5), &url).no_proxy();
        let destinations = Destinations::only(&list);
        let client = Client::build(builder, &destinations, Some(Arc::new(Here))).unwrap();
        let sent = client.send(client.request(http::Method::GET, url)).await;
        sent.map(drop).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_name_that_is_made_to_lead_here_is_not_connected_to() {
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        socket.set_nonblocking(true).unwrap();
        let port = socket.local_addr().unwrap().port();
        let why = reaches(&["rebound.example"], "rebound.example", port).await.unwrap_err();
        assert!(
            why.contains("does not allow the address `127.0.0.1`, which `rebound.example`"),
            "{why}"
        );
        assert!(socket.accept().is_err(), "nobody has connected");
        // Whoever allows both gets both: something connects, and nothing answers.
        let both = reaches(&["rebound.example", "loopback"], "rebound.example", port);
        assert!(tokio::time::timeout(Duration::from_millis(200), both).await.is_err());
        assert!(socket.accept().is_ok());
    }
}
