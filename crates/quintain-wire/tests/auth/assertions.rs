//! Tokens for an assertion that a third party signed.

use quintain_wire::auth::{AuthConfig, AuthError, GrantConfig, IdentityProvider, OAuthConfig};
use serde_json::{Value, json};

use crate::support::*;

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

fn workload(assertion: &str) -> OAuthConfig {
    let grant = GrantConfig::JwtBearer { assertion: secret(assertion) };
    OAuthConfig { client_id: Some("workload".to_owned()), ..OAuthConfig::new(grant) }
}

/// An MCP server, its authorization server and an identity provider in one.
async fn enterprise(exchanged: Value) -> Mock {
    let counter = Counter::default();
    Mock::start(move |seen| {
        let origin = &seen.origin;
        match seen.path.as_str() {
            "/.well-known/oauth-protected-resource/mcp" => ok(json!({
                "resource": format!("{origin}/mcp"),
                "authorization_servers": [format!("{origin}/as")],
            })),
            "/.well-known/oauth-authorization-server/as" => ok(json!({
                "issuer": format!("{origin}/as"),
                "token_endpoint": format!("{origin}/token"),
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            })),
            "/idp" => ok(exchanged.clone()),
            "/token" => numbered(&counter, 3600),
            _ => status(404),
        }
    })
    .await
}

fn employee(mock: &Mock) -> OAuthConfig {
    OAuthConfig {
        client_id: Some("id".to_owned()),
        client_secret: Some(secret("machine-secret")),
        ..OAuthConfig::new(GrantConfig::IdentityAssertion(IdentityProvider {
            token_url: mock.url("/idp"),
            client_id: "idp-client".to_owned(),
            client_secret: None,
            id_token: secret("id-token-canary"),
        }))
    }
}

#[tokio::test]
async fn a_workload_shows_its_own_jwt_and_no_secret() {
    let counter = Counter::default();
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let config = OAuthConfig { token_url: Some(mock.url("/token")), ..workload("jwt-canary") };
    let context = context();
    let redactor = context.redactor.clone();
    let credentials = oauth(config, &mock.url("/mcp"), context).credentials().await.unwrap();
    assert_eq!(token(&credentials), "token-1");
    let seen = &mock.seen()[0];
    assert_eq!(seen.form("grant_type").unwrap(), JWT_BEARER);
    assert_eq!(seen.form("assertion").unwrap(), "jwt-canary");
    assert_eq!(seen.form("client_id").unwrap(), "workload");
    assert_eq!(seen.form("client_secret"), None);
    assert!(!redactor.text(&seen.body).contains("canary"));
}

#[tokio::test]
async fn a_refused_assertion_is_tried_once_and_with_no_other_grant() {
    let mock = Mock::start(|_| json_with(400, &json!({"error": "invalid_grant"}))).await;
    let config = OAuthConfig { token_url: Some(mock.url("/token")), ..workload("jwt-canary") };
    let error = oauth(config, &mock.url("/mcp"), context()).credentials().await.unwrap_err();
    assert!(matches!(error, AuthError::TokenRefused { .. }), "{error}");
    assert_eq!(mock.paths(), ["/token"]);
}

#[tokio::test]
async fn a_login_at_the_identity_provider_is_exchanged_for_the_resource_and_its_issuer() {
    let mock = enterprise(json!({
        "access_token": "id-jag-canary", "issued_token_type": ID_JAG, "token_type": "N_A",
    }))
    .await;
    let context = context();
    let redactor = context.redactor.clone();
    let auth = oauth(employee(&mock), &mock.url("/mcp"), context);
    assert_eq!(token(&auth.credentials().await.unwrap()), "token-1");
    let exchange = &mock.at("/idp")[0];
    for (name, value) in [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("requested_token_type", ID_JAG),
        ("subject_token", "id-token-canary"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ("client_id", "idp-client"),
        ("audience", &format!("{}/as", mock.origin)),
        ("resource", &format!("{}/mcp", mock.origin)),
    ] {
        assert_eq!(exchange.form(name).as_deref(), Some(value), "{name}");
    }
    assert_eq!(exchange.authorization(), None);
    let grant = &mock.at("/token")[0];
    assert_eq!(grant.form("grant_type").unwrap(), JWT_BEARER);
    assert_eq!(grant.form("assertion").unwrap(), "id-jag-canary");
    assert_eq!(grant.authorization(), Some("Basic aWQ6bWFjaGluZS1zZWNyZXQ="));
    for seen in [exchange, grant] {
        assert!(!redactor.text(&seen.body).contains("canary"), "{}", seen.body);
    }
}

#[tokio::test]
async fn another_kind_of_token_than_was_asked_for_goes_no_further() {
    let kind = "urn:ietf:params:oauth:token-type:access_token";
    let mock = enterprise(json!({"access_token": "x", "issued_token_type": kind})).await;
    let auth = oauth(employee(&mock), &mock.url("/mcp"), context());
    let error = auth.credentials().await.unwrap_err().to_string();
    assert!(error.contains(kind), "{error}");
    assert!(mock.at("/token").is_empty());
}

#[tokio::test]
async fn the_identity_provider_does_not_see_the_keys_in_the_url_of_the_target() {
    let mock = enterprise(json!({"access_token": "x"})).await;
    let config = OAuthConfig {
        token_url: Some(mock.url("/token")),
        audience: Some("https://issuer.example".to_owned()),
        ..employee(&mock)
    };
    oauth(config, &mock.url("/mcp?key=url-canary"), context()).credentials().await.unwrap();
    let exchange = &mock.at("/idp")[0];
    assert_eq!(exchange.form("resource").unwrap(), mock.url("/mcp").as_str());
    assert!(!exchange.body.contains("url-canary"), "{}", exchange.body);
}

#[tokio::test]
async fn an_empty_assertion_is_an_error_before_anything_is_sent() {
    let server = "https://h/mcp".parse().unwrap();
    let config = AuthConfig::OAuth(workload(""));
    let error = quintain_wire::auth::authorizer(config, &server, context()).err().unwrap();
    assert!(error.to_string().contains("`auth.assertion`) is empty"), "{error}");
}
