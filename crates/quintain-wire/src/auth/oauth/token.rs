//! The token request and its answer.
//!
//! The `oauth2` crate would model the happy path of these two messages in more types than they have
//! fields, and neither bounds the body nor keeps the server's own words; the form below is all there is.

use std::time::{Duration, SystemTime};

use ::http::HeaderValue;
use ::http::header::AUTHORIZATION;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value};
use url::Url;
use url::form_urlencoded::Serializer;

use super::Desk;
use super::client::{ClientIdentity, basic_header};
use super::dpop::{self, DpopKey};
use super::http::Answer;
use crate::auth::AuthError;
use crate::auth::error::{described, shown};
use crate::redact::Redactor;

/// The life of a token whose server does not tell it.
const DEFAULT_LIFETIME: Duration = Duration::from_hours(1);

/// Longer lives are cut to this, so that no server can overflow the arithmetic of time.
const LONGEST_LIFETIME: Duration = Duration::from_hours(10 * 365 * 24);

/// A token endpoint and the client that talks to it.
#[derive(Clone, Debug)]
pub(crate) struct TokenEndpoint {
    pub(crate) url: Url,
    /// The audience of client assertions, if it is known.
    pub(crate) issuer: Option<String>,
    /// The password grant can do without.
    pub(crate) client: Option<ClientIdentity>,
    /// The key that tokens are to be bound to, if the server they are for demands that.
    pub(crate) dpop: Option<DpopKey>,
}

/// What a token endpoint hands out.
#[derive(Clone, Debug)]
pub(crate) struct TokenSet {
    pub(crate) access_token: SecretString,
    pub(crate) refresh_token: Option<SecretString>,
    pub(crate) expires_at: SystemTime,
    pub(crate) lifetime: Duration,
    /// The key the access token is bound to; without one, whoever bears it may use it.
    pub(crate) dpop: Option<DpopKey>,
}

impl TokenEndpoint {
    /// Asks for a token with `grant` and its parameters; empty parameters are left out.
    pub(crate) async fn request(
        &self,
        desk: &Desk,
        grant: &str,
        parameters: &[(&str, &str)],
    ) -> Result<TokenSet, AuthError> {
        let now = desk.clock.now();
        let object = self.exchange(desk, grant, parameters).await?;
        let tokens = TokenSet::from_object(&object, now, self.dpop.as_ref())
            .map_err(|reason| self.bad(reason))?;
        desk.redactor.learn(&tokens.access_token);
        if let Some(token) = &tokens.refresh_token {
            desk.redactor.learn(token);
        }
        Ok(tokens)
    }

    fn bad(&self, reason: String) -> AuthError {
        AuthError::BadAnswer { url: self.url.to_string(), reason }
    }

    /// [`Self::request`] for answers that are no access tokens: the object as it came.
    pub(crate) async fn exchange(
        &self,
        desk: &Desk,
        grant: &str,
        parameters: &[(&str, &str)],
    ) -> Result<Map<String, Value>, AuthError> {
        let mut answer = self.send(desk, grant, parameters).await?;
        if let Some(key) = &self.dpop {
            let error = answer.object().and_then(|mut object| object.remove("error"));
            let wants_nonce = error.is_some_and(|error| error == dpop::USE_NONCE);
            if key.learn(&self.url, &answer.headers) && wants_nonce {
                answer = self.send(desk, grant, parameters).await?;
                key.learn(&self.url, &answer.headers);
            }
        }
        self.read(&answer, grant)
    }

    async fn send(
        &self,
        desk: &Desk,
        grant: &str,
        parameters: &[(&str, &str)],
    ) -> Result<Answer, AuthError> {
        let now = desk.clock.now();
        let (body, authorization) = self.form(grant, parameters, now)?;
        let mut request = desk.http.form(&self.url, body);
        if let Some(header) = authorization {
            request = request.header(AUTHORIZATION, header.expose_secret());
        }
        if let Some(key) = &self.dpop {
            request = request.header(dpop::HEADER, key.prove("POST", &self.url, None, now)?);
        }
        desk.http.send(request, &self.url).await
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

    fn read(&self, answer: &Answer, grant: &str) -> Result<Map<String, Value>, AuthError> {
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
        // The body is not shown: what is not JSON can still hold a token.
        object.ok_or_else(|| self.bad(format!("{} is no JSON object", answer.kind())))
    }
}

fn without_code(answer: &Answer) -> String {
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
            return Err("its `access_token` holds characters no header can carry".to_owned());
        }
        // Servers that leave the type out mean bearer; other types need a proof we may not have.
        let dpop = match (text("token_type").unwrap_or("bearer"), key) {
            (kind, _) if kind.eq_ignore_ascii_case("bearer") => None,
            (kind, Some(key)) if kind.eq_ignore_ascii_case("dpop") => Some(key.clone()),
            (kind, _) => {
                return Err(format!("its token type `{}` was not asked for", shown(kind)));
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

/// Teaches the redactor a client secret in the shape it has in an HTTP Basic header, too.
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
