//! IP addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;

use super::pattern::{Candidate, Pattern};
use super::{Confidence, Cue, Family};
use crate::registry::Meta;

pub(super) static IP_ADDRESS: Pattern = Pattern {
    meta: &Meta {
        id: "ip-address",
        aliases: &[],
        summary: "IP addresses",
        docs: r"# What it does
IPv4 and IPv6 addresses. Addresses of private networks and documentation ranges have low
confidence, and so do addresses that might be version numbers.
",
        since: "0.1.0",
    },
    family: Family::Pii,
    cue: Cue::Digits(3),
    regex: r"(?-u)\b(?:[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\b|[0-9A-Fa-f]{1,4}:[0-9A-Fa-f:]*[0-9A-Fa-f])",
    judge,
    compiled: OnceLock::new(),
};

const WORDS: [&str; 12] = [
    "ip",
    "address",
    "host",
    "server",
    "client",
    "from",
    "addr",
    "remote",
    "ip_address",
    "ipv4",
    "ipv6",
    "peer",
];
const VERSIONS: [&str; 6] = ["version", "v", "ver", "release", "build", "upgrade"];

fn judge(candidate: &Candidate<'_>) -> Option<Confidence> {
    let found = candidate.found();
    let glued = |c: char| c.is_alphanumeric() || "_-.:".contains(c);
    if found.len() > 39 || candidate.previous().is_some_and(glued) {
        return None;
    }
    let sentence_ends = candidate.text[candidate.end..].starts_with(". ");
    let goes_on = candidate.next().is_some_and(|c| c.is_alphanumeric() || "_-.".contains(c));
    if goes_on && !sentence_ends && !candidate.text[candidate.end..].trim_end().eq(".") {
        return None;
    }
    let confidence = match found.parse().ok()? {
        IpAddr::V4(address) => v4(address, candidate)?,
        IpAddr::V6(address) => v6(address),
    };
    Some(confidence)
}

fn v4(address: Ipv4Addr, candidate: &Candidate<'_>) -> Option<Confidence> {
    if candidate.follows(&VERSIONS) {
        return None;
    }
    let octets = address.octets();
    let reserved = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || address.is_broadcast()
        || octets[0] == 0
        || octets[0] >= 240
        || octets[3] == 0;
    // `1.2.3.4` may be a version; most addresses have larger parts.
    let large = octets.iter().filter(|octet| **octet > 99).count() > 0
        && octets.iter().filter(|octet| **octet > 9).count() > 2;
    Some(match (reserved, large || candidate.follows(&WORDS)) {
        (false, true) => Confidence::Medium,
        _ => Confidence::Low,
    })
}

fn v6(address: Ipv6Addr) -> Confidence {
    let [first, second, ..] = address.segments();
    let global = first & 0xe000 == 0x2000 && (first, second) != (0x2001, 0x0db8);
    if global { Confidence::Medium } else { Confidence::Low }
}
