//! Logins that outlive the process.

use std::sync::Arc;

use quintain_wire::auth::oauth::HeadlessOpener;
use quintain_wire::auth::{
    AuthConfig, AuthContext, AuthError, LoginOptions, TokenStore, authorizer, login,
};
use serde_json::json;

use crate::login::{Site, interactive, start};
use crate::support::*;

fn at(folder: &tempfile::TempDir, time: &Time) -> AuthContext {
    let state_dir = Some(folder.path().to_owned());
    AuthContext { state_dir, clock: time.clock(), ..context() }
}

async fn log_in(mock: &Mock, folder: &tempfile::TempDir, time: &Time) {
    let opener = Arc::new(HeadlessOpener::default());
    let options = LoginOptions::default();
    let stored = login(&mock.url("/mcp"), options, opener, at(folder, time)).await.unwrap();
    assert_eq!(stored.issuer, mock.origin);
    assert!(stored.renewable());
    assert!(!format!("{stored:?}").contains("access-1"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_login_is_stored_for_its_owner_only_and_found_again() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, time) = (tempfile::tempdir().unwrap(), Time::new());
    let mock = start(Site::default()).await;
    log_in(&mock, &folder, &time).await;
    let logins = folder.path().join("logins");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&logins), 0o700);
    let files: Vec<_> = logins.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "no half-written files are left: {files:?}");
    assert_eq!(mode(&files[0]), 0o600);

    let auth = authorizer(AuthConfig::Stored, &mock.url("/mcp?x=1"), at(&folder, &time)).unwrap();
    assert_eq!(token(&auth.credentials().await.unwrap()), "access-1");
}

#[tokio::test]
async fn logins_are_listed_and_deleted_and_a_broken_file_does_no_harm() {
    let (folder, time) = (tempfile::tempdir().unwrap(), Time::new());
    let (one, two) = (start(Site::default()).await, start(Site::default()).await);
    let store = TokenStore::new(folder.path());
    assert!(store.list().unwrap().is_empty());
    log_in(&one, &folder, &time).await;
    log_in(&two, &folder, &time).await;
    std::fs::write(folder.path().join("logins/broken.json"), "{\"access_token\": \"tok").unwrap();
    assert_eq!(store.list().unwrap().len(), 2);
    assert_eq!(store.delete(&one.url("/mcp")).unwrap(), 1);
    assert_eq!(store.delete(&one.url("/mcp")).unwrap(), 0);
    assert!(store.load(&one.url("/mcp")).unwrap().is_none());
    assert!(store.load(&two.url("/mcp")).unwrap().is_some());
}

#[tokio::test]
async fn without_a_stored_login_the_command_to_run_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let server = "https://mcp.example/mcp?key=secret".parse().unwrap();
    let context = at(&folder, &Time::new());
    let error = authorizer(AuthConfig::Stored, &server, context).err().unwrap();
    assert_eq!(
        error.to_string(),
        "there is no stored login for this server; run `quintain login https://mcp.example/mcp`"
    );
}

#[tokio::test]
async fn a_stored_login_renews_itself_and_stores_the_rotated_tokens() {
    let (folder, time) = (tempfile::tempdir().unwrap(), Time::new());
    let mock = start(Site::default()).await;
    log_in(&mock, &folder, &time).await;
    time.advance(3600);
    let context = at(&folder, &time);
    let redactor = context.redactor.clone();
    let auth = authorizer(AuthConfig::Stored, &mock.url("/mcp"), context).unwrap();
    assert_eq!(token(&auth.credentials().await.unwrap()), "access-2");
    let exchange = &mock.at("/token")[1];
    assert_eq!(exchange.form("refresh_token").unwrap(), "refresh-1");
    assert_eq!(exchange.form("client_id").unwrap(), "registered-client");
    assert_eq!(redactor.text("refresh-1 refresh-2 access-2"), "*** *** ***");

    // A second process starts from what the first one stored.
    time.advance(3600);
    let auth = authorizer(AuthConfig::Stored, &mock.url("/mcp"), at(&folder, &time)).unwrap();
    assert_eq!(token(&auth.credentials().await.unwrap()), "access-3");
    assert_eq!(mock.at("/token")[2].form("refresh_token").unwrap(), "refresh-2");
}

#[tokio::test]
async fn a_login_renewed_by_another_process_is_taken_over_and_not_renewed_twice() {
    let (folder, time) = (tempfile::tempdir().unwrap(), Time::new());
    let mock = start(Site::default()).await;
    log_in(&mock, &folder, &time).await;
    let open = || authorizer(AuthConfig::Stored, &mock.url("/mcp"), at(&folder, &time)).unwrap();
    let (one, two) = (open(), open());
    time.advance(3600);
    assert_eq!(token(&one.credentials().await.unwrap()), "access-2");
    assert_eq!(token(&two.credentials().await.unwrap()), "access-2");
    assert_eq!(mock.at("/token").len(), 2);
}

#[tokio::test]
async fn a_stored_login_that_is_revoked_asks_for_a_new_login() {
    let (folder, time) = (tempfile::tempdir().unwrap(), Time::new());
    let site = Site::default();
    let mock = Mock::start(move |seen| match seen.form("grant_type").as_deref() {
        Some("refresh_token") => json_with(400, &json!({"error": "invalid_grant"})),
        _ => site.answer(seen),
    })
    .await;
    log_in(&mock, &folder, &time).await;
    let server = mock.url("/mcp");
    let auth = authorizer(AuthConfig::Stored, &server, at(&folder, &time)).unwrap();
    let generation = auth.credentials().await.unwrap().generation;
    let error = auth.refused(refusal(401, &server, "Bearer", generation)).await.unwrap_err();
    assert!(matches!(error, AuthError::LoginNeeded { .. }), "{error}");
    assert!(error.to_string().ends_with(&format!("run `quintain login {server}`")), "{error}");
}

#[tokio::test]
async fn an_interactive_login_is_stored_and_reused_without_asking_again() {
    let (folder, time) = (tempfile::tempdir().unwrap(), Time::new());
    let mock = start(Site::default()).await;
    let first = interactive(&mock, LoginOptions::default(), at(&folder, &time));
    assert!(first.refused(refusal(401, &mock.url("/mcp"), "Bearer", 0)).await.unwrap());
    let second = interactive(&mock, LoginOptions::default(), at(&folder, &time));
    assert_eq!(token(&second.credentials().await.unwrap()), "access-1");
    assert_eq!(mock.at("/authorize").len(), 1);
}
