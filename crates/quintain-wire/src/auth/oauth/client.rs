//! The identity of a client at a token endpoint, and how it authenticates.

use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use jsonwebtoken::{Algorithm, EncodingKey, Header};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use url::form_urlencoded::byte_serialize;

use super::nonce;
use crate::auth::{AuthError, basic};

/// How a client authenticates, with the names of the OAuth registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientAuthMethod {
    /// Without a secret: a public client.
    None,
    /// The secret in the form body.
    ClientSecretPost,
    /// The secret in an HTTP Basic header.
    ClientSecretBasic,
    /// An assertion signed with a private key.
    PrivateKeyJwt,
}

impl ClientAuthMethod {
    /// The name in metadata and registrations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ClientSecretPost => "client_secret_post",
            Self::ClientSecretBasic => "client_secret_basic",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// The method for a client with or without a secret at a server that supports `supported`.
    ///
    /// Without a list of the server, the secret is sent in the body, which most token endpoints accept.
    pub(crate) fn choose(has_secret: bool, supported: Option<&[String]>) -> Self {
        let supports = |method: Self| {
            supported.is_some_and(|list| list.iter().any(|name| name == method.as_str()))
        };
        if !has_secret {
            return Self::None;
        }
        let methods = [Self::ClientSecretPost, Self::ClientSecretBasic, Self::None];
        methods.into_iter().find(|m| supports(*m)).unwrap_or(Self::ClientSecretPost)
    }
}

impl FromStr for ClientAuthMethod {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::None, Self::ClientSecretPost, Self::ClientSecretBasic, Self::PrivateKeyJwt]
            .into_iter()
            .find(|method| method.as_str() == name)
            .ok_or(())
    }
}

/// A private key that signs client assertions.
#[derive(Clone, Debug)]
pub struct SigningKey {
    /// The key as PEM (PKCS#8, or PKCS#1 for RSA).
    pub pem: SecretString,
    /// `ES256`, `RS256`, `EdDSA`, ...
    pub algorithm: String,
    /// `kid`, if the server knows several keys.
    pub key_id: Option<String>,
}

/// Parameters of the form, and the `Authorization` header.
pub(crate) type Proof = (Vec<(&'static str, String)>, Option<SecretString>);

/// A client as registered at one authorization server.
#[derive(Clone, Debug)]
pub(crate) struct ClientIdentity {
    pub(crate) id: String,
    pub(crate) secret: Option<SecretString>,
    pub(crate) key: Option<SigningKey>,
    pub(crate) method: ClientAuthMethod,
}

impl ClientIdentity {
    /// The parameters that this client adds to the form, and its `Authorization` header, if any.
    pub(crate) fn prove(&self, audience: &str, now: SystemTime) -> Result<Proof, AuthError> {
        let id = ("client_id", self.id.clone());
        Ok(match (self.method, &self.secret, &self.key) {
            (ClientAuthMethod::PrivateKeyJwt, _, Some(key)) => {
                let assertion = key.assertion(&self.id, audience, now)?;
                let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer".to_owned();
                let form =
                    vec![id, ("client_assertion_type", kind), ("client_assertion", assertion)];
                (form, None)
            }
            (ClientAuthMethod::ClientSecretBasic, Some(secret), _) => {
                (Vec::new(), Some(basic_header(&self.id, secret)))
            }
            (ClientAuthMethod::ClientSecretPost, Some(secret), _) => {
                (vec![id, ("client_secret", secret.expose_secret().to_owned())], None)
            }
            _ => (vec![id], None),
        })
    }
}

/// RFC 6749 section 2.3.1 requires both parts to be form-encoded before they are joined.
pub(crate) fn basic_header(id: &str, secret: &SecretString) -> SecretString {
    let id: String = byte_serialize(id.as_bytes()).collect();
    let secret: String = byte_serialize(secret.expose_secret().as_bytes()).collect();
    basic::header(&id, &SecretString::from(secret))
}

#[derive(Serialize)]
struct Claims<'a> {
    iss: &'a str,
    sub: &'a str,
    aud: &'a str,
    iat: u64,
    exp: u64,
    jti: String,
}

impl SigningKey {
    /// A new assertion (RFC 7523), valid for five minutes.
    fn assertion(&self, id: &str, audience: &str, now: SystemTime) -> Result<String, AuthError> {
        let failed = |reason: String| AuthError::Key { algorithm: self.algorithm.clone(), reason };
        let algorithm = Algorithm::from_str(&self.algorithm).map_err(|_| {
            failed("the algorithm is unknown; use ES256, RS256 or EdDSA".to_owned())
        })?;
        let pem = self.pem.expose_secret().as_bytes();
        let key = match algorithm {
            Algorithm::ES256 | Algorithm::ES384 => EncodingKey::from_ec_pem(pem),
            Algorithm::EdDSA => EncodingKey::from_ed_pem(pem),
            Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512 => {
                return Err(failed("it is a symmetric algorithm".to_owned()));
            }
            _ => EncodingKey::from_rsa_pem(pem),
        }
        .map_err(|error| failed(error.to_string()))?;
        let iat = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let claims = Claims { iss: id, sub: id, aud: audience, iat, exp: iat + 300, jti: nonce()? };
        let header = Header { kid: self.key_id.clone(), ..Header::new(algorithm) };
        jsonwebtoken::encode(&header, &claims, &key).map_err(|error| failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_method_follows_what_the_server_supports() {
        use ClientAuthMethod as M;
        let choose = |list: &[&str]| M::choose(true, Some(&names(list)));
        assert_eq!(choose(&["client_secret_basic"]), M::ClientSecretBasic);
        assert_eq!(choose(&["client_secret_basic", "client_secret_post"]), M::ClientSecretPost);
        assert_eq!(choose(&["none"]), M::None);
        assert_eq!(M::choose(true, None), M::ClientSecretPost);
        assert_eq!(M::choose(false, Some(&names(&["client_secret_basic"]))), M::None);
    }

    #[test]
    fn basic_encodes_both_halves_before_joining_them() {
        let header = basic_header("a:b", &SecretString::from("p q"));
        // base64 of `a%3Ab:p+q`
        assert_eq!(header.expose_secret(), "Basic YSUzQWI6cCtx");
    }

    #[test]
    fn a_key_that_is_none_is_reported_and_not_shown() {
        let pem = SecretString::from("-----BEGIN canary-----");
        let key = SigningKey { pem, algorithm: "ES256".to_owned(), key_id: None };
        let error = key.assertion("id", "aud", SystemTime::now()).unwrap_err().to_string();
        assert!(error.contains("ES256") && !error.contains("canary"), "{error}");
    }
}
