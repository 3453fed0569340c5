//! Which hosts and ports may be reached. The text of the URL decides: names are compared as names, and are not
//! resolved.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// One entry of the list: `example.com`, `example.com:8443`, `*.example.com`, `192.0.2.1:80`, `[::1]:80`,
/// `loopback` (every name and address of this machine's loopback), `loopback:8080` or `*:443`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Destination {
    host: HostPattern,
    /// Any port if absent.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum HostPattern {
    Any,
    Loopback,
    Address(IpAddr),
    Name(String),
    /// Every name that ends with a dot and this.
    Below(String),
}

/// A text that is not a valid entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid destination: expected HOST or HOST:PORT")]
pub struct BadDestination(String);

/// A request to a destination that is not in the list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the policy of this run does not allow the address `{0}`: add it to `addresses`")]
pub struct NotAllowed(pub String);

/// The allowed destinations of requests.
#[derive(Debug, Clone, Default)]
pub struct Destinations(Option<Arc<[Destination]>>);

impl Destinations {
    /// Allows every destination.
    pub fn everywhere() -> Self {
        Self(None)
    }

    /// Allows only the destinations in the list.
    pub fn only(list: &[Destination]) -> Self {
        Self(Some(list.into()))
    }

    /// # Errors
    /// When no entry matches the host and port of the URL.
    pub fn check(&self, url: &Url) -> Result<(), NotAllowed> {
        let host = url.host().map(|host| host.to_owned());
        self.check_host(host, url.port_or_known_default())
    }

    /// The same for a host and port, such as an address to listen on.
    ///
    /// # Errors
    /// When no entry matches.
    pub fn check_pair(&self, host: &str, port: u16) -> Result<(), NotAllowed> {
        let parsed = match host.parse() {
            Ok(IpAddr::V4(address)) => Host::Ipv4(address),
            Ok(IpAddr::V6(address)) => Host::Ipv6(address),
            Err(_) => Host::Domain(host.to_owned()),
        };
        self.check_host(Some(parsed), Some(port))
    }

    fn check_host(&self, host: Option<Host>, port: Option<u16>) -> Result<(), NotAllowed> {
        let Some(list) = &self.0 else { return Ok(()) };
        // A URL without a host or a port matches no entry.
        let (Some(host), Some(port)) = (host, port) else {
            return Err(NotAllowed("an address without a host".to_owned()));
        };
        let shown = format!("{host}:{port}");
        let host = Asked::of(host);
        let named = list.iter().any(|one| {
            one.port.is_none_or(|allowed| allowed == port) && host.is_named_by(&one.host)
        });
        if named { Ok(()) } else { Err(NotAllowed(shown)) }
    }
}

/// The host of a request, normalised for comparison.
enum Asked {
    Address(IpAddr),
    Name(String),
}

impl Asked {
    fn of(host: Host) -> Self {
        match host {
            Host::Ipv4(address) => Self::Address(address.into()),
            // `::ffff:127.0.0.1` is 127.0.0.1 written differently.
            Host::Ipv6(address) => Self::Address(IpAddr::V6(address).to_canonical()),
            Host::Domain(name) => Self::Name(plain(&name)),
        }
    }

    fn is_named_by(&self, pattern: &HostPattern) -> bool {
        match (pattern, self) {
            (HostPattern::Any, _) => true,
            (HostPattern::Loopback, Self::Address(address)) => address.is_loopback(),
            (HostPattern::Loopback, Self::Name(name)) => {
                name == "localhost" || name.ends_with(".localhost")
            }
            (HostPattern::Address(known), Self::Address(address)) => known == address,
            (HostPattern::Name(known), Self::Name(name)) => known == name,
            (HostPattern::Below(above), Self::Name(name)) => {
                name.strip_suffix(above.as_str()).is_some_and(|front| front.ends_with('.'))
            }
            (HostPattern::Address(_) | HostPattern::Name(_) | HostPattern::Below(_), _) => false,
        }
    }
}

/// A name in lower case, without a trailing dot.
fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

impl FromStr for Destination {
    type Err = BadDestination;

    fn from_str(text: &str) -> Result<Self, BadDestination> {
        let bad = || BadDestination(text.to_owned());
        let (host, port) = match text.rsplit_once(':') {
            // IPv6 addresses are in brackets, so a colon after the brackets starts a port.
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| bad())?))
            }
            _ => (text, None),
        };
        let host = match host {
            "*" => HostPattern::Any,
            "loopback" => HostPattern::Loopback,
            _ => match host.strip_prefix("*.") {
                Some(above) => match Host::parse(above).map_err(|_| bad())? {
                    Host::Domain(name) => HostPattern::Below(plain(&name)),
                    Host::Ipv4(_) | Host::Ipv6(_) => return Err(bad()),
                },
                None => match Asked::of(Host::parse(host).map_err(|_| bad())?) {
                    Asked::Address(address) => HostPattern::Address(address),
                    Asked::Name(name) => HostPattern::Name(name),
                },
            },
        };
        Ok(Self { host, port })
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            HostPattern::Any => f.write_str("*"),
            HostPattern::Loopback => f.write_str("loopback"),
            HostPattern::Address(IpAddr::V4(address)) => write!(f, "{address}"),
            HostPattern::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            HostPattern::Name(name) => f.write_str(name),
            HostPattern::Below(above) => write!(f, "*.{above}"),
        }?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl TryFrom<String> for Destination {
    type Error = BadDestination;

    fn try_from(text: String) -> Result<Self, BadDestination> {
        text.parse()
    }
}

impl From<Destination> for String {
    fn from(destination: Destination) -> Self {
        destination.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(list: &[&str], url: &str) -> bool {
        let list: Vec<Destination> = list.iter().map(|text| text.parse().unwrap()).collect();
        Destinations::only(&list).check(&url.parse().unwrap()).is_ok()
    }

    #[test]
    fn hosts_and_ports_are_compared_in_one_form() {
        for (named, url) in [
            ("example.com", "http://example.com/"),
            ("example.com", "https://EXAMPLE.com.:8443/"),
            ("example.com:443", "https://example.com/"),
            ("127.0.0.1:80", "http://0x7f.1/"),
            ("127.0.0.1:80", "http://2130706433/"),
            ("127.0.0.1", "http://[::ffff:127.0.0.1]/"),
            ("[::ffff:7f00:1]", "http://127.0.0.1/"),
            ("[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080/"),
            ("loopback", "http://localhost/"),
            ("loopback", "http://a.localhost./"),
            ("loopback:81", "http://127.9.9.9:81/"),
            ("loopback", "http://[::1]/"),
            ("*.example.com", "http://a.b.example.com/"),
            ("*:443", "https://anything/"),
            ("bücher.example", "http://xn--bcher-kva.example/"),
        ] {
            assert!(allows(&[named], url), "{named} {url}");
        }
    }

    #[test]
    fn what_only_looks_like_an_entry_is_refused() {
        for (named, url) in [
            ("allowed.com", "http://allowed.com@evil.com/"),
            ("allowed.com", "http://evil.com/allowed.com"),
            ("allowed.com", "http://evil.com#allowed.com"),
            ("allowed.com", "http://allowed.com.evil.com/"),
            ("allowed.com", "http://evilallowed.com/"),
            ("*.allowed.com", "http://allowed.com/"),
            ("*.allowed.com", "http://evilallowed.com/"),
            ("allowed.com:443", "http://allowed.com/"),
            ("allowed.com:80", "http://allowed.com:81/"),
            ("loopback", "http://0.0.0.0/"),
            ("loopback", "http://localhost.evil.com/"),
            ("loopback", "http://169.254.169.254/"),
            ("127.0.0.1", "http://localhost/"),
            ("localhost", "http://127.0.0.1/"),
            ("*", "data:text/plain,x"),
        ] {
            assert!(!allows(&[named], url), "{named} {url}");
        }
        assert!(!allows(&[], "http://localhost/"));
        let error = Destinations::only(&[]).check(&"http://a@b:1/".parse().unwrap()).unwrap_err();
        assert!(error.to_string().contains("`b:1`"), "{error}");
    }

    #[test]
    fn pairs_are_compared_like_urls() {
        let only = Destinations::only(&["loopback:80".parse().unwrap()]);
        assert!(only.check_pair("127.0.0.1", 80).is_ok());
        assert!(only.check_pair("localhost", 80).is_ok());
        assert!(only.check_pair("::1", 80).is_ok());
        assert!(only.check_pair("0.0.0.0", 80).is_err());
        assert!(only.check_pair("127.0.0.1", 0).is_err());
        assert!(Destinations::everywhere().check_pair("0.0.0.0", 80).is_ok());
    }

    #[test]
    fn entries_are_written_as_they_are_read() {
        for text in ["example.com", "*.example.com:443", "*", "*:80", "loopback:1", "[::1]:2"] {
            let read: Destination = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
        for text in ["", "a b", "example.com:x", "example.com:70000", "*.127.0.0.1", "http://h/"] {
            assert!(text.parse::<Destination>().is_err(), "{text}");
        }
    }
}
