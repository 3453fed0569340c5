//! Where the token endpoint is looked for, in which order, and whom discovery believes.

use quintain_wire::auth::AuthError;
use serde_json::json;

use crate::support::*;

const WELL_KNOWN: &str = "/.well-known/oauth-authorization-server";

#[tokio::test]
async fn the_documented_places_are_asked_in_order_and_then_the_resource_metadata() {
    let mock = Mock::start(|_| status(404)).await;
    let server = mock.url("/realms/x?key=hidden");
    let error =
        oauth(client_credentials(None), &server, context()).credentials().await.unwrap_err();
    assert_eq!(
        mock.paths(),
        [
            "/realms/x/.well-known/oauth-authorization-server",
            "/.well-known/oauth-authorization-server/realms/x",
            "/.well-known/oauth-authorization-server",
            "/.well-known/oauth-protected-resource/realms/x",
            "/.well-known/oauth-protected-resource",
        ]
    );
    assert!(mock.seen().iter().all(|seen| seen.query.is_empty() && seen.method == "GET"));
    let text = error.to_string();
    assert!(!text.contains("hidden"), "{text}");
    for path in mock.paths() {
        assert!(text.contains(&format!("\n  {}{path}: 404 Not Found", mock.origin)), "{text}");
    }
}

#[tokio::test]
async fn each_of_the_three_places_will_do_and_ends_the_search() {
    let places = [format!("/a/b{WELL_KNOWN}"), format!("{WELL_KNOWN}/a/b"), WELL_KNOWN.to_owned()];
    for (index, place) in places.into_iter().enumerate() {
        let counter = Counter::default();
        let mock = Mock::start(move |seen| match seen.path.as_str() {
            path if path == place => {
                ok(json!({"token_endpoint": format!("{}/token", seen.origin)}))
            }
            "/token" => numbered(&counter, 3600),
            _ => status(404),
        })
        .await;
        let auth = oauth(client_credentials(None), &mock.url("/a/b"), context());
        assert_eq!(token(&auth.credentials().await.unwrap()), "token-1");
        assert_eq!(mock.seen().len(), index + 2);
    }
}

#[tokio::test]
async fn metadata_without_a_token_endpoint_does_not_end_the_search() {
    let mock = Mock::start(|seen| match seen.path.as_str() {
        "/.well-known/oauth-authorization-server" => ok(json!({"issuer": "https://x"})),
        "/.well-known/oauth-authorization-server/mcp" => ok(json!(["not", "an", "object"])),
        _ => status(404),
    })
    .await;
    let auth = oauth(client_credentials(None), &mock.url("/mcp"), context());
    let text = auth.credentials().await.unwrap_err().to_string();
    assert!(text.contains("200 OK, but it names no `token_endpoint`"), "{text}");
    assert!(text.contains("200 OK, but not a JSON object"), "{text}");
}

#[tokio::test]
async fn the_resource_metadata_leads_to_the_issuer_and_names_the_resource() {
    let counter = Counter::default();
    let mock = Mock::start(move |seen| match seen.path.as_str() {
        "/.well-known/oauth-protected-resource/mcp" => ok(json!({
            "resource": format!("{}/mcp", seen.origin),
            "authorization_servers": [format!("{}/tenant", seen.origin)],
        })),
        "/tenant/.well-known/openid-configuration" => ok(json!({
            "issuer": format!("{}/tenant", seen.origin),
            "token_endpoint": format!("{}/token", seen.origin),
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        })),
        "/token" => numbered(&counter, 3600),
        _ => status(404),
    })
    .await;
    let auth = oauth(client_credentials(None), &mock.url("/mcp"), context());
    auth.credentials().await.unwrap();
    let last = &mock.paths()[4..];
    assert_eq!(
        last,
        [
            "/.well-known/oauth-authorization-server/tenant",
            "/.well-known/openid-configuration/tenant",
            "/tenant/.well-known/openid-configuration",
            "/token",
        ]
    );
    let seen = &mock.at("/token")[0];
    assert_eq!(seen.form("resource").unwrap(), mock.url("/mcp").as_str());
    assert!(seen.authorization().unwrap().starts_with("Basic "));
}

#[tokio::test]
async fn metadata_of_another_issuer_or_resource_gets_no_credentials() {
    let mock = Mock::start(|seen| match seen.path.as_str() {
        "/.well-known/oauth-protected-resource/a" => ok(json!({
            "resource": "https://evil.example/a", "authorization_servers": [seen.origin],
        })),
        "/.well-known/oauth-protected-resource/b" => ok(json!({
            "resource": format!("{}/b", seen.origin),
            "authorization_servers": [format!("{}/as", seen.origin)],
        })),
        "/.well-known/oauth-authorization-server/as" => ok(json!({
            "issuer": "https://evil.example", "token_endpoint": format!("{}/token", seen.origin),
        })),
        _ => status(404),
    })
    .await;
    let ask = async |path| {
        oauth(client_credentials(None), &mock.url(path), context()).credentials().await.unwrap_err()
    };
    let error = ask("/a").await;
    assert!(matches!(error, AuthError::ResourceMismatch { .. }), "{error}");
    let error = ask("/b").await;
    assert!(matches!(error, AuthError::IssuerMismatch { .. }), "{error}");
    assert!(error.to_string().contains("`https://evil.example`"), "{error}");
    assert!(mock.at("/token").is_empty());
}

#[tokio::test]
async fn credentials_do_not_go_to_an_endpoint_without_tls() {
    for endpoint in ["http://as.example/token", "file:///etc/passwd", "javascript:alert(1)", "x"] {
        let mock = Mock::start(move |_| ok(json!({"token_endpoint": endpoint}))).await;
        let auth = oauth(client_credentials(None), &mock.url("/mcp"), context());
        let error = auth.credentials().await.unwrap_err();
        assert!(matches!(error, AuthError::Unsafe { .. }), "{endpoint}: {error}");
    }
}
