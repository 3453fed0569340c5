//! When tokens are refreshed, how often, and what happens when they are refused.

use std::time::Duration;

use futures_util::future::join_all;
use quintain_wire::auth::{AuthContext, AuthError};
use serde_json::json;

use crate::support::*;

#[tokio::test]
async fn fifty_concurrent_callers_share_one_token_request() {
    let counter = Counter::default();
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &mock.url("/mcp"), context());
    let all = join_all((0..50).map(|_| auth.credentials())).await;
    assert!(all.iter().all(|got| token(got.as_ref().unwrap()) == "token-1"));
    assert_eq!(mock.seen().len(), 1);
}

#[tokio::test]
async fn fifty_concurrent_callers_share_one_failure_and_the_next_one_tries_again() {
    let mock = Mock::start(|_| json_with(401, &json!({"error": "invalid_client"}))).await;
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &mock.url("/mcp"), context());
    let all = join_all((0..50).map(|_| auth.credentials())).await;
    assert!(all.iter().all(|got| matches!(got, Err(AuthError::TokenRefused { .. }))));
    assert_eq!(mock.seen().len(), 1);
    auth.credentials().await.unwrap_err();
    assert_eq!(mock.seen().len(), 2);
}

#[tokio::test]
async fn a_token_is_renewed_sixty_seconds_before_it_expires() {
    let (time, counter) = (Time::new(), Counter::default());
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let context = AuthContext { clock: time.clock(), ..context() };
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &mock.url("/mcp"), context);
    let first = auth.credentials().await.unwrap();
    time.advance(3539);
    assert_eq!(token(&auth.credentials().await.unwrap()), "token-1");
    time.advance(1);
    let second = auth.credentials().await.unwrap();
    assert_eq!(token(&second), "token-2");
    assert!(second.generation > first.generation);
}

#[tokio::test]
async fn a_token_that_lives_five_seconds_is_used_for_half_of_them() {
    let (time, counter) = (Time::new(), Counter::default());
    let mock = Mock::start(move |_| numbered(&counter, 5)).await;
    let context = AuthContext { clock: time.clock(), ..context() };
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &mock.url("/mcp"), context);
    for (seconds, expected) in [(0, "token-1"), (2, "token-1"), (1, "token-2"), (0, "token-2")] {
        time.advance(seconds);
        assert_eq!(token(&auth.credentials().await.unwrap()), expected);
    }
}

#[tokio::test]
async fn a_token_without_an_expiry_counts_as_an_hour() {
    let (time, counter) = (Time::new(), Counter::default());
    let mock =
        Mock::start(move |_| ok(json!({"access_token": format!("token-{}", counter.next())})))
            .await;
    let context = AuthContext { clock: time.clock(), ..context() };
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &mock.url("/mcp"), context);
    for (seconds, expected) in [(0, "token-1"), (3500, "token-1"), (41, "token-2")] {
        time.advance(seconds);
        assert_eq!(token(&auth.credentials().await.unwrap()), expected);
    }
}

#[tokio::test]
async fn the_lead_time_can_be_configured() {
    let (time, counter) = (Time::new(), Counter::default());
    let mock = Mock::start(move |_| numbered(&counter, 100)).await;
    let context = AuthContext { clock: time.clock(), ..context() };
    let mut config = client_credentials(Some(mock.url("/token")));
    config.refresh_lead = Some(Duration::from_secs(1));
    let auth = oauth(config, &mock.url("/mcp"), context);
    for (seconds, expected) in [(0, "token-1"), (98, "token-1"), (1, "token-2")] {
        time.advance(seconds);
        assert_eq!(token(&auth.credentials().await.unwrap()), expected);
    }
}

#[tokio::test]
async fn a_revoked_token_is_replaced_once_for_all_who_were_refused() {
    let counter = Counter::default();
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let server = mock.url("/mcp");
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &server, context());
    let old = auth.credentials().await.unwrap();
    let refusals = (0..20).map(|_| auth.refused(refusal(401, &server, "Bearer", old.generation)));
    assert!(join_all(refusals).await.into_iter().all(|retry| retry.unwrap()));
    assert_eq!(token(&auth.credentials().await.unwrap()), "token-2");
    assert_eq!(mock.seen().len(), 2);
}

#[tokio::test]
async fn a_renewed_token_that_is_refused_too_ends_in_an_error_with_the_servers_words() {
    let counter = Counter::default();
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let server = mock.url("/mcp");
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &server, context());
    let challenge = r#"Bearer error="invalid_token", error_description="wrong audience""#;
    let first = auth.credentials().await.unwrap();
    assert!(auth.refused(refusal(401, &server, challenge, first.generation)).await.unwrap());
    let second = auth.credentials().await.unwrap();
    let error =
        auth.refused(refusal(401, &server, challenge, second.generation)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{server} still answers 401 Unauthorized with a new token: wrong audience; \
             check audience, scopes and the server's clock"
        )
    );
    // The refused token is dropped.
    assert_eq!(token(&auth.credentials().await.unwrap()), "token-3");
}

#[tokio::test]
async fn a_token_may_be_revoked_again_and_again_as_long_as_it_worked_in_between() {
    let counter = Counter::default();
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let server = mock.url("/mcp");
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &server, context());
    for number in 1..=5 {
        let retried = auth.credentials().await.unwrap();
        let next = auth.credentials().await.unwrap();
        assert_eq!(token(&next), format!("token-{number}"));
        assert_eq!(retried.generation, next.generation);
        assert!(auth.refused(refusal(401, &server, "Bearer", next.generation)).await.unwrap());
    }
}

#[tokio::test]
async fn a_server_that_likes_no_token_cannot_keep_us_asking_for_ever() {
    let counter = Counter::default();
    let asked = counter.clone();
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let server = mock.url("/mcp");
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &server, context());
    for _ in 0..100 {
        auth.credentials().await.unwrap();
        let latest = auth.credentials().await.unwrap();
        if auth.refused(refusal(401, &server, "Bearer", latest.generation)).await.is_err() {
            return assert!(asked.get() < 30);
        }
    }
    panic!("never gave up");
}

#[tokio::test]
async fn a_403_is_not_answered_with_another_token_of_the_same_grant() {
    let counter = Counter::default();
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let server = mock.url("/mcp");
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &server, context());
    let generation = auth.credentials().await.unwrap().generation;
    assert!(!auth.refused(refusal(403, &server, "Bearer", generation)).await.unwrap());
    assert_eq!(mock.seen().len(), 1);
}

#[tokio::test]
async fn a_refresh_token_is_used_rotated_and_given_up_when_refused() {
    let (time, counter) = (Time::new(), Counter::default());
    let mock = Mock::start(move |seen| {
        // The second refresh token is refused.
        if seen.form("refresh_token").as_deref() == Some("refresh-2") {
            return json_with(400, &json!({"error": "invalid_grant"}));
        }
        let number = counter.next();
        ok(json!({
            "access_token": format!("token-{number}"), "expires_in": 3600,
            "refresh_token": format!("refresh-{number}"),
        }))
    })
    .await;
    let context = AuthContext { clock: time.clock(), ..context() };
    let redactor = context.redactor.clone();
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &mock.url("/mcp"), context);
    for expected in ["token-1", "token-2", "token-3"] {
        assert_eq!(token(&auth.credentials().await.unwrap()), expected);
        time.advance(3600);
    }
    let grants: Vec<_> = mock.seen().iter().map(|seen| seen.form("grant_type").unwrap()).collect();
    let expected = ["client_credentials", "refresh_token", "refresh_token", "client_credentials"];
    assert_eq!(grants, expected);
    let sent: Vec<_> = mock.seen().iter().filter_map(|seen| seen.form("refresh_token")).collect();
    assert_eq!(sent, ["refresh-1", "refresh-2"]);
    assert_eq!(redactor.text("token-1 refresh-1 token-3 refresh-3"), "*** *** *** ***");
}

#[tokio::test]
async fn a_caller_that_gives_up_does_not_lose_the_token_on_its_way() {
    let counter = Counter::default();
    let mock = Mock::start(move |_| numbered(&counter, 3600)).await;
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &mock.url("/mcp"), context());
    // One poll starts the request; then the caller gives up.
    assert!(futures_util::poll!(auth.credentials()).is_pending());
    assert_eq!(token(&auth.credentials().await.unwrap()), "token-1");
    assert_eq!(mock.seen().len(), 1);
}

#[tokio::test]
async fn a_failed_early_renewal_does_not_take_a_valid_token_away() {
    let (time, counter) = (Time::new(), Counter::default());
    let mock = Mock::start(move |_| match counter.next() {
        1 => ok(json!({"access_token": "token-1", "expires_in": 3600})),
        _ => status(503),
    })
    .await;
    let context = AuthContext { clock: time.clock(), ..context() };
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &mock.url("/mcp"), context);
    auth.credentials().await.unwrap();
    time.advance(3550);
    for _ in 0..3 {
        assert_eq!(token(&auth.credentials().await.unwrap()), "token-1");
    }
    assert_eq!(mock.seen().len(), 2, "the failed refresh is not repeated with every call");
    time.advance(50);
    auth.credentials().await.unwrap_err();
}

#[tokio::test]
async fn fifty_callers_share_even_a_token_that_is_dead_on_arrival() {
    let counter = Counter::default();
    let mock = Mock::start(move |_| numbered(&counter, 0)).await;
    let auth = oauth(client_credentials(Some(mock.url("/token"))), &mock.url("/mcp"), context());
    let all = join_all((0..50).map(|_| auth.credentials())).await;
    assert!(all.iter().all(|got| token(got.as_ref().unwrap()) == "token-1"));
    assert_eq!(mock.seen().len(), 1);
}
