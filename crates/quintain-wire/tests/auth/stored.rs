//! Logins that are stored between processes.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use quintain_wire::auth::{
    AuthConfig, AuthContext, AuthError, LoginOptions, TokenStore, authorizer, login,
};
use serde_json::json;

use crate::headless::HeadlessOpener;
use crate::login::{Site, interactive, start};
use crate::support::*;

fn at(folder: &tempfile::TempDir, time: &Time) -> AuthContext {
    let state_dir = Some(folder.path().to_owned());
    AuthContext { state_dir, clock: time.clock(), ..context() }
}

async fn log_in(mock: &Mock, folder: &tempfile::TempDir, time: &Time) {
    let opener = Arc::new(HeadlessOpener);
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
    assert_eq!(files.len(), 2, "the login and its lock, no temporary file: {files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600));

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
    assert_eq!(store.delete(&one.url("/mcp")).await.unwrap(), 1);
    assert_eq!(store.delete(&one.url("/mcp")).await.unwrap(), 0);
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
        "no login is stored for this server; run `quintain login https://mcp.example/mcp`"
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

    // A second process uses what the first one stored.
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

/// A site that ends a login whose refresh token is used twice, as servers with rotation do.
async fn rotating() -> Mock {
    let (site, spent) = (Site::default(), Arc::new(Mutex::new(HashSet::new())));
    Mock::start(move |seen| {
        if let Some(token) = seen.form("refresh_token")
            && !spent.lock().unwrap().insert(token)
        {
            return json_with(400, &json!({"error": "invalid_grant"}));
        }
        site.answer(seen)
    })
    .await
}

#[tokio::test]
async fn many_that_renew_at_once_spend_each_refresh_token_once() {
    let (folder, time) = (tempfile::tempdir().unwrap(), Time::new());
    let mock = rotating().await;
    log_in(&mock, &folder, &time).await;
    for round in 2..5 {
        let open = |config| authorizer(config, &mock.url("/mcp"), at(&folder, &time)).unwrap();
        // Each has its own lock on the file, like separate processes; some may ask a user, some may not.
        let all: Vec<_> = (0..8)
            .map(|number| match number % 2 {
                0 => open(AuthConfig::Stored),
                _ => interactive(&mock, LoginOptions::default(), at(&folder, &time)),
            })
            .collect();
        time.advance(3600);
        let got = join_all(all.iter().map(|auth| auth.credentials())).await;
        for credentials in got {
            assert_eq!(token(&credentials.unwrap()), format!("access-{round}"));
        }
        assert_eq!(mock.at("/token").len(), round);
    }
}

#[tokio::test]
async fn a_lock_that_is_never_given_back_ends_in_an_error_that_says_so() {
    let (folder, time) = (tempfile::tempdir().unwrap(), Time::new());
    let mock = start(Site::default()).await;
    log_in(&mock, &folder, &time).await;
    let held = std::fs::File::open(only_file(&folder, "lock")).unwrap();
    held.lock().unwrap();
    time.advance(3600);
    let patience = std::time::Duration::from_millis(50);
    let context = AuthContext { timeout: patience, ..at(&folder, &time) };
    let auth = authorizer(AuthConfig::Stored, &mock.url("/mcp"), context).unwrap();
    let error = auth.credentials().await.unwrap_err().to_string();
    assert!(error.contains("another process has been refreshing this login"), "{error}");
    // The lock is released with its process.
    drop(held);
    assert_eq!(token(&auth.credentials().await.unwrap()), "access-2");
}

#[cfg(unix)]
#[tokio::test]
async fn links_in_the_folder_of_logins_are_not_followed() {
    let (folder, time) = (tempfile::tempdir().unwrap(), Time::new());
    let mock = start(Site::default()).await;
    log_in(&mock, &folder, &time).await;
    let entries = folder.path().join("logins").read_dir().unwrap();
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "mine").unwrap();
    for path in entries.map(|entry| entry.unwrap().path()) {
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
    }
    assert!(TokenStore::new(folder.path()).list().unwrap().is_empty());
    let opener = Arc::new(HeadlessOpener);
    let options = LoginOptions::default();
    let error = login(&mock.url("/mcp"), options, opener, at(&folder, &time)).await.unwrap_err();
    assert!(error.to_string().contains("it is a link or not a regular file"), "{error}");
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
}

#[tokio::test]
async fn a_login_that_is_forgotten_during_a_run_stays_forgotten() {
    let (folder, time) = (tempfile::tempdir().unwrap(), Time::new());
    let mock = start(Site::default()).await;
    log_in(&mock, &folder, &time).await;
    let auth = authorizer(AuthConfig::Stored, &mock.url("/mcp"), at(&folder, &time)).unwrap();
    let store = TokenStore::new(folder.path());
    assert_eq!(store.delete(&mock.url("/mcp")).await.unwrap(), 1);
    time.advance(3600);
    assert_eq!(token(&auth.credentials().await.unwrap()), "access-2");
    assert!(store.load(&mock.url("/mcp")).unwrap().is_none());
}

#[tokio::test]
async fn a_stored_login_is_renewed_only_where_its_issuer_says() {
    let (folder, time) = (tempfile::tempdir().unwrap(), Time::new());
    let hostile = start(Site::default()).await;
    let mock = start(Site::default()).await;
    log_in(&mock, &folder, &time).await;
    let file = only_file(&folder, "json");
    let text = std::fs::read_to_string(&file).unwrap();
    let elsewhere = text.replace(&mock.url("/token").to_string(), hostile.url("/token").as_str());
    assert_ne!(text, elsewhere);
    std::fs::write(&file, elsewhere).unwrap();
    time.advance(3600);
    for config in [AuthConfig::Stored, stored_interactive()] {
        let auth = authorizer(config, &mock.url("/mcp"), at(&folder, &time)).unwrap();
        let error = auth.credentials().await.unwrap_err().to_string();
        assert!(error.contains("which its issuer"), "{error}");
    }
    assert!(hostile.seen().is_empty(), "{:?}", hostile.paths());
}

fn stored_interactive() -> AuthConfig {
    let opener = Arc::new(HeadlessOpener);
    AuthConfig::Interactive { options: LoginOptions::default(), opener }
}

/// The file of the only stored login, or of its lock.
fn only_file(folder: &tempfile::TempDir, extension: &str) -> std::path::PathBuf {
    let entries = folder.path().join("logins").read_dir().unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    paths.find(|path| path.extension().is_some_and(|found| found == extension)).unwrap()
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

    // A running process uses the new login as soon as it is stored.
    auth.credentials().await.unwrap_err();
    log_in(&mock, &folder, &time).await;
    assert_eq!(token(&auth.credentials().await.unwrap()), "access-2");
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
