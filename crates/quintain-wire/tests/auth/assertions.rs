//! How an assertion that somebody else signed can fail to buy a token.

use quintain_wire::auth::oauth::Assertion;
use quintain_wire::auth::{AuthConfig, AuthError, GrantConfig, OAuthConfig, authorizer};
use serde_json::{Value, json};

use crate::support::*;

fn with(assertion: Assertion) -> OAuthConfig {
    let grant = GrantConfig::JwtBearer { assertion };
    OAuthConfig { client_id: Some("workload".to_owned()), ..OAuthConfig::new(grant) }
}

/// An authorization server and an identity provider that answers with `exchanged`.
async fn enterprise(exchanged: Value) -> (Mock, OAuthConfig) {
    let counter = Counter::default();
    let mock = Mock::start(move |seen| match seen.path.as_str() {
        "/idp" => ok(exchanged.clone()),
        _ => numbered(&counter, 3600),
    })
    .await;
    let assertion = Assertion::Exchanged {
        token_url: mock.url("/idp"),
        client_id: "idp-client".to_owned(),
        client_secret: None,
        subject_token: secret("id-token-canary"),
        subject_token_type: "id_token".to_owned(),
    };
    let config = OAuthConfig { token_url: Some(mock.url("/token")), ..with(assertion) };
    (mock, config)
}

#[tokio::test]
async fn a_refused_assertion_is_tried_once_and_with_no_other_grant() {
    let mock = Mock::start(|_| json_with(400, &json!({"error": "invalid_grant"}))).await;
    let config = with(Assertion::Given(secret("jwt-canary")));
    let config = OAuthConfig { token_url: Some(mock.url("/token")), ..config };
    let error = oauth(config, &mock.url("/mcp"), context()).credentials().await.unwrap_err();
    assert!(matches!(error, AuthError::TokenRefused { .. }), "{error}");
    assert_eq!(mock.paths(), ["/token"]);
}

#[tokio::test]
async fn another_kind_of_token_than_was_asked_for_goes_no_further() {
    let kind = "urn:ietf:params:oauth:token-type:access_token";
    let (mock, config) = enterprise(json!({"access_token": "x", "issued_token_type": kind})).await;
    let auth = oauth(config, &mock.url("/mcp"), context());
    let error = auth.credentials().await.unwrap_err().to_string();
    assert!(error.contains(kind), "{error}");
    assert_eq!(mock.paths(), ["/idp"]);
}

#[tokio::test]
async fn the_identity_provider_does_not_see_the_keys_in_the_url_of_the_target() {
    let (mock, config) = enterprise(json!({"access_token": "x"})).await;
    oauth(config, &mock.url("/mcp?key=url-canary"), context()).credentials().await.unwrap();
    let exchange = &mock.at("/idp")[0];
    assert_eq!(exchange.form("resource").unwrap(), mock.url("/mcp").as_str());
    assert!(!exchange.body.contains("url-canary"), "{}", exchange.body);
}

#[tokio::test]
async fn an_empty_assertion_is_an_error_before_anything_is_sent() {
    let server = "https://h/mcp".parse().unwrap();
    let config = AuthConfig::OAuth(with(Assertion::Given(secret(""))));
    let error = authorizer(config, &server, context()).err().unwrap();
    assert!(error.to_string().contains("`auth.assertion`) is empty"), "{error}");
}
