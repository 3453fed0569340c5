//! Remote servers that are accessed without encryption.

use quintain_content::registry::Meta;
use quintain_evidence::connection::Launch;
use quintain_evidence::finding::Severity;
use quintain_evidence::weakness::Weakness;

use super::program::{Source, effective, packages};
use super::{Concern, LaunchCheck, Scene};

pub(super) static PLAIN_HTTP: LaunchCheck = LaunchCheck { meta: Meta {
    id: "plain-http",
    aliases: &[],
    summary: "A remote server is accessed over unencrypted HTTP",
    docs: "\
# What it does
Reports servers with an `http:` or `ws:` URL on another machine, and proxies that are started with one.

# Why it matters
Anyone on the network path can read the calls and the credentials, and can impersonate the server and offer other tools.

# What counts as proof
The URL starts with `http:` or `ws:`, and its host is not a loopback name or address.

# Example
```json
{\"mcpServers\": {\"crm\": {\"url\": \"http://mcp.example.com/mcp\"}}}
```

# References
- CWE-319, OWASP MCP07
",
    since: "0.1.0",
}, weakness: Weakness { severity: Severity::High, cwe: &[319], frameworks: &["MCP07", "MCP01", "ASI03"] }, look };

/// Packages that connect a stdio client to an HTTP server.
pub(super) const PROXIES: [&str; 6] = [
    "mcp-remote",
    "supergateway",
    "mcp-proxy",
    "mcp-remote-client",
    "@pyroprompts/mcp-stdio-to-streamable-http-adapter",
    "mcp-stdio-proxy",
];

fn look(scene: &Scene<'_>) -> Vec<Concern> {
    if let Launch::Url { url, .. } = scene.launch {
        return concern("url", url).into_iter().collect();
    }
    if !is_proxy(scene.launch) {
        return Vec::new();
    }
    let words = effective(scene.launch);
    words.iter().filter_map(|word| concern(&word.part, &word.text)).collect()
}

/// Whether the launch is that of a proxy to a remote server.
pub(super) fn is_proxy(launch: &Launch) -> bool {
    packages(launch)
        .iter()
        .any(|package| package.source != Source::Image && PROXIES.contains(&package.name.as_str()))
}

fn concern(part: &str, url: &str) -> Option<Concern> {
    let host = plain_host(url)?;
    let near = is_private(&host);
    let concern = Concern::new(
        part,
        "The connection is not encrypted",
        format!("`{host}` is another machine, and the URL does not use TLS"),
    );
    let concern = concern.help("use an `https:` URL, or a tunnel to a local port");
    Some(if near { concern.severity(Severity::Medium) } else { concern })
}

/// The host of an unencrypted URL that points to another machine.
fn plain_host(url: &str) -> Option<String> {
    let lower = url.trim().to_ascii_lowercase();
    let rest = lower.strip_prefix("http://").or_else(|| lower.strip_prefix("ws://"))?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.strip_prefix('[') {
        Some(host) => host.split(']').next()?,
        None => host.split(':').next()?,
    };
    let local = host == "localhost"
        || host.ends_with(".localhost")
        || host == "host.docker.internal"
        || host == "0.0.0.0"
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    (!local && !host.is_empty() && !host.contains(['$', '{', '%'])).then(|| host.to_owned())
}

/// Whether the host is in a private network: not protected, but fewer people can listen.
fn is_private(host: &str) -> bool {
    match host.parse::<std::net::IpAddr>() {
        Ok(std::net::IpAddr::V4(address)) => address.is_private() || address.is_link_local(),
        Ok(std::net::IpAddr::V6(address)) => address.is_unique_local(),
        Err(_) => {
            host.rsplit_once('.').is_none_or(|(_, last)| ["local", "internal"].contains(&last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::{look, parts};

    fn severity(url: &str) -> Option<Severity> {
        let found = look(&PLAIN_HTTP, &format!("{{\"url\": \"{url}\"}}"));
        found.first().map(|concern| concern.severity.unwrap_or(PLAIN_HTTP.weakness.severity))
    }

    #[test]
    fn other_machines_count_and_this_one_does_not() {
        assert_eq!(severity("http://mcp.example.com/mcp"), Some(Severity::High));
        assert_eq!(severity("HTTP://1.2.3.4:80"), Some(Severity::High));
        assert_eq!(severity("http://user:pw@evil.com"), Some(Severity::High));
        assert_eq!(severity("http://localhost@evil.com"), Some(Severity::High));
        assert_eq!(severity("ws://evil.com"), Some(Severity::High));
        assert_eq!(severity("http://192.168.1.4/mcp"), Some(Severity::Medium));
        assert_eq!(severity("http://nas:8080/mcp"), Some(Severity::Medium));
        for url in [
            "https://x.com",
            "http://localhost:3000",
            "http://127.0.0.1",
            "http://127.9.9.9/x",
            "http://[::1]:80",
            "http://${HOST}/mcp",
            "http://",
        ] {
            assert_eq!(severity(url), None, "{url}");
        }
    }

    #[test]
    fn proxies_are_looked_through() {
        assert_eq!(parts(&PLAIN_HTTP, "npx -y mcp-remote@1.0.0 http://evil.com/sse"), ["args[2]"]);
        assert_eq!(parts(&PLAIN_HTTP, "npx -y other http://schema.org/x"), [""; 0]);
    }
}
