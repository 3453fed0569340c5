//! The login of a user, with a user agent that follows redirects by itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use quintain_wire::auth::oauth::Opener;
use quintain_wire::auth::{
    AuthConfig, AuthContext, AuthError, Authorizer, LoginOptions, authorizer, login,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use crate::headless::HeadlessOpener;
use crate::support::*;

/// An authorization server and an MCP server in one, with optional faults.
#[derive(Clone, Default)]
pub(crate) struct Site {
    /// Merged over the metadata; `null` removes a field.
    pub(crate) metadata: Value,
    /// Added to the redirect that ends the login; an empty value removes the parameter.
    pub(crate) callback: HashMap<&'static str, &'static str>,
    /// No protected-resource metadata.
    pub(crate) legacy: bool,
    /// No metadata at all.
    pub(crate) bare: bool,
    pub(crate) challenges: Arc<Mutex<HashMap<String, String>>>,
    pub(crate) tokens: Counter,
}

impl Site {
    pub(crate) fn answer(&self, seen: &Seen) -> Response {
        let origin = &seen.origin;
        match seen.path.as_str() {
            "/.well-known/oauth-protected-resource/mcp" if !self.legacy && !self.bare => {
                ok(json!({
                    "resource": format!("{origin}/mcp"), "authorization_servers": [origin],
                    "scopes_supported": ["mcp:read"],
                }))
            }
            "/.well-known/oauth-authorization-server" if !self.bare => {
                let mut metadata = json!({
                    "issuer": origin,
                    "authorization_endpoint": format!("{origin}/authorize?tenant=1"),
                    "token_endpoint": format!("{origin}/token"),
                    "registration_endpoint": format!("{origin}/register"),
                    "code_challenge_methods_supported": ["S256"],
                    "token_endpoint_auth_methods_supported": ["none"],
                });
                for (name, value) in self.metadata.as_object().into_iter().flatten() {
                    metadata[name] = value.clone();
                }
                ok(metadata)
            }
            "/register" => json_with(201, &json!({"client_id": "registered-client"})),
            "/authorize" => self.authorize(seen),
            "/token" => self.token(seen),
            "/mcp" => Response::builder()
                .status(401)
                .header("www-authenticate", "Bearer scope=\"mcp:read\"")
                .body(axum::body::Body::empty())
                .unwrap(),
            _ => status(404),
        }
    }

    fn authorize(&self, seen: &Seen) -> Response {
        let code = format!("code-{}", self.tokens.get());
        let challenge = seen.query("code_challenge").unwrap();
        self.challenges.lock().unwrap().insert(code.clone(), challenge);
        let mut answer = HashMap::from([("code", code), ("state", seen.query("state").unwrap())]);
        for (name, value) in &self.callback {
            answer.insert(name, (*value).to_owned());
        }
        answer.retain(|_, value| !value.is_empty());
        let query =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(answer).finish();
        redirect(&format!("{}?{query}", seen.query("redirect_uri").unwrap()))
    }

    fn token(&self, seen: &Seen) -> Response {
        if let Some(verifier) = seen.form("code_verifier") {
            let expected = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
            let code = seen.form("code").unwrap();
            if self.challenges.lock().unwrap().remove(&code) != Some(expected) {
                return json_with(400, &json!({"error": "invalid_grant"}));
            }
        }
        let number = self.tokens.next();
        ok(json!({
            "access_token": format!("access-{number}"), "refresh_token": format!("refresh-{number}"),
            "token_type": "Bearer", "expires_in": 3600,
        }))
    }
}

pub(crate) async fn start(site: Site) -> Mock {
    Mock::start(move |seen| site.answer(seen)).await
}

pub(crate) fn interactive(
    mock: &Mock,
    options: LoginOptions,
    context: AuthContext,
) -> Arc<dyn Authorizer> {
    let config = AuthConfig::Interactive { options, opener: Arc::new(HeadlessOpener) };
    authorizer(config, &mock.url("/mcp"), context).unwrap()
}

/// Acts like the transport: sends a request without a token, is refused, and logs in.
async fn first_login(mock: &Mock, options: LoginOptions) -> Result<String, AuthError> {
    let auth = interactive(mock, options, context());
    let before = auth.credentials().await?;
    assert!(before.headers.is_empty(), "a user is not asked before the server refuses");
    let challenge = r#"Bearer scope="mcp:read""#;
    assert!(auth.refused(refusal(401, &mock.url("/mcp"), challenge, before.generation)).await?);
    Ok(token(&auth.credentials().await?))
}

#[tokio::test]
async fn a_refusal_leads_through_registration_and_login_to_a_token() {
    let mock = start(Site::default()).await;
    assert_eq!(first_login(&mock, LoginOptions::default()).await.unwrap(), "access-1");
    assert_eq!(
        mock.paths(),
        [
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-authorization-server",
            "/register",
            "/authorize",
            "/token",
        ]
    );
    let registration: Value = serde_json::from_str(&mock.at("/register")[0].body).unwrap();
    assert_eq!(registration["application_type"], "native");
    assert_eq!(registration["token_endpoint_auth_method"], "none");
    assert_eq!(registration["grant_types"], json!(["authorization_code", "refresh_token"]));
    let page = &mock.at("/authorize")[0];
    assert_eq!(page.query("tenant").unwrap(), "1", "the query of the endpoint is kept");
    assert_eq!(page.query("client_id").unwrap(), "registered-client");
    assert_eq!(page.query("code_challenge_method").unwrap(), "S256");
    assert_eq!(page.query("resource").unwrap(), mock.url("/mcp").as_str());
    assert_eq!(page.query("scope").unwrap(), "mcp:read");
    assert!(page.query("state").unwrap().len() >= 32);
    let exchange = &mock.at("/token")[0];
    assert_eq!(exchange.form("grant_type").unwrap(), "authorization_code");
    assert_eq!(exchange.form("resource").unwrap(), mock.url("/mcp").as_str());
    assert_eq!(exchange.form("redirect_uri"), page.query("redirect_uri"));
    assert!(page.query("redirect_uri").unwrap().starts_with("http://127.0.0.1:"));
}

#[tokio::test]
async fn a_given_client_comes_before_a_metadata_document_and_that_before_registration() {
    let site = Site {
        metadata: json!({
            "client_id_metadata_document_supported": true,
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }),
        ..Site::default()
    };
    let document = Some("https://quintain.example/client.json".parse().unwrap());
    let with_document = LoginOptions { client_metadata_url: document, ..LoginOptions::default() };
    let given = LoginOptions {
        client_id: Some("given".to_owned()),
        client_secret: Some(secret("given-secret")),
        ..with_document.clone()
    };
    for (options, id, basic) in
        [(given, "given", true), (with_document, "https://quintain.example/client.json", false)]
    {
        let mock = start(site.clone()).await;
        first_login(&mock, options).await.unwrap();
        assert!(mock.at("/register").is_empty());
        assert_eq!(mock.at("/authorize")[0].query("client_id").unwrap(), id);
        assert_eq!(mock.at("/token")[0].authorization().is_some(), basic);
    }
}

#[tokio::test]
async fn offline_access_is_asked_for_where_the_server_knows_it() {
    let metadata = json!({"scopes_supported": ["mcp:read", "offline_access"]});
    let mock = start(Site { metadata, ..Site::default() }).await;
    first_login(&mock, LoginOptions::default()).await.unwrap();
    let page = &mock.at("/authorize")[0];
    assert_eq!(page.query("scope").unwrap(), "mcp:read offline_access");
    assert_eq!(page.query("prompt").unwrap(), "consent");
}

#[tokio::test]
async fn a_server_without_s256_is_refused_before_the_user_is_asked() {
    for methods in [json!([]), json!(["plain"]), Value::Null] {
        let metadata = json!({"code_challenge_methods_supported": methods});
        let mock = start(Site { metadata, ..Site::default() }).await;
        let error = first_login(&mock, LoginOptions::default()).await.unwrap_err();
        assert!(matches!(error, AuthError::NoPkce { .. }), "{error}");
        assert!(mock.at("/authorize").is_empty() && mock.at("/register").is_empty());
    }
}

#[tokio::test]
async fn an_answer_from_elsewhere_is_thrown_away() {
    let promised = json!({"authorization_response_iss_parameter_supported": true});
    let cases = [
        (json!({}), ("state", "forged"), "the `state` of another login"),
        (json!({}), ("state", ""), "no `state`"),
        (json!({}), ("iss", "https://evil.example"), "`https://evil.example`"),
        (promised.clone(), ("iss", "https://evil.example"), "`https://evil.example`"),
        (promised, ("iss", ""), "no `iss`"),
        (json!({}), ("code", ""), "no `code`"),
    ];
    for (metadata, fault, words) in cases {
        let callback = HashMap::from([fault]);
        let mock = start(Site { metadata, callback, ..Site::default() }).await;
        let error = first_login(&mock, LoginOptions::default()).await.unwrap_err();
        assert!(matches!(error, AuthError::Callback { .. }), "{error}");
        assert!(error.to_string().contains(words), "{error}");
        assert!(mock.at("/token").is_empty(), "the code must not be spent");
    }
}

#[tokio::test]
async fn the_words_of_a_refused_login_are_shown_unless_they_come_from_elsewhere() {
    let refused =
        HashMap::from([("code", ""), ("error", "access_denied"), ("error_description", "not you")]);
    let mock = start(Site { callback: refused.clone(), ..Site::default() }).await;
    let error = first_login(&mock, LoginOptions::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "the login was refused: access_denied: not you");
    let mut forged = refused;
    forged.insert("iss", "https://evil.example");
    let mock = start(Site { callback: forged, ..Site::default() }).await;
    let error = first_login(&mock, LoginOptions::default()).await.unwrap_err();
    assert!(!error.to_string().contains("not you"), "{error}");
}

#[tokio::test]
async fn wider_scopes_are_asked_for_once_together_with_the_earlier_ones() {
    let mock = start(Site::default()).await;
    let server = mock.url("/mcp");
    let auth = interactive(&mock, LoginOptions::default(), context());
    let step = async |status, challenge: &str| {
        let generation = auth.credentials().await.unwrap().generation;
        auth.refused(refusal(status, &server, challenge, generation)).await
    };
    assert!(step(401, r#"Bearer scope="mcp:read""#).await.unwrap());
    let wider = r#"Bearer error="insufficient_scope", scope="mcp:write""#;
    assert!(step(403, wider).await.unwrap());
    assert_eq!(mock.at("/authorize")[1].query("scope").unwrap(), "mcp:read mcp:write");
    assert_eq!(mock.at("/register").len(), 1, "both logins use one registration");
    let error = step(403, wider).await.unwrap_err();
    assert!(error.to_string().contains("was requested and not granted"), "{error}");
    assert_eq!(mock.at("/authorize").len(), 2);
    assert!(!step(403, "Bearer").await.unwrap(), "a plain 403 is final");
}

#[tokio::test]
async fn a_refused_step_up_is_an_error_and_leaves_the_first_token_in_use() {
    let site = Site::default();
    let mock = Mock::start(move |seen| match seen.query("scope") {
        Some(scope) if scope.contains("mcp:write") => redirect(&format!(
            "{}?error=access_denied&state={}",
            seen.query("redirect_uri").unwrap(),
            seen.query("state").unwrap()
        )),
        _ => site.answer(seen),
    })
    .await;
    let server = mock.url("/mcp");
    let auth = interactive(&mock, LoginOptions::default(), context());
    assert!(auth.refused(refusal(401, &server, "Bearer", 0)).await.unwrap());
    let first = auth.credentials().await.unwrap();
    let challenge = r#"Bearer scope="mcp:write""#;
    let error = auth.refused(refusal(403, &server, challenge, first.generation)).await.unwrap_err();
    assert!(matches!(error, AuthError::Denied { .. }), "{error}");
    assert_eq!(token(&auth.credentials().await.unwrap()), "access-1");
}

#[tokio::test]
async fn a_server_that_invents_scopes_cannot_keep_the_user_busy() {
    let mock = start(Site::default()).await;
    let server = mock.url("/mcp");
    let auth = interactive(&mock, LoginOptions::default(), context());
    for number in 0..100 {
        let generation = auth.credentials().await.unwrap().generation;
        let challenge = format!(r#"Bearer error="insufficient_scope", scope="s{number}""#);
        if auth.refused(refusal(403, &server, &challenge, generation)).await.is_err() {
            return assert!(mock.at("/authorize").len() < 10);
        }
    }
    panic!("never gave up");
}

#[tokio::test]
async fn servers_of_the_2025_03_26_protocol_are_served_too() {
    for site in [Site { legacy: true, ..Site::default() }, Site { bare: true, ..Site::default() }] {
        let mock = start(site).await;
        assert_eq!(first_login(&mock, LoginOptions::default()).await.unwrap(), "access-1");
    }
}

#[tokio::test]
async fn a_new_issuer_gets_a_new_registration_and_no_old_secrets() {
    let (old, new) = (start(Site::default()).await, start(Site::default()).await);
    let moved = Arc::new(Mutex::new(old.origin.clone()));
    let issuer = Arc::clone(&moved);
    let resource = Mock::start(move |seen| match seen.path.as_str() {
        "/.well-known/oauth-protected-resource/mcp" => ok(json!({
            "resource": format!("{}/mcp", seen.origin),
            "authorization_servers": [*issuer.lock().unwrap()],
        })),
        _ => status(404),
    })
    .await;
    let server = resource.url("/mcp");
    let auth = interactive(&resource, LoginOptions::default(), context());
    assert!(auth.refused(refusal(401, &server, "Bearer", 0)).await.unwrap());
    auth.credentials().await.unwrap();
    let first = auth.credentials().await.unwrap();
    moved.lock().unwrap().clone_from(&new.origin);
    assert!(auth.refused(refusal(401, &server, "Bearer", first.generation)).await.unwrap());
    auth.credentials().await.unwrap();
    assert_eq!(new.at("/register").len(), 1);
    assert!(
        new.seen().iter().all(|seen| !seen.body.contains("refresh") || seen.path == "/register")
    );
    assert!(old.at("/token").iter().all(|seen| seen.form("refresh_token").is_none()));
}

#[tokio::test]
async fn a_login_that_nobody_finishes_ends_with_its_time_out() {
    let mock = start(Site::default()).await;
    let login_timeout = Some(std::time::Duration::from_millis(200));
    let options = LoginOptions { login_timeout, ..LoginOptions::default() };
    let opener = Arc::new(Shown::default());
    let error = login(&mock.url("/mcp"), options, opener.clone(), context()).await.unwrap_err();
    assert!(matches!(error, AuthError::LoginTimedOut { .. }), "{error}");
    assert_eq!(opener.0.lock().unwrap().as_deref(), Some("/authorize"));
}

/// A person who sees the URL and does nothing; keeps its path.
#[derive(Debug, Default)]
struct Shown(Mutex<Option<String>>);

impl Opener for Shown {
    fn open<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Result<(), AuthError>> {
        *self.0.lock().unwrap() = Some(url.path().to_owned());
        Box::pin(async { Ok(()) })
    }
}

#[tokio::test]
async fn redirects_in_a_circle_and_pages_for_people_end_the_headless_login() {
    let metadata = json!({"authorization_endpoint": null});
    let circle = Site { metadata, ..Site::default() };
    let answer = move |seen: &Seen| match seen.path.as_str() {
        "/authorize" => redirect("/authorize?again=1"),
        "/.well-known/oauth-authorization-server" => ok(json!({
            "issuer": seen.origin, "code_challenge_methods_supported": ["S256"],
            "authorization_endpoint": format!("{}/authorize", seen.origin),
            "token_endpoint": format!("{}/token", seen.origin),
            "registration_endpoint": format!("{}/register", seen.origin),
        })),
        _ => circle.answer(seen),
    };
    let mock = Mock::start(answer).await;
    let error = first_login(&mock, LoginOptions::default()).await.unwrap_err();
    assert!(error.to_string().contains("more than 20 redirects"), "{error}");
}
