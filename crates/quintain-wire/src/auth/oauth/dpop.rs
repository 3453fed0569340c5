//! Proof of possession (DPoP, RFC 9449): a token bound to a key, and each request signed with that key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use ::http::{HeaderMap, HeaderName, HeaderValue, Method};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::nonce;
use crate::auth::{AuthError, Challenge, Clock};

/// The header of a proof.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("dpop");
/// The header with the nonce for the next proof.
const NONCE: HeaderName = HeaderName::from_static("dpop-nonce");
/// The error code of a server that requires its nonce in the proof.
pub(crate) const USE_NONCE: &str = "use_dpop_nonce";
/// The algorithm that every server of the extension must support.
pub(crate) const ALGORITHM: &str = "ES256";
/// Maximum length of a nonce: a longer one would not fit into a header with the rest of the proof.
const NONCE_BYTES: usize = 1 << 10;

/// A key that tokens are bound to, and the nonces that servers require in its proofs.
#[derive(Clone)]
pub(crate) struct DpopKey(Arc<Inner>);

struct Inner {
    key: SigningKey,
    /// By origin, because each server has its own nonces.
    nonces: Mutex<HashMap<String, String>>,
}

impl std::fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DpopKey")
    }
}

impl DpopKey {
    /// A new key.
    pub(crate) fn generate() -> Result<Self, AuthError> {
        loop {
            let mut scalar = [0_u8; 32];
            getrandom::fill(&mut scalar)
                .map_err(|error| AuthError::Failed(format!("cannot get random bytes: {error}")))?;
            // About one of 2^32 numbers is not a valid key; then try again.
            if let Some(key) = Self::from_scalar(&scalar) {
                return Ok(key);
            }
        }
    }

    fn from_scalar(scalar: &[u8]) -> Option<Self> {
        let key = SigningKey::from_slice(scalar).ok()?;
        Some(Self(Arc::new(Inner { key, nonces: Mutex::default() })))
    }

    /// The private key as text, to store with the tokens that are bound to it.
    pub(crate) fn export(&self) -> SecretString {
        SecretString::from(URL_SAFE_NO_PAD.encode(self.0.key.to_bytes()))
    }

    /// Reads a key that [`Self::export`] wrote.
    pub(crate) fn import(text: &SecretString) -> Option<Self> {
        Self::from_scalar(&URL_SAFE_NO_PAD.decode(text.expose_secret()).ok()?)
    }

    /// A proof for one request, bound to the token if there is one.
    pub(crate) fn prove(
        &self,
        method: &str,
        url: &Url,
        token: Option<&SecretString>,
        now: SystemTime,
    ) -> Result<String, AuthError> {
        let mut claims = json!({
            "jti": nonce()?,
            "htm": method,
            "htu": bare(url),
            "iat": now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        });
        if let Some(token) = token {
            let hash = Sha256::digest(token.expose_secret().as_bytes());
            claims["ath"] = URL_SAFE_NO_PAD.encode(hash).into();
        }
        if let Some(nonce) = self.nonces().get(&origin(url)) {
            claims["nonce"] = nonce.as_str().into();
        }
        let header = json!({"typ": "dpop+jwt", "alg": ALGORITHM, "jwk": self.public()});
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signature: Signature = self.0.key.sign(signed.as_bytes());
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes())))
    }

    /// Stores the nonce of a response; returns whether it is new.
    pub(crate) fn learn(&self, url: &Url, headers: &HeaderMap) -> bool {
        let nonce = headers.get(NONCE).and_then(|nonce| nonce.to_str().ok());
        let Some(nonce) = nonce.filter(|nonce| (1..=NONCE_BYTES).contains(&nonce.len())) else {
            return false;
        };
        let old = self.nonces().insert(origin(url), nonce.to_owned());
        old.as_deref() != Some(nonce)
    }

    fn public(&self) -> Value {
        let point = self.0.key.verifying_key().to_encoded_point(false);
        let part = |bytes: Option<&p256::FieldBytes>| {
            bytes.map(|bytes| URL_SAFE_NO_PAD.encode(bytes)).unwrap_or_default()
        };
        json!({"kty": "EC", "crv": "P-256", "x": part(point.x()), "y": part(point.y())})
    }

    fn nonces(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.0.nonces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Proves for each request that the sender owns the token.
#[derive(Clone, Debug)]
pub struct Proof {
    key: DpopKey,
    token: SecretString,
    clock: Clock,
}

impl Proof {
    pub(crate) fn new(key: &DpopKey, token: &SecretString, clock: &Clock) -> Self {
        Self { key: key.clone(), token: token.clone(), clock: clock.clone() }
    }

    /// The `Authorization` header that goes with the proof.
    pub(crate) fn authorization(&self) -> SecretString {
        SecretString::from(format!("DPoP {}", self.token.expose_secret()))
    }

    /// The `DPoP` header for one request.
    pub(crate) fn header(&self, method: &Method, url: &Url) -> Result<HeaderValue, AuthError> {
        let now = self.clock.now();
        let proof = self.key.prove(method.as_str(), url, Some(&self.token), now)?;
        let mut value = HeaderValue::from_str(&proof)
            .map_err(|error| AuthError::Failed(format!("the DPoP proof: {error}")))?;
        value.set_sensitive(true);
        Ok(value)
    }

    pub(crate) fn learn(&self, url: &Url, headers: &HeaderMap) {
        self.key.learn(url, headers);
    }
}

/// Whether a refusal only requires the nonce that came with it.
pub(crate) fn wants_nonce(headers: &HeaderMap) -> bool {
    headers.contains_key(NONCE)
        && Challenge::from_headers(headers).error.as_deref() == Some(USE_NONCE)
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// The URL in proofs: without query, fragment and credentials.
fn bare(url: &Url) -> String {
    format!("{}{}", origin(url), url.path())
}

#[cfg(test)]
mod tests {
    use super::*;
    use jsonwebtoken::{Algorithm, DecodingKey, Validation};

    fn read(proof: &str) -> Value {
        let header = jsonwebtoken::decode_header(proof).unwrap();
        assert_eq!(header.typ.as_deref(), Some("dpop+jwt"));
        let key = DecodingKey::from_jwk(&header.jwk.unwrap()).unwrap();
        let mut rules = Validation::new(Algorithm::ES256);
        rules.required_spec_claims.clear();
        rules.validate_exp = false;
        jsonwebtoken::decode(proof, &key, &rules).unwrap().claims
    }

    #[test]
    fn a_proof_names_method_address_and_token_and_verifies_with_its_own_key() {
        let key = DpopKey::generate().unwrap();
        let url: Url = "https://u:p@h:8443/mcp?key=1#x".parse().unwrap();
        // The access token of RFC 9449 section 7.1 and its hash.
        let token = SecretString::from("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU");
        let now = UNIX_EPOCH + std::time::Duration::from_secs(7);
        let claims = read(&key.prove("POST", &url, Some(&token), now).unwrap());
        assert_eq!(claims["htm"], "POST");
        assert_eq!(claims["htu"], "https://h:8443/mcp");
        assert_eq!(claims["iat"], 7);
        assert_eq!(claims["ath"], "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo");
        let again = read(&key.prove("POST", &url, None, now).unwrap());
        assert_ne!(again["jti"], claims["jti"]);
        assert_eq!(again.get("ath"), None);
    }

    #[test]
    fn a_nonce_is_repeated_to_the_server_it_came_from_and_to_no_other() {
        let key = DpopKey::generate().unwrap();
        let [here, there]: [Url; 2] =
            ["https://a/x", "https://b/x"].map(|url| url.parse().unwrap());
        let mut headers = HeaderMap::new();
        assert!(!key.learn(&here, &headers));
        headers.insert(NONCE, HeaderValue::from_static("n1"));
        assert!(key.learn(&here, &headers));
        assert!(!key.learn(&here, &headers));
        let nonce = |url| {
            let proof = key.prove("GET", url, None, UNIX_EPOCH).unwrap();
            read(&proof).get("nonce").cloned()
        };
        assert_eq!(nonce(&here), Some("n1".into()));
        assert_eq!(nonce(&there), None);
    }

    #[test]
    fn an_exported_key_is_the_same_key_and_cannot_be_printed() {
        let key = DpopKey::generate().unwrap();
        let again = DpopKey::import(&key.export()).unwrap();
        assert_eq!(key.public(), again.public());
        assert!(!format!("{key:?}").contains(key.export().expose_secret()));
        assert!(DpopKey::import(&SecretString::from("AAAA")).is_none());
    }
}
