//! Renews a stored login in one process at a time.
//!
//! A refresh token that rotates works once: a second process that spends the same one ends the login at
//! servers that take this for theft. So whoever renews locks the login, looks at what is stored by then,
//! and stores the new tokens before anybody else may look.

use secrecy::ExposeSecret as _;

use super::{StoredTokens, TokenStore};
use crate::auth::AuthError;
use crate::auth::oauth::Desk;
use crate::auth::oauth::authorization_code::Session;
use crate::auth::oauth::token::TokenSet;

/// A renewal is a discovery and at most two exchanges with the token endpoint, each with its own time-out.
const EXCHANGES: u32 = 3;

/// Renews the tokens of `session`, or takes those that another process has stored meanwhile; `ended` is why
/// nothing else is of use any more.
pub(crate) async fn renew(
    store: &TokenStore,
    desk: &Desk,
    session: &Session,
    old: &TokenSet,
    ended: Option<&AuthError>,
) -> Result<TokenSet, AuthError> {
    let patience = desk.timeout() * EXCHANGES;
    let login = store.lock(&desk.server, &session.registration.issuer, patience).await?;
    let Some(stored) = login.load() else {
        if let Some(ended) = ended {
            return Err(ended.clone());
        }
        // A login that was forgotten meanwhile serves this process to its end and stays forgotten.
        return session.refresh(desk, old).await;
    };
    let (session, known) = (stored.session(), stored.token_set(&desk.redactor));
    let newer = known.access_token.expose_secret() != old.access_token.expose_secret();
    if newer && known.expires_at > desk.clock.now() {
        return Ok(known);
    }
    if let Some(ended) = ended {
        return Err(ended.clone());
    }
    let mut new = session.refresh(desk, &known).await?;
    // Without rotation the old refresh token stays good.
    new.refresh_token = new.refresh_token.or(known.refresh_token);
    if let Err(error) = login.save(&StoredTokens::new(&desk.server, &session, &new)) {
        // The token is good all the same; only the next process will miss it.
        tracing::warn!(%error, "a renewed login could not be stored");
    }
    Ok(new)
}
