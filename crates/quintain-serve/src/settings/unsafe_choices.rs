//! Which settings make a server unsafe, and what to do about each.

use super::{Settings, Transport};

/// One sentence per unsafe choice. Empty means that none is known.
pub fn warnings(settings: &Settings) -> Vec<String> {
    let mut found = Vec::new();
    let mut warn = |unsafe_choice: bool, what: &str| {
        if unsafe_choice {
            found.push(what.to_owned());
        }
    };
    if settings.transport == Transport::Stdio {
        return found;
    }
    let is_open = !settings.address.ip().is_loopback();
    let has_tls = settings.tls_cert.is_some()
        || settings.public_url.as_ref().is_some_and(|url| url.starts_with("https://"));
    warn(
        !settings.require_auth && is_open,
        "everybody who reaches this address may use the server; set requireAuth to true",
    );
    warn(
        !settings.require_auth && !is_open,
        "every program of this machine may use the server; set requireAuth to true",
    );
    warn(
        is_open && !has_tls,
        "tokens travel unencrypted; set tlsCert and tlsKey, or publicUrl of a proxy with TLS",
    );
    warn(
        settings.allowed_origins.iter().any(|origin| origin.trim() == "*"),
        "every web page may call the server from a browser; list the origins in allowedOrigins",
    );
    warn(
        settings.allow_targets.iter().any(|target| names_this_machine(target)),
        "principals may reach this machine, whose services may trust it; list other hosts in allowTargets",
    );
    warn(
        settings
            .allow_targets
            .iter()
            .any(|target| target.starts_with("169.254.") || target.contains("metadata")),
        "principals may reach metadata services, which hand out credentials; remove them from allowTargets",
    );
    warn(
        settings.allow_targets.iter().any(|target| target == "*" || target.ends_with("/0")),
        "principals may reach every address; list the targets in allowTargets",
    );
    warn(
        settings.allow_commands.as_ref().is_some_and(|list| list.iter().any(|name| name == "*")),
        "operators may start every program; list the programs in allowCommands",
    );
    warn(settings.rate_limit == 0, "a principal may send any number of requests; set rateLimit");
    warn(
        settings.issuer.as_ref().is_some_and(|issuer| issuer.starts_with("http://"))
            && !settings.issuer.as_ref().is_some_and(|issuer| is_loopback_url(issuer)),
        "the issuer's keys travel unencrypted; use an https:// URL for issuer",
    );
    found
}

fn names_this_machine(target: &str) -> bool {
    ["loopback", "localhost", "127.", "[::1]", "0.0.0.0"]
        .iter()
        .any(|near| target.starts_with(near))
}

fn is_loopback_url(text: &str) -> bool {
    let Ok(url) = url::Url::parse(text) else { return false };
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}
