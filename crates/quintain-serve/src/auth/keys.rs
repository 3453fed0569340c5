//! The keys that sign our tokens. The newest one signs; older ones verify until they are removed.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};

use super::claims::Claims;
use super::private_file;
use crate::random::{random_id, random_secret};

/// The only algorithm of our keys. A token that names another one is refused.
const ALGORITHM: Algorithm = Algorithm::HS256;
/// Why keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("cannot read the keys in {path}: {why}")]
    Read { path: PathBuf, why: String },
    #[error("cannot write the keys to {path}: {source}")]
    Write { path: PathBuf, source: std::io::Error },
    #[error("cannot sign the token: {0}")]
    Sign(#[from] jsonwebtoken::errors::Error),
}

/// The keys of a state folder.
#[derive(Debug)]
pub struct KeyRing {
    path: PathBuf,
    keys: Vec<Key>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Key {
    id: String,
    secret: String,
    created: u64,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Key({})", self.id)
    }
}

impl KeyRing {
    /// Reads the keys, and makes the first one.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn open(folder: &Path) -> Result<Self, KeyError> {
        let path = folder.join("keys.json");
        let read = |why: String| KeyError::Read { path: path.clone(), why };
        let keys = match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|error| read(error.to_string()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(read(error.to_string())),
        };
        let mut ring = Self { path, keys };
        if ring.keys.is_empty() {
            ring.rotate(false)?;
        }
        Ok(ring)
    }

    /// Makes a new key. `only` removes the others: their tokens become invalid at once.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn rotate(&mut self, only: bool) -> Result<(), KeyError> {
        if only {
            self.keys.clear();
        }
        let created = jsonwebtoken::get_current_timestamp();
        self.keys.insert(0, Key { id: random_id(), secret: random_secret(), created });
        let text = serde_json::to_vec_pretty(&self.keys).unwrap_or_default();
        let path = self.path.clone();
        private_file::write(&path, &text).map_err(|source| KeyError::Write { path, source })
    }

    /// Signs a token.
    ///
    /// # Errors
    /// If there is no key.
    pub fn sign(&self, claims: &Claims) -> Result<String, KeyError> {
        let missing = || KeyError::Read { path: self.path.clone(), why: "no key".to_owned() };
        let key = self.keys.first().ok_or_else(missing)?;
        let mut header = Header::new(ALGORITHM);
        header.kid = Some(key.id.clone());
        Ok(jsonwebtoken::encode(&header, claims, &EncodingKey::from_secret(&key.bytes()))?)
    }

    /// The claims of a token that one of the keys signed, if issuer, audience and times are right.
    pub(super) fn verify(
        &self,
        token: &str,
        issuers: &[String],
        audiences: &[String],
    ) -> Option<Claims> {
        let header = jsonwebtoken::decode_header(token).ok()?;
        if header.alg != ALGORITHM {
            return None;
        }
        let id = header.kid?;
        let key = self.keys.iter().find(|key| key.id == id)?;
        let mut rules = Validation::new(ALGORITHM);
        // The clock that signed is the one that verifies.
        rules.leeway = 0;
        rules.validate_nbf = true;
        rules.set_issuer(issuers);
        rules.set_audience(audiences);
        rules.set_required_spec_claims(&["exp", "nbf", "iss", "aud", "sub"]);
        let decoded = jsonwebtoken::decode(token, &DecodingKey::from_secret(&key.bytes()), &rules);
        decoded.ok().map(|decoded| decoded.claims)
    }
}

impl Key {
    fn bytes(&self) -> Vec<u8> {
        URL_SAFE_NO_PAD.decode(&self.secret).unwrap_or_default()
    }
}
