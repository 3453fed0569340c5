//! A token that is refreshed automatically: before it expires, once for all waiting callers, and after a refusal.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use ::http::StatusCode;
use ::http::header::AUTHORIZATION;
use futures_util::future::BoxFuture;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::dpop::{self, Proof};
use super::token::TokenSet;
use crate::auth::error::{bare, described};
use crate::auth::{AuthError, Authorizer, Challenge, Clock, Credentials, HttpRefusal, bearer};

/// How long before its expiry a token is refreshed, unless its lifetime is too short for that.
const LEAD: Duration = Duration::from_mins(1);

/// How long to use a valid token after a failed early refresh before trying again.
const PAUSE: Duration = Duration::from_secs(5);

/// Maximum number of refreshes after refusals within [`RENEWAL_WINDOW`]; more mean that the server accepts no token.
const FORCED_RENEWALS: usize = 20;
const RENEWAL_WINDOW: Duration = Duration::from_mins(1);

/// A way to get tokens.
pub(crate) trait Grant: Send + Sync + 'static {
    /// Gets a token without a refresh token. `None` means: only after a refusal that says where to ask.
    fn obtain<'a>(
        &'a self,
        refusal: Option<&'a HttpRefusal>,
    ) -> BoxFuture<'a, Result<Option<TokenSet>, AuthError>>;

    /// Uses the refresh token of `old`.
    fn refresh<'a>(
        &'a self,
        old: &'a TokenSet,
        refusal: Option<&'a HttpRefusal>,
    ) -> BoxFuture<'a, Result<TokenSet, AuthError>>;

    /// Whether another token could help after this refusal.
    fn answers(&self, refusal: &HttpRefusal) -> bool {
        refusal.status == StatusCode::UNAUTHORIZED
    }
}

/// Provides the tokens of a [`Grant`].
pub(crate) struct TokenSource(Arc<Inner>);

struct Inner {
    grant: Box<dyn Grant>,
    state: Arc<Mutex<State>>,
    /// Number of finished refreshes, so that callers that waited for a failed one get its error.
    finished: AtomicU64,
    lead: Duration,
    clock: Clock,
}

#[derive(Default)]
struct State {
    token: Option<TokenSet>,
    /// The access token was refused; only its refresh token may still be used.
    dead: bool,
    generation: u64,
    /// How often the current token was used.
    handed_out: u64,
    /// The current token replaces a refused one.
    forced: bool,
    /// The current token was obtained with a refresh token.
    refreshed: bool,
    failure: Option<AuthError>,
    not_before: Option<SystemTime>,
    forced_at: Vec<SystemTime>,
}

impl TokenSource {
    pub(crate) fn new(
        grant: impl Grant,
        known: Option<TokenSet>,
        lead: Option<Duration>,
        clock: Clock,
    ) -> Self {
        let state =
            State { generation: u64::from(known.is_some()), token: known, ..State::default() };
        Self(Arc::new(Inner {
            grant: Box::new(grant),
            state: Arc::new(Mutex::new(state)),
            finished: AtomicU64::new(0),
            lead: lead.unwrap_or(LEAD),
            clock,
        }))
    }
}

impl Authorizer for TokenSource {
    fn credentials(&self) -> BoxFuture<'_, Result<Credentials, AuthError>> {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let seen = inner.finished.load(Ordering::Acquire);
            let mut state = Arc::clone(&inner.state).lock_owned().await;
            if let Some(failure) = inner.shared_failure(&state, seen) {
                return Err(failure);
            }
            // A caller that waited for a refresh uses its token, however short its lifetime.
            let waited = inner.finished.load(Ordering::Acquire) != seen && state.alive();
            if waited || inner.fresh(&state) {
                return Ok(state.hand_out(&inner.clock));
            }
            inner.renew(state, None).await.map(|mut state| state.hand_out(&inner.clock))
        })
    }

    fn refused(&self, refusal: HttpRefusal) -> BoxFuture<'_, Result<bool, AuthError>> {
        let inner = Arc::clone(&self.0);
        Box::pin(async move {
            let seen = inner.finished.load(Ordering::Acquire);
            let mut state = Arc::clone(&inner.state).lock_owned().await;
            if refusal.generation < state.generation {
                return Ok(true);
            }
            // The same token works with the new nonce, which the transport has stored already.
            let bound = state.token.as_ref().is_some_and(|token| token.dpop.is_some());
            if bound && dpop::wants_nonce(&refusal.headers) {
                return Ok(true);
            }
            if !inner.grant.answers(&refusal) {
                return Ok(false);
            }
            if let Some(failure) = inner.shared_failure(&state, seen) {
                return Err(failure);
            }
            inner.may_force(&mut state, &refusal)?;
            let before = state.generation;
            let state = inner.renew(state, Some(refusal)).await?;
            Ok(state.generation > before)
        })
    }
}

impl Inner {
    /// Whether the token can be used without a refresh.
    fn fresh(&self, state: &State) -> bool {
        let Some(token) = state.token.as_ref().filter(|_| state.alive()) else { return false };
        let now = self.clock.now();
        // Otherwise a token with a lifetime of a few seconds would be refreshed with every call.
        let lead = self.lead.min(token.lifetime / 2);
        let paused = state.not_before.is_some_and(|until| now < until);
        now + if paused { Duration::ZERO } else { lead } < token.expires_at
    }

    fn shared_failure(&self, state: &State, seen: u64) -> Option<AuthError> {
        state.failure.clone().filter(|_| self.finished.load(Ordering::Acquire) != seen)
    }

    /// Decides whether a refusal justifies another token, and drops the refused one.
    fn may_force(&self, state: &mut State, refusal: &HttpRefusal) -> Result<(), AuthError> {
        let now = self.clock.now();
        // After a 403 the token is still valid; it only lacks scopes.
        state.dead |= refusal.status == StatusCode::UNAUTHORIZED;
        state.forced_at.retain(|at| now < *at + RENEWAL_WINDOW);
        // A token that was used only once was used for the retry: the new token did not help.
        let in_vain =
            state.forced && state.handed_out <= 1 && refusal.status == StatusCode::UNAUTHORIZED;
        if in_vain && state.refreshed {
            state.drop_refresh_token();
        } else if in_vain || state.forced_at.len() >= FORCED_RENEWALS {
            state.token = None;
            state.forced = false;
            let challenge = Challenge::from_headers(&refusal.headers);
            let words = challenge.error_description.or(challenge.error);
            let error = AuthError::StillRefused {
                url: bare(&refusal.url).to_string(),
                status: refusal.status,
                detail: described(words.as_deref()),
            };
            self.finish(state, Some(error.clone()));
            return Err(error);
        }
        state.forced_at.push(now);
        Ok(())
    }

    /// Refreshes in a separate task: a caller that gives up must not lose a rotated refresh token.
    async fn renew(
        self: &Arc<Self>,
        mut state: OwnedMutexGuard<State>,
        refusal: Option<HttpRefusal>,
    ) -> Result<OwnedMutexGuard<State>, AuthError> {
        let inner = Arc::clone(self);
        let task = tokio::spawn(async move {
            let result = inner.fetch(&mut state, refusal.as_ref()).await;
            inner.finish(&mut state, result.as_ref().err().cloned());
            result.map(|()| state)
        });
        task.await.unwrap_or_else(|error| Err(AuthError::Failed(error.to_string())))
    }

    /// Stores the result for all waiting callers.
    fn finish(&self, state: &mut State, failure: Option<AuthError>) {
        state.failure = failure;
        self.finished.fetch_add(1, Ordering::Release);
    }

    async fn fetch(
        &self,
        state: &mut State,
        refusal: Option<&HttpRefusal>,
    ) -> Result<(), AuthError> {
        // A refresh token yields the scopes that it was issued with, so it does not help after a 403.
        let wider = refusal.is_some_and(|refusal| refusal.status == StatusCode::FORBIDDEN);
        let with_refresh = state.token.as_ref().filter(|t| t.refresh_token.is_some() && !wider);
        if let Some(old) = with_refresh {
            match self.grant.refresh(old, refusal).await {
                Ok(mut new) => {
                    // Without rotation, the old refresh token stays valid.
                    new.refresh_token = new.refresh_token.or_else(|| old.refresh_token.clone());
                    Self::accept(state, new, refusal, true);
                    return Ok(());
                }
                Err(AuthError::TokenRefused { error, .. }) => {
                    tracing::debug!(%error, "the refresh token is refused, starting over");
                    state.drop_refresh_token();
                }
                Err(error) => return self.endure(state, refusal, error),
            }
        }
        match self.grant.obtain(refusal).await {
            Ok(Some(new)) => {
                Self::accept(state, new, refusal, false);
                Ok(())
            }
            Ok(None) => {
                state.token = None;
                Ok(())
            }
            Err(error) => self.endure(state, refusal, error),
        }
    }

    fn accept(state: &mut State, new: TokenSet, refusal: Option<&HttpRefusal>, refreshed: bool) {
        state.token = Some(new);
        state.dead = false;
        state.generation += 1;
        state.handed_out = 0;
        state.forced = refusal.is_some();
        state.refreshed = refreshed;
        state.not_before = None;
    }

    /// An early refresh may fail as long as the old token is valid.
    fn endure(
        &self,
        state: &mut State,
        refusal: Option<&HttpRefusal>,
        error: AuthError,
    ) -> Result<(), AuthError> {
        let now = self.clock.now();
        let good = state.token.as_ref().is_some_and(|token| now < token.expires_at);
        if refusal.is_some() || state.dead || !good {
            return Err(error);
        }
        tracing::debug!(%error, "the early refresh failed, the token is still valid");
        state.not_before = Some(now + PAUSE);
        Ok(())
    }
}

impl State {
    /// Whether there is a token that was not refused.
    fn alive(&self) -> bool {
        self.token.is_some() && !self.dead
    }

    fn hand_out(&mut self, clock: &Clock) -> Credentials {
        let mut credentials = Credentials { generation: self.generation, ..Credentials::default() };
        if let Some(token) = self.token.as_ref().filter(|_| !self.dead) {
            self.handed_out += 1;
            let (header, proof) = match &token.dpop {
                None => (bearer::header(&token.access_token), None),
                Some(key) => {
                    let proof = Proof::new(key, &token.access_token, clock);
                    (proof.authorization(), Some(proof))
                }
            };
            credentials.headers.push((AUTHORIZATION, header));
            credentials.proof = proof;
        }
        credentials
    }

    fn drop_refresh_token(&mut self) {
        if let Some(token) = &mut self.token {
            token.refresh_token = None;
        }
    }
}
