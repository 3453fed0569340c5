//! Logs a user in when a server refuses, and again when it requires more scopes, up to a limit.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use http::StatusCode;
use http::header::ACCEPT;
use serde_json::json;
use url::Url;

use super::error::{bare, shown};
use super::oauth::GrantContext;
use super::oauth::authorization_code::{Flow, Session};
use super::oauth::discovery::Discovery;
use super::oauth::opener::Opener;
use super::oauth::source::Grant;
use super::oauth::token::TokenSet;
use super::stored::renewal::renew;
use super::{AuthError, Challenge, HttpRefusal, LoginOptions, StoredTokens, TokenStore};

/// Maximum number of logins within [`LOGIN_WINDOW`], so that a user is not asked endlessly.
const LOGINS: usize = 6;
const LOGIN_WINDOW: Duration = Duration::from_mins(5);

/// Logs in at the server that the refusal names.
pub(crate) struct InteractiveGrant {
    grant_context: GrantContext,
    options: LoginOptions,
    opener: Arc<dyn Opener>,
    store: Option<TokenStore>,
    session: Mutex<Option<Session>>,
    logins: Mutex<Vec<SystemTime>>,
}

impl InteractiveGrant {
    pub(crate) fn new(
        grant_context: GrantContext,
        options: LoginOptions,
        opener: Arc<dyn Opener>,
        store: Option<TokenStore>,
        stored: Option<StoredTokens>,
    ) -> Self {
        let session = Mutex::new(stored.map(|stored| stored.session()));
        Self { grant_context, options, opener, store, session, logins: Mutex::default() }
    }

    fn session(&self) -> Option<Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn log_in(&self, refusal: &HttpRefusal) -> Result<TokenSet, AuthError> {
        let challenge = Challenge::from_headers(&refusal.headers);
        let earlier = self.session();
        if refusal.status == StatusCode::FORBIDDEN {
            worth_asking(&challenge, earlier.as_ref(), &refusal.url)?;
        }
        self.count_login(refusal)?;
        let flow = Flow {
            grant_context: &self.grant_context,
            options: &self.options,
            opener: &*self.opener,
        };
        let (session, tokens) = flow.run(&challenge, earlier.as_ref()).await?;
        if let Some(store) = &self.store
            && let Err(error) = keep(store, &self.grant_context, &session, &tokens).await
        {
            // The token is valid nevertheless; only later processes cannot use it.
            tracing::warn!(%error, "a login could not be stored");
        }
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
        Ok(tokens)
    }

    fn count_login(&self, refusal: &HttpRefusal) -> Result<(), AuthError> {
        let now = self.grant_context.clock.now();
        let mut logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        logins.retain(|at| now < *at + LOGIN_WINDOW);
        if logins.len() >= LOGINS {
            return Err(AuthError::StillRefused {
                url: bare(&refusal.url).to_string(),
                status: refusal.status,
                detail: format!(": {LOGINS} logins in a few minutes did not help"),
            });
        }
        logins.push(now);
        Ok(())
    }
}

/// Another login helps only if the server requires scopes that were not requested yet.
fn worth_asking(
    challenge: &Challenge,
    earlier: Option<&Session>,
    url: &Url,
) -> Result<(), AuthError> {
    let scope = challenge.scope.as_deref().unwrap_or_default();
    let asked = earlier.map(|session| session.scopes.as_slice()).unwrap_or_default();
    let refuse =
        |reason| AuthError::Scope { url: bare(url).to_string(), scope: shown(scope), reason };
    if scope.trim().is_empty() {
        return Err(refuse("the server does not name, so no login can request it"));
    }
    if scope.split_whitespace().all(|scope| asked.iter().any(|asked| asked == scope)) {
        return Err(refuse("was requested and not granted; ask an administrator for access"));
    }
    Ok(())
}

impl Grant for InteractiveGrant {
    fn obtain<'a>(
        &'a self,
        refusal: Option<&'a HttpRefusal>,
    ) -> BoxFuture<'a, Result<Option<TokenSet>, AuthError>> {
        Box::pin(async move {
            match refusal {
                Some(refusal) => self.log_in(refusal).await.map(Some),
                // A server may need no login; its refusal names the place to log in.
                None => Ok(None),
            }
        })
    }

    fn refresh<'a>(
        &'a self,
        old: &'a TokenSet,
        refusal: Option<&'a HttpRefusal>,
    ) -> BoxFuture<'a, Result<TokenSet, AuthError>> {
        Box::pin(async move {
            let Some(session) = self.session() else {
                return Err(AuthError::Failed("a token without a login".to_owned()));
            };
            if let Some(refusal) = refusal {
                // The server may use another issuer now; the old one cannot refresh its tokens.
                let challenge = Challenge::from_headers(&refusal.headers);
                let found = Discovery::new(&self.grant_context).login(&challenge).await?;
                if found.server.issuer() != session.registration.issuer {
                    return Err(AuthError::TokenRefused {
                        url: session.endpoint.url.to_string(),
                        grant: "refresh_token".to_owned(),
                        status: refusal.status,
                        error: "the server uses another issuer now".to_owned(),
                        description: String::new(),
                    });
                }
            }
            match &self.store {
                Some(store) => renew(store, &self.grant_context, &session, old, None).await,
                None => session.refresh(&self.grant_context, old).await,
            }
        })
    }

    fn answers(&self, refusal: &HttpRefusal) -> bool {
        let challenge = Challenge::from_headers(&refusal.headers);
        match refusal.status {
            StatusCode::UNAUTHORIZED => true,
            // Some servers name the scope without the error code.
            StatusCode::FORBIDDEN => {
                challenge.scope.is_some()
                    || challenge.error.as_deref() == Some("insufficient_scope")
            }
            _ => false,
        }
    }
}

/// Requests the server's challenge, runs the login and stores the tokens.
pub(crate) async fn login(
    grant_context: GrantContext,
    options: LoginOptions,
    opener: Arc<dyn Opener>,
    store: Option<TokenStore>,
) -> Result<StoredTokens, AuthError> {
    let probe = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "quintain", "version": env!("CARGO_PKG_VERSION")},
    }});
    let request = grant_context.http.post(&grant_context.server).json(&probe);
    let request = request.header(ACCEPT, "text/event-stream");
    let headers = grant_context.http.headers(request, &grant_context.server).await?;
    let challenge = Challenge::from_headers(&headers);
    let earlier =
        store.as_ref().map(|store| store.load(&grant_context.server)).transpose()?.flatten();
    // With a given client id, ignore the earlier login: the server may have a new issuer.
    let earlier = earlier.filter(|_| options.client_id.is_none()).map(|stored| stored.session());
    let flow = Flow { grant_context: &grant_context, options: &options, opener: &*opener };
    let (session, tokens) = flow.run(&challenge, earlier.as_ref()).await?;
    match &store {
        Some(store) => keep(store, &grant_context, &session, &tokens).await,
        None => Ok(StoredTokens::new(&grant_context.server, &session, &tokens)),
    }
}

/// Stores a login; the lock prevents conflicts with a refresh of the earlier one.
async fn keep(
    store: &TokenStore,
    grant_context: &GrantContext,
    session: &Session,
    tokens: &TokenSet,
) -> Result<StoredTokens, AuthError> {
    let stored = StoredTokens::new(&grant_context.server, session, tokens);
    let login = store.lock(&grant_context.server, &stored.issuer, grant_context.timeout()).await?;
    login.save(&stored)?;
    Ok(stored)
}
