//! The distance of addresses. Knows no policies; callers decide what follows from a distance.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The distance of an address, nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Zone {
    /// This machine.
    Machine,
    /// The local link: other machines without a router in between, and metadata services of clouds.
    Link,
    /// Private networks.
    Private,
    /// The internet.
    Public,
}

impl Zone {
    pub(crate) fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => Self::of_v6(address),
        }
    }

    pub(crate) fn of_v4(address: Ipv4Addr) -> Self {
        let [a, b, ..] = address.octets();
        if address.is_loopback() || a == 0 {
            Self::Machine
        } else if address.is_link_local() || address.is_multicast() || address.is_broadcast() {
            Self::Link
        // 100.64.0.0/10 is shared address space, 198.18.0.0/15 is for benchmarks of networks.
        } else if address.is_private()
            || (a == 100 && b & 0xc0 == 64)
            || (a == 198 && b & 0xfe == 18)
        {
            Self::Private
        } else {
            Self::Public
        }
    }

    pub(crate) fn of_v6(address: Ipv6Addr) -> Self {
        let segments = address.segments();
        // IPv4 inside IPv6: mapped, compatible, translated (RFC 6052), 6to4.
        let v4 = |high: u16, low: u16| {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            Self::of_v4(Ipv4Addr::new(a, b, c, d))
        };
        match segments {
            _ if address.is_loopback() || address.is_unspecified() => Self::Machine,
            [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
            | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
            | [0x2002, high, low, ..] => v4(high, low),
            [first, ..] if first & 0xffc0 == 0xfe80 || first & 0xff00 == 0xff00 => Self::Link,
            [first, ..] if first & 0xfe00 == 0xfc00 || first & 0xffc0 == 0xfec0 => Self::Private,
            _ => Self::Public,
        }
    }
}

/// Names that always mean this machine (RFC 6761).
pub(crate) fn is_local(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name == "localhost" || name.ends_with(".localhost")
}
