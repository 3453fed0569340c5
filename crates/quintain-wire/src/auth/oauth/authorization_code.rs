//! The authorization code grant with PKCE: the user logs in, and this machine receives the code.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::callback::{Callback, Parameters};
use super::discovery::{Discovered, Discovery};
use super::dpop::{self, DpopKey};
use super::issuer::Issuer;
use super::opener::Opener;
use super::registration::{self, Registration};
use super::token::{TokenEndpoint, TokenSet};
use super::{GrantContext, nonce};
use crate::auth::error::{bare, described, shown};
use crate::auth::{AuthError, Challenge, LoginOptions};

/// Default time limit for the user to finish a login.
const LOGIN_TIMEOUT: Duration = Duration::from_mins(5);

/// The state after a login, which the next login continues.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) registration: Registration,
    pub(crate) endpoint: TokenEndpoint,
    pub(crate) resource: String,
    /// All scopes requested so far; a login for more scopes must keep them.
    pub(crate) scopes: Vec<String>,
}

impl Session {
    pub(crate) async fn refresh(
        &self,
        grant_context: &GrantContext,
        old: &TokenSet,
    ) -> Result<TokenSet, AuthError> {
        self.check_endpoint(grant_context).await?;
        let token = old.refresh_token.as_ref().map(ExposeSecret::expose_secret);
        let parameters =
            [("refresh_token", token.unwrap_or_default()), ("resource", &self.resource)];
        self.endpoint.request(grant_context, "refresh_token", &parameters).await
    }

    /// A token endpoint on another origin than its issuer is used only while the issuer names it, even for an old stored
    /// login.
    async fn check_endpoint(&self, grant_context: &GrantContext) -> Result<(), AuthError> {
        let (url, issuer) = (&self.endpoint.url, &self.registration.issuer);
        let url = grant_context.endpoint(url.as_str()).await?;
        if Issuer::named(issuer, grant_context).await?.is_on_origin_of(&url) {
            return Ok(());
        }
        let named = Discovery::new(grant_context)
            .stored(issuer)
            .await?
            .token_endpoint(grant_context)
            .await?;
        if named == url {
            return Ok(());
        }
        Err(AuthError::LoginNeeded {
            server: bare(&grant_context.server).to_string(),
            reason: format!(
                "the stored login refreshes its tokens at {url}, which its issuer {} does not name",
                shown(issuer)
            ),
        })
    }
}

/// One login.
pub(crate) struct Flow<'a> {
    pub(crate) grant_context: &'a GrantContext,
    pub(crate) options: &'a LoginOptions,
    pub(crate) opener: &'a dyn Opener,
}

impl Flow<'_> {
    pub(crate) async fn run(
        &self,
        challenge: &Challenge,
        earlier: Option<&Session>,
    ) -> Result<(Session, TokenSet), AuthError> {
        let found = Discovery::new(self.grant_context).login(challenge).await?;
        let issuer = found.server.issuer().to_owned();
        let registered = earlier.map(|session| &session.registration);
        let earlier = earlier.filter(|session| session.registration.issuer == issuer);
        check_pkce(&found, &issuer)?;
        let authorize = found.server.authorization_endpoint(self.grant_context).await?;
        let url = found.server.token_endpoint(self.grant_context).await?;

        let callback = self.callback(earlier).await?;
        let redirect_uri = callback.uri().clone();
        let client = registration::client(
            self.grant_context,
            self.options,
            &found,
            &redirect_uri,
            registered,
        )
        .await?;
        let scopes = self.scopes(challenge, &found, earlier);
        let resource =
            found.resource.clone().unwrap_or_else(|| canonical(&self.grant_context.server));
        let dpop = key(challenge, &found, &issuer, earlier)?;
        let (state, verifier) = (nonce()?, nonce()?);
        self.grant_context.redactor.learn(&SecretString::from(verifier.as_str()));

        let request = [
            ("response_type", "code"),
            ("client_id", &client.id),
            ("redirect_uri", redirect_uri.as_str()),
            ("state", &state),
            ("code_challenge", &s256(&verifier)),
            ("code_challenge_method", "S256"),
            ("resource", &resource),
        ];
        let page = page(authorize, &request, &scopes);
        let answer = self.user(&page, callback, &state).await?;
        let code = code(&answer, &found)?;
        self.grant_context.redactor.learn(&SecretString::from(code.as_str()));

        let endpoint =
            TokenEndpoint { url, issuer: Some(issuer.clone()), client: Some(client.clone()), dpop };
        let parameters = [
            ("code", code.as_str()),
            ("redirect_uri", redirect_uri.as_str()),
            ("code_verifier", verifier.as_str()),
            ("resource", resource.as_str()),
        ];
        let tokens =
            endpoint.request(self.grant_context, "authorization_code", &parameters).await?;
        let registration = Registration { issuer, redirect_uri, client };
        Ok((Session { registration, endpoint, resource, scopes }, tokens))
    }

    /// Uses the earlier redirect URI if its port is free, because the client is registered with it.
    async fn callback(&self, earlier: Option<&Session>) -> Result<Callback, AuthError> {
        if let Some(port) = self.options.redirect_port {
            return Callback::bind(Some(port)).await;
        }
        let port = earlier.and_then(|session| session.registration.redirect_uri.port());
        match Callback::bind(port).await {
            Err(_) if port.is_some() => Callback::bind(None).await,
            bound => bound,
        }
    }

    /// The scopes that the server requires, else those that the resource lists; plus those of the user and of earlier logins.
    fn scopes(
        &self,
        challenge: &Challenge,
        found: &Discovered,
        earlier: Option<&Session>,
    ) -> Vec<String> {
        let demanded = challenge
            .scope
            .as_deref()
            .map(|scope| scope.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let listed = || found.scopes.clone().unwrap_or_default();
        let own = &self.options.scopes;
        let fallback = || if own.is_empty() { listed() } else { Vec::new() };
        let mut scopes = earlier.map(|session| session.scopes.clone()).unwrap_or_default();
        scopes.extend(demanded.unwrap_or_else(fallback));
        scopes.extend(own.iter().cloned());
        if !scopes.is_empty() && found.server.knows_scope("offline_access") {
            scopes.push("offline_access".to_owned());
        }
        let mut seen = std::collections::HashSet::new();
        scopes.retain(|scope| seen.insert(scope.clone()));
        scopes
    }

    /// Opens the login page and waits for the redirect.
    async fn user(
        &self,
        page: &Url,
        callback: Callback,
        state: &str,
    ) -> Result<Parameters, AuthError> {
        let after = self.options.login_timeout.unwrap_or(LOGIN_TIMEOUT);
        let opened = async {
            self.opener.open(page).await?;
            // An opener that only shows a URL returns before the user has logged in.
            std::future::pending().await
        };
        let login = async {
            tokio::select! {
                biased;
                answer = callback.wait(state) => answer,
                failed = opened => failed,
            }
        };
        tokio::time::timeout(after, login).await.unwrap_or(Err(AuthError::LoginTimedOut { after }))
    }
}

/// URL of the login page.
fn page(mut authorize: Url, request: &[(&str, &str)], scopes: &[String]) -> Url {
    let mut query = authorize.query_pairs_mut();
    query.extend_pairs(request);
    if !scopes.is_empty() {
        query.append_pair("scope", &scopes.join(" "));
    }
    if scopes.iter().any(|scope| scope == "offline_access") {
        // OpenID Connect requires the user's consent before it issues a refresh token.
        query.append_pair("prompt", "consent");
    }
    drop(query);
    authorize
}

/// Checks which server sent the redirect (RFC 9207) before anything else in it, then returns the code.
fn code(answer: &Parameters, found: &Discovered) -> Result<String, AuthError> {
    let wrong = |what: &str| AuthError::Callback { what: what.to_owned() };
    let get = |name| answer.get(name).map(String::as_str);
    match get("iss") {
        None if found.server.iss_parameter => {
            return Err(wrong("no `iss`, although the authorization server supports it"));
        }
        Some(iss) if iss != found.server.issuer() => {
            return Err(wrong(&format!("the `iss` of another server, `{}`", shown(iss))));
        }
        _ => {}
    }
    if let Some(error) = get("error") {
        return Err(AuthError::Denied {
            error: shown(error),
            description: described(get("error_description")),
        });
    }
    get("code").filter(|code| !code.is_empty()).map(str::to_owned).ok_or_else(|| wrong("no `code`"))
}

/// MCP requires PKCE; a server that does not announce it does not support it (OAuth 2.1).
fn check_pkce(found: &Discovered, issuer: &str) -> Result<(), AuthError> {
    let supported = match &found.server.code_challenge_methods_supported {
        Some(methods) => methods.iter().any(|method| method == "S256"),
        // Servers of the 2025-03-26 protocol had to support it, but not to announce it.
        None => found.legacy,
    };
    if supported { Ok(()) } else { Err(AuthError::NoPkce { issuer: shown(issuer) }) }
}

/// The key to bind tokens to, if the server under test requires it; a login keeps its key.
fn key(
    challenge: &Challenge,
    found: &Discovered,
    issuer: &str,
    earlier: Option<&Session>,
) -> Result<Option<DpopKey>, AuthError> {
    if let Some(key) = earlier.and_then(|session| session.endpoint.dpop.clone()) {
        return Ok(Some(key));
    }
    if !challenge.dpop && !found.dpop_required {
        return Ok(None);
    }
    let known = found.server.dpop_signing_alg_values_supported.as_ref();
    if known.is_some_and(|known| !known.iter().any(|name| name == dpop::ALGORITHM)) {
        return Err(AuthError::Failed(format!(
            "the server requires tokens bound to a key (DPoP), but its authorization server {} does not \
                 support {}, the only algorithm that Quintain supports",
            shown(issuer),
            dpop::ALGORITHM
        )));
    }
    DpopKey::generate().map(Some)
}

/// The canonical URI of the server (RFC 8707): without fragment, secrets and the slash of an empty path.
pub(crate) fn canonical(server: &Url) -> String {
    let url = bare(server);
    let text = url.to_string();
    if url.path() == "/" { text.trim_end_matches('/').to_owned() } else { text }
}

fn s256(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_the_example_of_rfc_7636() {
        assert_eq!(
            s256("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn the_canonical_uri_has_no_lonely_slash_no_query_and_no_password() {
        let canonical = |text: &str| canonical(&text.parse().unwrap());
        assert_eq!(canonical("https://MCP.example.com"), "https://mcp.example.com");
        assert_eq!(canonical("https://u:p@h/mcp?key=1#x"), "https://h/mcp");
        assert_eq!(canonical("https://h/mcp/"), "https://h/mcp/");
    }
}
