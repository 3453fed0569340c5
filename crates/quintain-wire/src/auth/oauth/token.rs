//! The token request and its response.
//!
//! The `oauth2` crate has more types than these two messages have fields, and neither limits the body nor keeps the
//! server's error description, so the form is written here.

use std::time::{Duration, SystemTime};

use ::http::HeaderValue;
use ::http::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use url::Url;
use url::form_urlencoded::Serializer;

use super::GrantContext;
use super::client::{ClientIdentity, basic_header};
use super::dpop::{self, DpopKey};
use super::http::HttpReply;
use crate::auth::AuthError;
use crate::auth::error::{described, shown};
use crate::redact::Redactor;

/// Lifetime of a token if the server does not send one.
const DEFAULT_LIFETIME: Duration = Duration::from_hours(1);

/// Maximum lifetime, so that no server can cause an overflow in time arithmetic.
const LONGEST_LIFETIME: Duration = Duration::from_hours(10 * 365 * 24);

/// A token endpoint and the client that uses it.
#[derive(Clone, Debug)]
pub(crate) struct TokenEndpoint {
    pub(crate) url: Url,
    /// The audience of client assertions, if it is known.
    pub(crate) issuer: Option<String>,
    /// Optional for the password grant.
    pub(crate) client: Option<ClientIdentity>,
    /// The key to bind tokens to, if the server under test requires that.
    pub(crate) dpop: Option<DpopKey>,
}

/// The tokens of a token endpoint.
#[derive(Clone, Debug)]
pub(crate) struct TokenSet {
    pub(crate) access_token: SecretString,
    pub(crate) refresh_token: Option<SecretString>,
    pub(crate) expires_at: SystemTime,
    pub(crate) lifetime: Duration,
    /// The key that the access token is bound to; without one it is a bearer token.
    pub(crate) dpop: Option<DpopKey>,
}

impl TokenEndpoint {
    /// Requests a token with `grant` and its parameters; empty parameters are left out.
    pub(crate) async fn request(
        &self,
        grant_context: &GrantContext,
        grant: &str,
        parameters: &[(&str, &str)],
    ) -> Result<TokenSet, AuthError> {
        let now = grant_context.clock.now();
        let object = self.exchange(grant_context, grant, parameters).await?;
        let tokens = TokenSet::from_object(&object, now, self.dpop.as_ref())
            .map_err(|reason| self.bad(reason))?;
        grant_context.redactor.learn(&tokens.access_token);
        if let Some(token) = &tokens.refresh_token {
            grant_context.redactor.learn(token);
        }
        Ok(tokens)
    }

    fn bad(&self, reason: String) -> AuthError {
        AuthError::BadAnswer { url: self.url.to_string(), reason }
    }

    /// [`Self::request`] for responses that are not access tokens: returns the object as received.
    pub(crate) async fn exchange(
        &self,
        grant_context: &GrantContext,
        grant: &str,
        parameters: &[(&str, &str)],
    ) -> Result<Map<String, Value>, AuthError> {
        let mut answer = self.send(grant_context, grant, parameters).await?;
        if let Some(key) = &self.dpop {
            let error = answer.object().and_then(|mut object| object.remove("error"));
            let wants_nonce = error.is_some_and(|error| error == dpop::USE_NONCE);
            if key.learn(&self.url, &answer.headers) && wants_nonce {
                answer = self.send(grant_context, grant, parameters).await?;
                key.learn(&self.url, &answer.headers);
            }
        }
        self.read(&answer, grant)
    }

    async fn send(
        &self,
        grant_context: &GrantContext,
        grant: &str,
        parameters: &[(&str, &str)],
    ) -> Result<HttpReply, AuthError> {
        let now = grant_context.clock.now();
        let (body, authorization) = self.form(grant, parameters, now)?;
        let mut request = grant_context.http.form(&self.url, body);
        if let Some(header) = authorization {
            request = request.header(AUTHORIZATION, header.expose_secret());
        }
        if let Some(key) = &self.dpop {
            request = request.header(dpop::HEADER, key.prove("POST", &self.url, None, now)?);
        }
        grant_context.http.send(request, &self.url).await
    }

    fn form(
        &self,
        grant: &str,
        parameters: &[(&str, &str)],
        now: SystemTime,
    ) -> Result<(String, Option<SecretString>), AuthError> {
        let mut form = Serializer::new(String::new());
        form.append_pair("grant_type", grant);
        form.extend_pairs(parameters.iter().filter(|(_, value)| !value.is_empty()));
        let mut authorization = None;
        if let Some(client) = &self.client {
            let audience = self.issuer.as_deref().unwrap_or(self.url.as_str());
            let (proof, header) = client.prove(audience, now)?;
            form.extend_pairs(proof);
            authorization = header;
        }
        Ok((form.finish(), authorization))
    }

    fn read(&self, answer: &HttpReply, grant: &str) -> Result<Map<String, Value>, AuthError> {
        let object = answer.object();
        let text = |name| object.as_ref().and_then(|object| object.get(name)?.as_str());
        // Some servers report an error with status 200.
        if !answer.status.is_success()
            || (text("error").is_some() && text("access_token").is_none())
        {
            return Err(AuthError::TokenRefused {
                url: self.url.to_string(),
                grant: grant.to_owned(),
                status: answer.status,
                error: text("error").map_or_else(|| without_code(answer), shown),
                description: described(text("error_description")),
            });
        }
        // The body is not shown, because it can contain a token even if it is not JSON.
        object.ok_or_else(|| self.bad(format!("{} is not a JSON object", answer.kind())))
    }
}

fn without_code(answer: &HttpReply) -> String {
    if answer.status.is_redirection() {
        return format!("{}, because it carries credentials", answer.status_line());
    }
    match answer.excerpt() {
        empty if empty.is_empty() => "no reason given".to_owned(),
        excerpt => excerpt,
    }
}

impl TokenSet {
    fn from_object(
        object: &Map<String, Value>,
        now: SystemTime,
        key: Option<&DpopKey>,
    ) -> Result<Self, String> {
        let text = |name: &str| object.get(name).and_then(Value::as_str);
        let token = text("access_token").filter(|token| !token.is_empty());
        let token = token.ok_or("it has no `access_token`")?;
        if HeaderValue::from_str(token).is_err() {
            return Err("its `access_token` contains characters that headers forbid".to_owned());
        }
        // Without a type, servers mean bearer; other types need a proof that we may not have.
        let dpop = match (text("token_type").unwrap_or("bearer"), key) {
            (kind, _) if kind.eq_ignore_ascii_case("bearer") => None,
            (kind, Some(key)) if kind.eq_ignore_ascii_case("dpop") => Some(key.clone()),
            (kind, _) => {
                return Err(format!("its token type `{}` was not requested", shown(kind)));
            }
        };
        let lifetime = lifetime(object.get("expires_in"));
        Ok(Self {
            access_token: SecretString::from(token),
            refresh_token: text("refresh_token")
                .filter(|token| !token.is_empty())
                .map(SecretString::from),
            expires_at: now + lifetime,
            lifetime,
            dpop,
        })
    }
}

/// Reads `expires_in`, which some servers send as a string.
fn lifetime(expires_in: Option<&Value>) -> Duration {
    let seconds = match expires_in {
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.trim().parse().ok(),
        _ => None,
    };
    match seconds {
        Some(seconds) if seconds.is_finite() => Duration::try_from_secs_f64(seconds.max(0.0))
            .map_or(LONGEST_LIFETIME, |lifetime| lifetime.min(LONGEST_LIFETIME)),
        _ => DEFAULT_LIFETIME,
    }
}

/// Also teaches the redactor the form of a client secret in an HTTP Basic header.
pub(crate) fn learn_client_secret(redactor: &Redactor, id: Option<&str>, secret: &SecretString) {
    redactor.learn(secret);
    let header = basic_header(id.unwrap_or_default(), secret);
    redactor.learn(&SecretString::from(header.expose_secret().trim_start_matches("Basic ")));
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<TokenSet, String> {
        TokenSet::from_object(value.as_object().unwrap(), SystemTime::UNIX_EPOCH, None)
    }

    #[test]
    fn a_missing_or_absurd_expiry_is_survived() {
        for (given, seconds) in [
            (json!(null), 3600),
            (json!("120"), 120),
            (json!(5), 5),
            (json!(-7), 0),
            (json!(1e300), LONGEST_LIFETIME.as_secs()),
            (json!("soon"), 3600),
            (json!([1]), 3600),
        ] {
            let tokens = read(&json!({"access_token": "t", "expires_in": given})).unwrap();
            assert_eq!(tokens.lifetime.as_secs(), seconds, "{given}");
        }
    }

    #[test]
    fn a_token_that_needs_more_than_bearer_is_refused_by_name() {
        let bound = json!({"access_token": "t", "token_type": "DPoP"});
        let error = read(&bound).unwrap_err();
        assert!(error.contains("`DPoP`"), "{error}");
        assert!(read(&json!({"access_token": "t", "token_type": "bearer"})).is_ok());
        let key = DpopKey::generate().unwrap();
        let bound = bound.as_object().unwrap();
        let tokens = TokenSet::from_object(bound, SystemTime::UNIX_EPOCH, Some(&key)).unwrap();
        assert!(tokens.dpop.is_some());
    }

    #[test]
    fn a_token_with_a_line_break_or_no_token_is_no_token() {
        assert!(read(&json!({"access_token": "a\r\nb"})).is_err());
        assert!(read(&json!({"access_token": 7})).is_err());
        assert!(read(&json!({})).is_err());
    }
}
