//! The same flows against oidc-provider, a certified authorization server.
//!
//! `QUINTAIN_PEER_OIDC` names the folder of the peer (peers/oidc after `npm ci`). Without it the tests print
//! SKIPPED.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use http::StatusCode;
use quintain_wire::auth::oauth::{ClientAuthMethod, SigningKey};
use quintain_wire::auth::{
    AuthConfig, AuthContext, AuthError, Authorizer, Clock, GrantConfig, HttpRefusal, LoginOptions,
    OAuthConfig, authorizer, login,
};
use serde_json::Value;
use url::Url;

use crate::headless::HeadlessOpener;
use crate::support::{context, oauth, secret, token};

/// The child, and its stdout, which is kept because node would exit on a closed pipe.
type Process = (Child, BufReader<ChildStdout>);

/// The origin of the peer.
fn peer() -> Option<&'static str> {
    ready().and_then(|ready| ready["issuer"].as_str())
}

/// What the peer printed at its start; it exits when its stdin is closed.
fn ready() -> Option<&'static Value> {
    static PEER: OnceLock<Option<(Value, Process)>> = OnceLock::new();
    let peer = PEER.get_or_init(|| {
        let folder = std::path::PathBuf::from(std::env::var_os("QUINTAIN_PEER_OIDC")?);
        let node = std::env::var_os("QUINTAIN_PEER_NODE").unwrap_or_else(|| "node".into());
        let mut child = Command::new(node)
            .arg("server.mjs")
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("node in {}: {error}", folder.display()));
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line)
            .unwrap_or_else(|_| panic!("the peer in {} did not start", folder.display()));
        Some((ready, (child, stdout)))
    });
    if peer.is_none() {
        assert!(std::env::var_os("CI").is_none(), "QUINTAIN_PEER_OIDC is not set, and this is CI");
        // Written directly to stderr, because the test harness would capture it.
        let _ = std::io::stderr().write_all(b"SKIPPED: no oidc-provider, set QUINTAIN_PEER_OIDC\n");
    }
    peer.as_ref().map(|(ready, _)| ready)
}

fn url(origin: &str, path: &str) -> Url {
    format!("{origin}{path}").parse().unwrap()
}

fn machine(resource: &Url) -> OAuthConfig {
    OAuthConfig {
        client_id: Some("machine".to_owned()),
        client_secret: Some(secret("machine-secret")),
        scopes: vec!["mcp:read".to_owned()],
        resource: Some(resource.to_string()),
        ..OAuthConfig::new(GrantConfig::ClientCredentials { key: None })
    }
}

fn alice(server: &Url, password: &str) -> OAuthConfig {
    let grant = GrantConfig::Password { username: "alice".to_owned(), password: secret(password) };
    OAuthConfig {
        client_id: Some("app".to_owned()),
        client_secret: Some(secret("machine-secret")),
        resource: Some(server.to_string()),
        ..OAuthConfig::new(grant)
    }
}

/// One call as a transport makes it: with credentials, and a retry after an answered refusal.
async fn call(auth: &dyn Authorizer, server: &Url) -> Result<StatusCode, AuthError> {
    let client = reqwest::Client::new();
    let mut retried = false;
    loop {
        let credentials = auth.credentials().await?;
        let mut request = client.get(server.clone());
        if !credentials.headers.is_empty() {
            request = request.bearer_auth(token(&credentials));
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        if status.is_success() || retried {
            return Ok(status);
        }
        let generation = credentials.generation;
        retried =
            auth.refused(HttpRefusal { status, headers, url: server.clone(), generation }).await?;
        if !retried {
            return Ok(status);
        }
    }
}

async fn revoke(origin: &str, auth: &dyn Authorizer, client: &[(&str, &str)]) {
    let token = token(&auth.credentials().await.unwrap());
    let mut form = client.to_vec();
    form.push(("token", &token));
    let request = reqwest::Client::new().post(url(origin, "/token/revocation")).form(&form);
    assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
}

const MACHINE: [(&str, &str); 2] = [("client_id", "machine"), ("client_secret", "machine-secret")];

#[tokio::test]
async fn client_credentials_open_the_resource() {
    let Some(origin) = peer() else { return };
    let server = url(origin, "/mcp-protected");
    for basic in [false, true] {
        let mut config = machine(&server);
        config.token_url = Some(url(origin, "/token"));
        if basic {
            config.client_id = Some("machine-basic".to_owned());
            config.client_auth = Some(ClientAuthMethod::ClientSecretBasic);
        }
        let auth = oauth(config, &server, context());
        assert_eq!(call(&*auth, &server).await.unwrap(), StatusCode::OK);
    }
}

#[tokio::test]
async fn a_key_that_signs_opens_the_resource_and_one_of_another_kind_is_refused() {
    let (Some(origin), Some(ready)) = (peer(), ready()) else { return };
    let server = url(origin, "/mcp-protected");
    let config = |algorithm: &str| OAuthConfig {
        client_id: Some("machine-key".to_owned()),
        resource: Some(server.to_string()),
        ..OAuthConfig::new(GrantConfig::ClientCredentials {
            key: Some(SigningKey {
                pem: secret(ready["key"].as_str().unwrap()),
                algorithm: algorithm.to_owned(),
                key_id: Some("key-1".to_owned()),
            }),
        })
    };
    let auth = oauth(config("ES256"), &server, context());
    assert_eq!(call(&*auth, &server).await.unwrap(), StatusCode::OK);
    let auth = oauth(config("RS256"), &server, context());
    let error = call(&*auth, &server).await.unwrap_err();
    assert!(matches!(error, AuthError::Key { .. }), "{error}");
}

#[tokio::test]
async fn the_token_endpoint_of_a_realm_is_discovered_under_its_path() {
    let Some(origin) = peer() else { return };
    let realm = url(origin, "/realms/x");
    let auth = oauth(machine(&url(origin, "/mcp-realm")), &realm, context());
    assert_eq!(call(&*auth, &url(origin, "/mcp-realm")).await.unwrap(), StatusCode::OK);
}

#[tokio::test]
async fn a_wrong_secret_is_reported_as_the_server_words_it() {
    let Some(origin) = peer() else { return };
    let server = url(origin, "/mcp-protected");
    let config = OAuthConfig { client_secret: Some(secret("wrong")), ..machine(&server) };
    let error = oauth(config, &server, context()).credentials().await.unwrap_err().to_string();
    assert!(error.contains("invalid_client: client authentication failed"), "{error}");
}

#[tokio::test]
async fn a_password_buys_a_token_and_a_wrong_one_does_not() {
    let Some(origin) = peer() else { return };
    let server = url(origin, "/mcp-protected");
    let auth = oauth(alice(&server, "correct horse"), &server, context());
    assert_eq!(call(&*auth, &server).await.unwrap(), StatusCode::OK);
    let auth = oauth(alice(&server, "battery staple"), &server, context());
    let error = call(&*auth, &server).await.unwrap_err().to_string();
    assert!(error.contains("invalid_grant: wrong user name or password"), "{error}");
}

#[tokio::test]
async fn a_revoked_token_is_replaced_and_the_call_succeeds() {
    let Some(origin) = peer() else { return };
    let server = url(origin, "/mcp-protected");
    let auth = oauth(machine(&server), &server, context());
    for _ in 0..3 {
        assert_eq!(call(&*auth, &server).await.unwrap(), StatusCode::OK);
        revoke(origin, &*auth, &MACHINE).await;
    }
    assert_eq!(call(&*auth, &server).await.unwrap(), StatusCode::OK);
}

#[tokio::test]
async fn a_token_for_another_resource_stays_refused_and_the_error_says_so() {
    let Some(origin) = peer() else { return };
    let server = url(origin, "/mcp-protected");
    let auth = oauth(machine(&url(origin, "/mcp-other")), &server, context());
    assert_eq!(call(&*auth, &server).await.unwrap(), StatusCode::UNAUTHORIZED);
}

/// A clock ahead of the server's, so that tokens are refreshed without waiting for their expiry.
fn ahead() -> (Arc<AtomicU64>, Clock) {
    let seconds = Arc::new(AtomicU64::new(0));
    let (own, start) = (Arc::clone(&seconds), SystemTime::now());
    (seconds, Clock::from_fn(move || start + Duration::from_secs(own.load(Ordering::SeqCst))))
}

#[tokio::test]
async fn tokens_of_five_seconds_and_rotating_refresh_tokens_last_as_long_as_needed() {
    let Some(origin) = peer() else { return };
    let server = url(origin, "/mcp-short");
    let (seconds, clock) = ahead();
    let auth = oauth(alice(&server, "correct horse"), &server, AuthContext { clock, ..context() });
    let mut seen = HashSet::new();
    for _ in 0..5 {
        assert_eq!(call(&*auth, &server).await.unwrap(), StatusCode::OK);
        seen.insert(token(&auth.credentials().await.unwrap()));
        seconds.fetch_add(3, Ordering::SeqCst);
    }
    assert_eq!(seen.len(), 5, "each refresh used the refresh token of the previous one");
}

#[tokio::test]
async fn a_user_logs_in_with_code_pkce_and_dynamic_registration() {
    let Some(origin) = peer() else { return };
    for path in ["/mcp-protected", "/mcp-realm"] {
        let server = url(origin, path);
        let opener = Arc::new(HeadlessOpener);
        let config = AuthConfig::Interactive { options: LoginOptions::default(), opener };
        let auth = authorizer(config, &server, context()).unwrap();
        assert_eq!(call(&*auth, &server).await.unwrap(), StatusCode::OK, "{path}");
    }
}

#[tokio::test]
async fn a_stored_login_rotates_from_process_to_process_until_it_is_revoked() {
    let Some(origin) = peer() else { return };
    let folder = tempfile::tempdir().unwrap();
    let server = url(origin, "/mcp-short");
    let (seconds, clock) = ahead();
    let context = AuthContext { state_dir: Some(folder.path().to_owned()), clock, ..context() };
    let opener = Arc::new(HeadlessOpener);
    let stored = login(&server, LoginOptions::default(), opener, context.clone()).await.unwrap();
    assert_eq!(stored.issuer, origin);
    assert!(stored.renewable(), "the peer issues a refresh token");
    let mut seen = HashSet::new();
    for _ in 0..4 {
        let process = authorizer(AuthConfig::Stored, &server, context.clone()).unwrap();
        assert_eq!(call(&*process, &server).await.unwrap(), StatusCode::OK);
        seen.insert(token(&process.credentials().await.unwrap()));
        seconds.fetch_add(3, Ordering::SeqCst);
    }
    assert_eq!(seen.len(), 4);
    // oidc-provider ends the whole login when one of its access tokens is revoked.
    let process = authorizer(AuthConfig::Stored, &server, context).unwrap();
    revoke(origin, &*process, &[("client_id", &stored.client_id)]).await;
    let error = call(&*process, &server).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the stored login is no longer accepted (invalid_grant: grant request is invalid); \
             run `quintain login {server}`"
        )
    );
}
