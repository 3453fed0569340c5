//! An external OpenID Connect issuer: discovery, keys that are cached and fetched again when an unknown one appears, and the
//! checks of its tokens.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, JwkSet};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde_json::Value;

use super::claims::external_principal;
use super::refusal::Refusal;
use crate::principal::Principal;

const LEEWAY_SECONDS: u64 = 5;
/// How long keys are used without asking again, and how soon an unknown key makes the server ask again.
const KEYS_FRESH: Duration = Duration::from_hours(1);
const SHORTEST_GAP: Duration = Duration::from_secs(5);
const TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes of a document of the issuer.
const MOST_BYTES: usize = 1024 * 1024;

/// What the issuer publishes about itself.
#[derive(Debug, Clone, Deserialize)]
pub struct Discovery {
    pub issuer: String,
    pub authorization_endpoint: Option<String>,
    pub token_endpoint: Option<String>,
    pub jwks_uri: String,
    #[serde(default)]
    pub scopes_supported: Vec<String>,
}

/// Why an issuer cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    #[error("cannot reach {url}: {why}")]
    Unreachable { url: String, why: String },
    #[error("the document {url} is for the issuer `{found}`, expected `{expected}`")]
    OtherIssuer { url: String, found: String, expected: String },
}

/// An issuer whose tokens this server accepts.
pub struct ExternalIssuer {
    issuer: String,
    audiences: Vec<String>,
    client: reqwest::Client,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    discovery: Option<Discovery>,
    keys: Option<(Instant, JwkSet)>,
}

impl ExternalIssuer {
    /// # Errors
    /// If there is no HTTP client.
    pub fn new(issuer: &str, audiences: Vec<String>) -> Result<Self, IssuerError> {
        let unreachable = |error: reqwest::Error| IssuerError::Unreachable {
            url: issuer.to_owned(),
            why: error.to_string(),
        };
        // Fails only if a provider is installed already, which works as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder();
        if url::Url::parse(issuer).is_ok_and(|url| quintain_wire::net::is_loopback(&url)) {
            // A proxy from the environment does not reach this machine.
            builder = builder.no_proxy();
        }
        let client = builder
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(unreachable)?;
        Ok(Self { issuer: issuer.to_owned(), audiences, client, known: Mutex::default() })
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    async fn fetch(&self, url: &str) -> Result<Vec<u8>, IssuerError> {
        let unreachable = |why: String| IssuerError::Unreachable { url: url.to_owned(), why };
        let response =
            self.client.get(url).send().await.map_err(|error| unreachable(error.to_string()))?;
        if !response.status().is_success() {
            return Err(unreachable(format!("HTTP status {}", response.status())));
        }
        let mut response = response;
        let mut body = Vec::new();
        while let Some(chunk) =
            response.chunk().await.map_err(|error| unreachable(error.to_string()))?
        {
            body.extend_from_slice(&chunk);
            if body.len() > MOST_BYTES {
                return Err(unreachable("the document is too large".to_owned()));
            }
        }
        Ok(body)
    }

    /// What the issuer publishes. The document must be about this issuer.
    ///
    /// # Errors
    /// If it cannot be fetched, or is about another issuer.
    pub async fn discovery(&self) -> Result<Discovery, IssuerError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).discovery.clone();
        if let Some(known) = known {
            return Ok(known);
        }
        let url = format!("{}/.well-known/openid-configuration", self.issuer);
        let body = self.fetch(&url).await?;
        let found: Discovery = serde_json::from_slice(&body).map_err(|error| {
            IssuerError::Unreachable { url: url.clone(), why: error.to_string() }
        })?;
        if found.issuer.trim_end_matches('/') != self.issuer {
            return Err(IssuerError::OtherIssuer {
                url,
                found: found.issuer,
                expected: self.issuer.clone(),
            });
        }
        self.known.lock().unwrap_or_else(PoisonError::into_inner).discovery = Some(found.clone());
        Ok(found)
    }

    /// The key with an id. An unknown id fetches the keys again, but not too often.
    async fn key(&self, id: &str) -> Result<Option<Jwk>, IssuerError> {
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((since, keys)) = &known.keys {
                let found = keys.find(id).cloned();
                let is_fresh = since.elapsed() < KEYS_FRESH;
                if found.is_some() && is_fresh || found.is_none() && since.elapsed() < SHORTEST_GAP
                {
                    return Ok(found);
                }
            }
        }
        let discovery = self.discovery().await?;
        let body = self.fetch(&discovery.jwks_uri).await?;
        let keys: JwkSet = serde_json::from_slice(&body).map_err(|error| {
            IssuerError::Unreachable { url: discovery.jwks_uri.clone(), why: error.to_string() }
        })?;
        let found = keys.find(id).cloned();
        self.known.lock().unwrap_or_else(PoisonError::into_inner).keys =
            Some((Instant::now(), keys));
        Ok(found)
    }

    /// Who presents a token of this issuer.
    pub(super) async fn principal(&self, token: &str) -> Result<Principal, Refusal> {
        let claims = self.claims(token, &self.audiences).await?;
        external_principal(&self.issuer, &claims).ok_or(Refusal::Invalid)
    }

    /// The claims of a token of this issuer for one of the audiences.
    ///
    /// # Errors
    /// If the token is not valid, or the keys cannot be fetched.
    pub async fn claims(&self, token: &str, audiences: &[String]) -> Result<Value, Refusal> {
        let header = jsonwebtoken::decode_header(token).map_err(|_| Refusal::Invalid)?;
        let id = header.kid.ok_or(Refusal::Invalid)?;
        let key = self.key(&id).await.map_err(|error| {
            tracing::warn!(%error, "the keys of the issuer are not available");
            Refusal::IssuerUnreachable
        })?;
        let key = key.ok_or(Refusal::Invalid)?;
        let algorithm =
            algorithm_of(&key).filter(|known| *known == header.alg).ok_or(Refusal::Invalid)?;
        let decoding = DecodingKey::from_jwk(&key).map_err(|_| Refusal::Invalid)?;
        let mut rules = Validation::new(algorithm);
        rules.leeway = LEEWAY_SECONDS;
        rules.validate_nbf = true;
        rules.set_issuer(&[self.issuer.clone(), format!("{}/", self.issuer)]);
        rules.set_audience(audiences);
        rules.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        let decoded = jsonwebtoken::decode::<Value>(token, &decoding, &rules);
        decoded.map(|decoded| decoded.claims).map_err(|_| Refusal::Invalid)
    }

    /// The principal that claims describe.
    pub fn principal_of(&self, claims: &Value) -> Option<Principal> {
        external_principal(&self.issuer, claims)
    }
}

/// The algorithm that a key is for. A key without one has the default of its kind; a symmetric key is never accepted, so a
/// public key cannot pass as a secret.
fn algorithm_of(key: &Jwk) -> Option<Algorithm> {
    use jsonwebtoken::jwk::EllipticCurve;
    let named = key.common.key_algorithm.and_then(|named| named.to_string().parse().ok());
    let of_kind = match &key.algorithm {
        AlgorithmParameters::RSA(_) => Some(Algorithm::RS256),
        AlgorithmParameters::EllipticCurve(curve) => match curve.curve {
            EllipticCurve::P256 => Some(Algorithm::ES256),
            EllipticCurve::P384 => Some(Algorithm::ES384),
            _ => None,
        },
        AlgorithmParameters::OctetKeyPair(_) => Some(Algorithm::EdDSA),
        _ => None,
    }?;
    let named: Option<Algorithm> = named;
    Some(named.unwrap_or(of_kind))
}
