//! Protects against web pages that reach the server through a browser: Host, Origin and CORS.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use url::{Host, Url};

use super::state::HttpState;

pub(super) async fn layer(
    State(state): State<Arc<HttpState>>,
    request: Request,
    next: Next,
) -> Response {
    let route = route_of(request.uri().path(), &state.settings().sse_endpoint);
    let response = guarded(&state, request, next).await;
    state.server.counters.request(route, response.status().as_u16());
    response
}

/// The route, for the counters: paths that clients make up must not become labels.
fn route_of(path: &str, sse_endpoint: &str) -> &'static str {
    match path {
        "/mcp" => "/mcp",
        "/health" => "/health",
        "/ready" => "/ready",
        "/metrics" => "/metrics",
        path if path == sse_endpoint => "/mcp/sse",
        path if path.starts_with("/mcp/oauth/") => "/mcp/oauth",
        path if path.starts_with("/.well-known/") => "/.well-known",
        _ => "other",
    }
}

async fn guarded(state: &HttpState, request: Request, next: Next) -> Response {
    if !host_is_ours(state, request.headers()) {
        return (StatusCode::FORBIDDEN, "host not allowed").into_response();
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    let Some(origin) = origin else {
        return with_safe_headers(next.run(request).await);
    };
    let is_allowed = origin.to_str().is_ok_and(|origin| origin_is_allowed(state, origin));
    if !is_allowed {
        return (StatusCode::FORBIDDEN, "origin not allowed").into_response();
    }
    let mut response = if *request.method() == Method::OPTIONS {
        StatusCode::NO_CONTENT.into_response()
    } else {
        next.run(request).await
    };
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    let pairs = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE, OPTIONS"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "Authorization, Content-Type, Accept, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID",
        ),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, "Mcp-Session-Id, WWW-Authenticate"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    for (name, value) in pairs {
        headers.insert(name, HeaderValue::from_static(value));
    }
    with_safe_headers(response)
}

fn with_safe_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn host_is_ours(state: &HttpState, headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else {
        return false;
    };
    let Ok(url) = Url::parse(&format!("http://{host}")) else { return false };
    if state.settings().allowed_hosts.iter().any(|allowed| same_host(allowed, host)) {
        return true;
    }
    let public = state.settings().public_url.as_deref().and_then(|url| Url::parse(url).ok());
    if public.is_some_and(|public| public.host() == url.host()) {
        return true;
    }
    let is_our_port = url.port_or_known_default() == Some(state.address.port());
    let is_our_host = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        // A name can be pointed at this machine by anybody; an address cannot.
        Some(Host::Ipv4(ip)) => ip.is_loopback() || !state.address.ip().is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback() || !state.address.ip().is_loopback(),
        None => false,
    };
    is_our_host && is_our_port
}

/// A listed host without a port stands for every port.
fn same_host(allowed: &str, host: &str) -> bool {
    let name =
        |text: &str| text.rsplit_once(':').map_or(text, |(name, _)| name).to_ascii_lowercase();
    allowed.eq_ignore_ascii_case(host)
        || !allowed.contains(':') && allowed.eq_ignore_ascii_case(&name(host))
}

fn origin_is_allowed(state: &HttpState, origin: &str) -> bool {
    let own = Url::parse(state.verifier.base_url())
        .is_ok_and(|own| own.origin().ascii_serialization() == origin);
    own || state.settings().allowed_origins.iter().any(|pattern| fits(pattern, origin))
}

/// Whether an origin fits a pattern such as `http://localhost:*`.
fn fits(pattern: &str, origin: &str) -> bool {
    let pattern = pattern.trim();
    if pattern == "*" {
        return true;
    }
    let Ok(url) = Url::parse(origin) else { return false };
    // Only what browsers send is an origin: no path, no user.
    if url.origin().ascii_serialization() != origin {
        return false;
    }
    if let Some((scheme, rest)) = pattern.split_once("://*.") {
        // Subdomains, never the domain itself.
        let Ok(base) = Url::parse(&format!("{scheme}://{}", rest.trim_end_matches(":*"))) else {
            return false;
        };
        let (Some(domain), Some(name)) = (base.domain(), url.domain()) else { return false };
        let is_below =
            name.strip_suffix(domain).is_some_and(|front| front.len() > 1 && front.ends_with('.'));
        let is_port =
            rest.ends_with(":*") || base.port_or_known_default() == url.port_or_known_default();
        return is_below && is_port && base.scheme() == url.scheme();
    }
    match pattern.strip_suffix(":*") {
        Some(base) => Url::parse(base).is_ok_and(|base| {
            base.scheme() == url.scheme() && base.host().is_some() && base.host() == url.host()
        }),
        None => Url::parse(pattern).is_ok_and(|pattern| pattern.origin() == url.origin()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_origins() {
        for (pattern, origin, expected) in [
            ("http://localhost:*", "http://localhost:3000", true),
            ("http://localhost:*", "http://localhost", true),
            ("http://localhost:*", "https://localhost:3000", false),
            ("http://localhost:*", "http://localhost.evil.example:3000", false),
            ("http://localhost:*", "http://evil.example", false),
            ("http://localhost:*", "null", false),
            ("https://app.example", "https://app.example", true),
            ("https://app.example", "https://app.example:8443", false),
            ("http://[::1]:*", "http://[::1]:5000", true),
            ("https://*.app.example", "https://a.app.example", true),
            ("https://*.app.example", "https://app.example", false),
            ("https://*.app.example", "https://evilapp.example", false),
            ("https://*.app.example", "https://a.app.example:8443", false),
            ("https://*.app.example:*", "https://a.app.example:8443", true),
            ("*", "https://evil.example", true),
        ] {
            assert_eq!(fits(pattern, origin), expected, "{pattern} {origin}");
        }
    }

    #[test]
    fn a_listed_host_without_a_port_stands_for_every_port() {
        assert!(same_host("mcp.example", "mcp.example:8443"));
        assert!(!same_host("mcp.example:443", "mcp.example:8443"));
        assert!(!same_host("mcp.example", "mcp.example.evil:8443"));
    }
}
