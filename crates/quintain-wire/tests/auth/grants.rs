//! The token requests of each grant, as they are sent.

use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use quintain_wire::auth::oauth::{ClientAuthMethod, SigningKey};
use quintain_wire::auth::{AuthConfig, GrantConfig, OAuthConfig, Placement, authorizer};
use serde_json::{Value, json};

use crate::support::*;

/// A key for this test; it is public.
const KEY: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVQDdVDYWmTwGCZkr
xKYZUIoySO9cnUdeHZjPYegND8OhRANCAASlKj8NGrlRukOXnvV4Hq3yH2sOc+GZ
Nofwo24xNIED0lZgpaO5fRiPey0CvLT2ZL7t6DF26XsI/deCWasQmT+L
-----END PRIVATE KEY-----
";
const PUBLIC_KEY: &str = "-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEpSo/DRq5UbpDl571eB6t8h9rDnPh
mTaH8KNuMTSBA9JWYKWjuX0Yj3stAry09mS+7egxdul7CP3XglmrEJk/iw==
-----END PUBLIC KEY-----
";

#[tokio::test]
async fn client_credentials_go_into_the_body_with_scopes_audience_and_resource() {
    let counter = Counter::default();
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let mut config = client_credentials(Some(mock.url("/token")));
    config.scopes = vec!["read".to_owned(), "write".to_owned()];
    config.audience = Some("https://api".to_owned());
    config.resource = Some("https://api/mcp".to_owned());
    oauth(config, &mock.url("/mcp"), context()).credentials().await.unwrap();
    let seen = &mock.seen()[0];
    assert_eq!(
        seen.body,
        "grant_type=client_credentials&scope=read+write&audience=https%3A%2F%2Fapi\
         &resource=https%3A%2F%2Fapi%2Fmcp&client_id=id&client_secret=machine-secret"
    );
    assert_eq!(seen.headers["content-type"], "application/x-www-form-urlencoded");
    assert_eq!(seen.authorization(), None);
}

#[tokio::test]
async fn the_secret_goes_into_a_basic_header_if_asked_for() {
    let counter = Counter::default();
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let mut config = client_credentials(Some(mock.url("/token")));
    config.client_auth = Some(ClientAuthMethod::ClientSecretBasic);
    let context = context();
    let redactor = context.redactor.clone();
    oauth(config, &mock.url("/mcp"), context).credentials().await.unwrap();
    let seen = &mock.seen()[0];
    assert_eq!(seen.body, "grant_type=client_credentials");
    assert_eq!(seen.authorization(), Some("Basic aWQ6bWFjaGluZS1zZWNyZXQ="));
    assert_eq!(redactor.text(seen.authorization().unwrap()), "Basic ***");
}

#[tokio::test]
async fn a_password_grant_needs_no_client() {
    let counter = Counter::default();
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let grant = GrantConfig::Password {
        username: "jürgen".to_owned(),
        password: secret("correct horse & co"),
    };
    let config = OAuthConfig { token_url: Some(mock.url("/token")), ..OAuthConfig::new(grant) };
    let context = context();
    let redactor = context.redactor.clone();
    oauth(config, &mock.url("/mcp"), context).credentials().await.unwrap();
    let seen = &mock.seen()[0];
    assert_eq!(seen.body, "grant_type=password&username=j%C3%BCrgen&password=correct+horse+%26+co");
    assert!(redactor.text(&seen.body).ends_with("password=***"));
}

#[tokio::test]
async fn an_assertion_is_signed_for_the_issuer_and_proves_the_client() {
    let counter = Counter::default();
    let mock = Mock::start(move |seen| match seen.path.as_str() {
        "/.well-known/oauth-authorization-server" => ok(json!({
            "issuer": seen.origin, "token_endpoint": format!("{}/token", seen.origin),
            "token_endpoint_auth_methods_supported": ["private_key_jwt"],
        })),
        "/token" => numbered(&counter, 3600),
        _ => status(404),
    })
    .await;
    let key = SigningKey {
        pem: secret(KEY),
        algorithm: "ES256".to_owned(),
        key_id: Some("k1".to_owned()),
    };
    let config = OAuthConfig {
        client_id: Some("id".to_owned()),
        ..OAuthConfig::new(GrantConfig::ClientCredentials { key: Some(key) })
    };
    oauth(config, &mock.url("/mcp"), context()).credentials().await.unwrap();
    let seen = &mock.at("/token")[0];
    assert_eq!(
        seen.form("client_assertion_type").unwrap(),
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    );
    assert_eq!(seen.form("client_secret"), None);
    let mut validation = Validation::new(Algorithm::ES256);
    validation.set_audience(&[&mock.origin]);
    let key = DecodingKey::from_ec_pem(PUBLIC_KEY.as_bytes()).unwrap();
    let assertion = seen.form("client_assertion").unwrap();
    let decoded = jsonwebtoken::decode::<Value>(&assertion, &key, &validation).unwrap();
    assert_eq!(decoded.header.kid.as_deref(), Some("k1"));
    assert_eq!((&decoded.claims["iss"], &decoded.claims["sub"]), (&json!("id"), &json!("id")));
    assert!(decoded.claims["jti"].as_str().unwrap().len() > 20);
}

#[tokio::test]
async fn a_refused_grant_is_reported_with_the_servers_words_and_without_the_secret() {
    let mock = Mock::start(|_| {
        let words =
            json!({"error": "invalid_client", "error_description": "unknown\u{1b}[31m client"});
        json_with(401, &words)
    })
    .await;
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &mock.url("/mcp"), context());
    let error = auth.credentials().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{} refused the client_credentials grant (401 Unauthorized): invalid_client: \
             unknown\\u{{1b}}[31m client; check the client id, the secret and the scopes",
            mock.url("/token")
        )
    );
    assert!(!format!("{error:?}").contains("machine-secret"));
}

#[tokio::test]
async fn what_a_grant_needs_is_demanded_before_anything_is_sent() {
    let server = "https://h/mcp".parse().unwrap();
    let demand = |config: OAuthConfig| {
        authorizer(AuthConfig::OAuth(config), &server, context()).err().unwrap().to_string()
    };
    let bare = OAuthConfig::new(GrantConfig::ClientCredentials { key: None });
    assert_eq!(
        demand(bare.clone()),
        "the client_credentials grant needs `clientId`; add it to `auth`"
    );
    let with_id = OAuthConfig { client_id: Some("id".to_owned()), ..bare };
    assert_eq!(
        demand(with_id.clone()),
        "the client_credentials grant needs `clientSecret`; add it to `auth`"
    );
    let empty = OAuthConfig { client_secret: Some(secret("")), ..with_id };
    assert!(demand(empty).contains("`auth.clientSecret`) is empty"));
}

#[test]
fn no_secret_can_be_read_from_the_debug_form_of_a_configuration() {
    let config = AuthConfig::OAuth(client_credentials(None));
    assert!(!format!("{config:?}").contains("machine-secret"));
}

#[tokio::test]
async fn a_token_that_does_not_come_as_json_is_not_shown_in_the_error() {
    let mock = Mock::start(|_| {
        axum::response::Response::builder()
            .header("content-type", "application/x-www-form-urlencoded")
            .body("access_token=token-canary&token_type=bearer".into())
            .unwrap()
    })
    .await;
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &mock.url("/mcp"), context());
    let error = auth.credentials().await.unwrap_err().to_string();
    assert!(error.ends_with("`application/x-www-form-urlencoded` is not a JSON object"), "{error}");
}

#[tokio::test]
async fn static_credentials_are_handed_out_and_have_no_answer_to_a_refusal() {
    let server = "https://h/mcp".parse().unwrap();
    let basic = AuthConfig::Basic { username: "alice".to_owned(), password: secret("wonderland") };
    let key = AuthConfig::ApiKey {
        value: secret("key-canary"),
        key_name: None,
        placement: Placement::Query,
    };
    for (config, headers, query) in [
        (AuthConfig::None, 0, 0),
        (AuthConfig::Bearer { token: secret("token-canary") }, 1, 0),
        (basic, 1, 0),
        (key, 0, 1),
    ] {
        let auth = authorizer(config, &server, context()).unwrap();
        let got = auth.credentials().await.unwrap();
        assert_eq!((got.headers.len(), got.query.len()), (headers, query));
        assert!(!format!("{got:?}").contains("canary"));
        assert!(!auth.refused(refusal(401, &server, "Bearer", 0)).await.unwrap());
    }
}
