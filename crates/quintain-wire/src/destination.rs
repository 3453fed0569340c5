//! Which hosts and ports may be reached. The text of the URL decides: names are compared as names. A name that
//! resolves to this machine or the local link needs an entry for that address, because its owner could redirect us.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::zone::{Zone, is_local};

/// One entry of the list: `example.com`, `example.com:8443`, `*.example.com`, `192.0.2.1:80`, `[::1]:80`,
/// `loopback` (every name and address of this machine's loopback), `loopback:8080`, `public` (every name that is not one of
/// this machine, and every address of the internet) or `*:443`.
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
    Public,
    Address(IpAddr),
    Name(String),
    /// Every name that ends with a dot and this.
    Below(String),
}

impl Destination {
    /// Every name and address of this machine's loopback.
    pub fn loopback() -> Self {
        Self { host: HostPattern::Loopback, port: None }
    }

    /// Every name that is not one of this machine, and every address of the internet.
    pub fn public() -> Self {
        Self { host: HostPattern::Public, port: None }
    }

    /// The host and port of a URL.
    pub fn of(url: &Url) -> Option<Self> {
        let host = match Asked::of(url.host()?.to_owned()) {
            Asked::Address(address) => HostPattern::Address(address),
            Asked::Name(name) => HostPattern::Name(name),
        };
        Some(Self { host, port: Some(url.port_or_known_default()?) })
    }

    /// What both entries name.
    #[must_use]
    pub fn narrowed_by(&self, other: &Self) -> Option<Self> {
        let host = if self.host.covers(&other.host) {
            &other.host
        } else {
            other.host.covers(&self.host).then_some(&self.host)?
        };
        let port = match (self.port, other.port) {
            (Some(one), Some(other)) if one != other => return None,
            (one, other) => one.or(other),
        };
        Some(Self { host: host.clone(), port })
    }
}

impl HostPattern {
    /// Whether whatever the other names is named by this.
    fn covers(&self, other: &Self) -> bool {
        match other {
            Self::Address(address) => Asked::Address(*address).is_named_by(self),
            Self::Name(name) => Asked::Name(name.clone()).is_named_by(self),
            // Whatever covers one name below it, and does not name just that one, covers all.
            Self::Below(above) => {
                self == other
                    || !matches!(self, Self::Name(_))
                        && Asked::Name(format!("x.{above}")).is_named_by(self)
            }
            Self::Any | Self::Loopback | Self::Public => matches!(self, Self::Any) || self == other,
        }
    }
}

/// A text that is not a valid entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a valid destination: expected HOST or HOST:PORT")]
pub struct BadDestination(String);

/// A request to a destination that is not in the list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    #[error("the policy of this run does not allow the address `{0}`: add it to `addresses`")]
    Address(String),
    #[error(
        "the policy of this run does not allow the address `{address}`, which `{name}` resolves to: add it to \
         `addresses`"
    )]
    Resolved { name: String, address: IpAddr },
}

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

    /// Whether anything is refused.
    pub(crate) fn is_restricted(&self) -> bool {
        self.0.is_some()
    }

    /// Whether a name that may be reached may lead to an address. The port of the request is not known where names
    /// are resolved, so only entries for every port count.
    ///
    /// # Errors
    /// When the address is near and no entry names it.
    pub(crate) fn check_resolved(&self, name: &str, address: IpAddr) -> Result<(), NotAllowed> {
        let Some(list) = &self.0 else { return Ok(()) };
        let is_own = is_local(name) && address.is_loopback();
        let asked = Asked::Address(address.to_canonical());
        let is_named = |one: &Destination| one.port.is_none() && asked.is_named_by(&one.host);
        let is_near = Zone::of(address) <= Zone::Link || is_metadata_address(address);
        if !is_near || is_own || list.iter().any(is_named) {
            return Ok(());
        }
        Err(NotAllowed::Resolved { name: name.to_owned(), address })
    }

    fn check_host(&self, host: Option<Host>, port: Option<u16>) -> Result<(), NotAllowed> {
        let Some(list) = &self.0 else { return Ok(()) };
        // A URL without a host or a port matches no entry.
        let (Some(host), Some(port)) = (host, port) else {
            return Err(NotAllowed::Address("an address without a host".to_owned()));
        };
        let shown = format!("{host}:{port}");
        let host = Asked::of(host);
        let named = list.iter().any(|one| {
            one.port.is_none_or(|allowed| allowed == port) && host.is_named_by(&one.host)
        });
        if named { Ok(()) } else { Err(NotAllowed::Address(shown)) }
    }
}

/// Whether a URL names this machine's local link or a metadata service of a cloud, which answer whoever reaches them.
pub fn is_link_or_metadata(url: &Url) -> bool {
    match url.host().map(|host| Asked::of(host.to_owned())) {
        Some(Asked::Address(address)) => {
            Zone::of(address) == Zone::Link
                || address.is_unspecified()
                || is_metadata_address(address)
        }
        Some(Asked::Name(name)) => is_metadata_name(&name),
        None => false,
    }
}

/// Metadata services that are not on the local link: of Alibaba Cloud, and of AWS over IPv6.
const METADATA_ADDRESSES: [&str; 2] = ["100.100.100.200", "fd00:ec2::254"];

fn is_metadata_address(address: IpAddr) -> bool {
    METADATA_ADDRESSES.contains(&address.to_string().as_str())
}

fn is_metadata_name(name: &str) -> bool {
    matches!(name, "metadata" | "instance-data" | "metadata.google.internal" | "metadata.goog")
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
            (HostPattern::Loopback, Self::Name(name)) => is_local(name),
            (HostPattern::Public, Self::Address(address)) => Zone::of(*address) == Zone::Public,
            (HostPattern::Public, Self::Name(name)) => !is_local(name) && !is_metadata_name(name),
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
            "public" => HostPattern::Public,
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
            HostPattern::Public => f.write_str("public"),
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
    fn a_name_leads_to_this_machine_only_if_that_is_named() {
        let leads = |list: &[&str], name: &str, address: &str| {
            let list: Vec<Destination> = list.iter().map(|text| text.parse().unwrap()).collect();
            Destinations::only(&list).check_resolved(name, address.parse().unwrap())
        };
        for near in
            ["127.0.0.1", "::1", "0.0.0.0", "169.254.169.254", "::ffff:127.0.0.1", "fe80::1"]
        {
            assert!(leads(&["a.example"], "a.example", near).is_err(), "{near}");
            assert!(leads(&["a.example", "*:1"], "a.example", near).is_err(), "{near}");
            assert!(leads(&["*"], "a.example", near).is_ok(), "{near}");
        }
        for far in ["10.0.0.1", "192.0.2.1", "2620:fe::fe"] {
            assert!(leads(&["a.example"], "a.example", far).is_ok(), "{far}");
        }
        assert!(leads(&["a.example", "loopback"], "a.example", "127.0.0.1").is_ok());
        assert!(leads(&["localhost"], "localhost", "::1").is_ok());
        assert!(leads(&["localhost"], "localhost", "169.254.169.254").is_err());
        let why = leads(&["a.example"], "a.example", "::1").unwrap_err().to_string();
        assert!(why.contains("address `::1`, which `a.example` resolves to"), "{why}");
    }

    #[test]
    fn two_entries_have_in_common_what_both_name() {
        for (one, other, both) in [
            ("*", "example.com:1", Some("example.com:1")),
            ("*:1", "example.com", Some("example.com:1")),
            ("*:1", "example.com:2", None),
            ("loopback", "127.0.0.9:1", Some("127.0.0.9:1")),
            ("loopback", "localhost", Some("localhost")),
            ("loopback", "*.localhost", Some("*.localhost")),
            ("loopback", "10.0.0.1", None),
            ("*.example.com", "a.example.com", Some("a.example.com")),
            ("*.example.com", "*.b.example.com", Some("*.b.example.com")),
            ("*.example.com", "example.com", None),
            ("x.example.com", "*.example.com", Some("x.example.com")),
            ("a.com", "b.com", None),
        ] {
            let read = |text: &str| text.parse::<Destination>().unwrap();
            let found = [(one, other), (other, one)].map(|(one, other)| {
                read(one).narrowed_by(&read(other)).map(|both| both.to_string())
            });
            assert_eq!(found, [both; 2].map(|both| both.map(str::to_owned)), "{one} {other}");
        }
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
