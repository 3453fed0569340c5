//! Where discovery looks for the token endpoint, in which order, and which documents it trusts.

use quintain_wire::auth::{AuthError, LoginOptions};
use serde_json::json;

use crate::login::{Site, interactive};
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
        "/.well-known/oauth-authorization-server" => ok(json!({"issuer": seen.origin})),
        "/.well-known/oauth-authorization-server/mcp" => ok(json!(["not", "an", "object"])),
        _ => status(404),
    })
    .await;
    let auth = oauth(client_credentials(None), &mock.url("/mcp"), context());
    let text = auth.credentials().await.unwrap_err().to_string();
    assert!(text.contains("200 OK, but it has no `token_endpoint`"), "{text}");
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
        let mock = Mock::start(move |seen| match seen.path.as_str() {
            WELL_KNOWN => ok(json!({"issuer": seen.origin, "token_endpoint": endpoint})),
            _ => status(404),
        })
        .await;
        let auth = oauth(client_credentials(None), &mock.url("/mcp"), context());
        let error = auth.credentials().await.unwrap_err();
        assert!(matches!(error, AuthError::Unsafe { .. }), "{endpoint}: {error}");
    }
}

#[tokio::test]
async fn resource_metadata_may_be_anywhere_on_the_origin_of_the_server_and_nowhere_else() {
    let site = Site::default();
    let other = Mock::start(|_| status(404)).await;
    let mock = Mock::start(move |seen| match seen.path.as_str() {
        "/custom/location.json" => ok(json!({
            "resource": format!("{}/mcp", seen.origin), "authorization_servers": [seen.origin],
        })),
        _ => site.answer(seen),
    })
    .await;
    let default = "/.well-known/oauth-protected-resource/mcp";
    for (named, asked) in [
        (mock.url("/custom/location.json"), "/custom/location.json"),
        (mock.url("/custom/location.json?delete=all"), default),
        (other.url("/.well-known/oauth-protected-resource"), default),
        (other.url("/latest/meta-data"), default),
    ] {
        let before = mock.seen().len();
        let auth = interactive(&mock, LoginOptions::default(), context());
        let challenge = format!("Bearer resource_metadata=\"{named}\"");
        assert!(auth.refused(refusal(401, &mock.url("/mcp"), &challenge, 0)).await.unwrap());
        assert_eq!(mock.paths()[before], asked, "{named}");
    }
    assert!(other.seen().is_empty(), "{:?}", other.paths());
}

#[tokio::test]
async fn an_origin_with_a_slash_is_the_same_issuer_and_a_path_with_one_is_not() {
    for (suffix, found, fits) in
        [("/", "", true), ("", "/", true), ("/as", "/as/", false), ("/as/", "/as", false)]
    {
        let counter = Counter::default();
        let mock = Mock::start(move |seen| match seen.path.as_str() {
            "/.well-known/oauth-protected-resource/mcp" => ok(json!({
                "resource": format!("{}/mcp", seen.origin),
                "authorization_servers": [format!("{}{suffix}", seen.origin)],
            })),
            // The URLs at the server itself are not tested here.
            "/mcp/.well-known/oauth-authorization-server"
            | "/.well-known/oauth-authorization-server/mcp"
            | "/.well-known/oauth-authorization-server" => status(404),
            path if path.starts_with("/.well-known/open") => ok(json!({
                "issuer": format!("{}{found}", seen.origin),
                "token_endpoint": format!("{}/token", seen.origin),
            })),
            "/token" => numbered(&counter, 3600),
            _ => status(404),
        })
        .await;
        let auth = oauth(client_credentials(None), &mock.url("/mcp"), context());
        assert_eq!(auth.credentials().await.is_ok(), fits, "{suffix:?} and {found:?}");
    }
}

#[tokio::test]
async fn a_resource_that_lists_a_hundred_issuers_has_four_of_them_asked() {
    let issuers = Mock::start(|_| status(404)).await;
    let origin = issuers.origin.clone();
    let mock = Mock::start(move |seen| match seen.path.as_str() {
        "/.well-known/oauth-protected-resource/mcp" => {
            let all: Vec<_> = (0..100).map(|number| format!("{origin}/{number}")).collect();
            ok(json!({"authorization_servers": all}))
        }
        _ => status(404),
    })
    .await;
    let auth = oauth(client_credentials(None), &mock.url("/mcp"), context());
    auth.credentials().await.unwrap_err();
    assert_eq!(issuers.seen().len(), 4 * 3);
    assert!(issuers.paths().iter().all(|path| path.contains("/.well-known/")));
}

#[tokio::test]
async fn an_issuer_is_a_url_without_a_query_a_fragment_and_a_user() {
    let victim = Mock::start(|_| status(404)).await;
    for tail in ["/as?admin=delete", "/as#x"] {
        let issuer = format!("{}{tail}", victim.origin);
        let mock = Mock::start(move |seen| match seen.path.as_str() {
            "/.well-known/oauth-protected-resource/mcp" => {
                ok(json!({"authorization_servers": [issuer]}))
            }
            _ => status(404),
        })
        .await;
        let auth = oauth(client_credentials(None), &mock.url("/mcp"), context());
        let error = auth.credentials().await.unwrap_err().to_string();
        assert!(error.contains("an issuer has no query"), "{error}");
    }
    assert!(victim.seen().is_empty());
}
