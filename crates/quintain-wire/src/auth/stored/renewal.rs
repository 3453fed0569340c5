//! Refreshes a stored login in only one process at a time.
//!
//! A rotating refresh token works only once: servers may take a second use for theft and end the login. So a process
//! that refreshes locks the login, reads what is stored by then, and stores the new tokens before it releases the
//! lock.

use secrecy::ExposeSecret as _;

use super::{StoredTokens, TokenStore};
use crate::auth::AuthError;
use crate::auth::oauth::GrantContext;
use crate::auth::oauth::authorization_code::Session;
use crate::auth::oauth::token::TokenSet;

/// A refresh is a discovery and at most two requests to the token endpoint, each with its own time limit.
const EXCHANGES: u32 = 3;

/// Refreshes the tokens of `session`, or returns those that another process has stored meanwhile. `ended` is set if a
/// refresh is known to fail.
pub(crate) async fn renew(
    store: &TokenStore,
    grant_context: &GrantContext,
    session: &Session,
    old: &TokenSet,
    ended: Option<&AuthError>,
) -> Result<TokenSet, AuthError> {
    let patience = grant_context.timeout() * EXCHANGES;
    let login = store.lock(&grant_context.server, &session.registration.issuer, patience).await?;
    let Some(stored) = login.load() else {
        if let Some(ended) = ended {
            return Err(ended.clone());
        }
        // A login that was deleted meanwhile still works in this process, but is not stored again.
        return session.refresh(grant_context, old).await;
    };
    let (session, known) = (stored.session(), stored.token_set(&grant_context.redactor));
    let newer = known.access_token.expose_secret() != old.access_token.expose_secret();
    if newer && known.expires_at > grant_context.clock.now() {
        return Ok(known);
    }
    if let Some(ended) = ended {
        return Err(ended.clone());
    }
    let mut new = session.refresh(grant_context, &known).await?;
    // Without rotation, the old refresh token stays valid.
    new.refresh_token = new.refresh_token.or(known.refresh_token);
    if let Err(error) = login.save(&StoredTokens::new(&grant_context.server, &session, &new)) {
        // The token is valid nevertheless; only later processes cannot use it.
        tracing::warn!(%error, "a refreshed login could not be stored");
    }
    Ok(new)
}
