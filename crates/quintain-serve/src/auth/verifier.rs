//! Decides who presents a token. Keys and revocations are read again when their files change, so that `quintain token`
//! takes effect while the server runs.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use quintain_engine::store::LOCAL_OWNER;

use super::claims::{Claims, LOCAL_AUDIENCE, LOCAL_ISSUER};
use super::ended::EndedFamilies;
use super::external::ExternalIssuer;
use super::keys::{KeyError, KeyRing};
use super::ledger::{self, Ledger};
use super::refusal::Refusal;
use crate::principal::Principal;

/// Verifies tokens for one server.
pub struct Verifier {
    folder: PathBuf,
    /// The URL of this server: the issuer of the tokens of its own authorisation server.
    base_url: String,
    audiences: Vec<String>,
    state: Mutex<State>,
    /// Consents whose tokens were misused.
    ended: EndedFamilies,
    pub external: Option<Arc<ExternalIssuer>>,
}

struct State {
    keys: Arc<KeyRing>,
    revoked: Arc<HashSet<String>>,
    /// The ids of all local tokens that were made here.
    made: Arc<HashSet<String>>,
    seen: [Option<SystemTime>; 2],
}

impl Verifier {
    /// # Errors
    /// If the keys cannot be read or made.
    pub fn open(
        folder: &Path,
        base_url: &str,
        external: Option<Arc<ExternalIssuer>>,
    ) -> Result<Self, KeyError> {
        let keys = Arc::new(KeyRing::open(folder)?);
        let resource = format!("{base_url}/mcp");
        let audiences = vec![LOCAL_AUDIENCE.to_owned(), resource, base_url.to_owned()];
        let state =
            State { keys, revoked: Arc::default(), made: Arc::default(), seen: [None, None] };
        let verifier = Self {
            folder: folder.to_owned(),
            base_url: base_url.to_owned(),
            audiences,
            state: Mutex::new(state),
            ended: EndedFamilies::open(folder),
            external,
        };
        verifier.refresh();
        Ok(verifier)
    }

    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The URI of this server as OAuth names resources.
    pub fn resource(&self) -> String {
        format!("{}/mcp", self.base_url)
    }

    fn refresh(&self) -> (Arc<KeyRing>, Arc<HashSet<String>>) {
        let changed = |path: PathBuf| std::fs::metadata(path).and_then(|file| file.modified()).ok();
        let seen = [changed(self.folder.join("keys.json")), changed(ledger::path_in(&self.folder))];
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.seen != seen {
            match KeyRing::open(&self.folder) {
                Ok(keys) => state.keys = Arc::new(keys),
                Err(error) => tracing::error!(%error, "the keys were not read again"),
            }
            match Ledger::open(&self.folder) {
                Ok(ledger) => {
                    let ids = ledger.rows.iter().map(|row| row.id.clone());
                    state.made = Arc::new(ids.collect());
                    let revoked =
                        ledger.rows.into_iter().filter(|row| row.revoked).map(|row| row.id);
                    state.revoked = Arc::new(revoked.collect());
                }
                Err(error) => tracing::error!(%error, "the list of tokens was not read again"),
            }
            state.seen = seen;
        }
        (Arc::clone(&state.keys), Arc::clone(&state.revoked))
    }

    /// The keys that sign tokens now.
    pub fn keys(&self) -> Arc<KeyRing> {
        self.refresh().0
    }

    /// The claims of a token that `quintain token new` made.
    pub fn local_claims(&self, token: &str) -> Option<Claims> {
        self.own_claims(token, &[LOCAL_ISSUER.to_owned()])
    }

    fn own_claims(&self, token: &str, issuers: &[String]) -> Option<Claims> {
        let (keys, revoked) = self.refresh();
        let claims = keys.verify(token, issuers, &self.audiences)?;
        // The owner of stdio is nobody's subject, and a local token is one that `quintain token new` listed.
        if claims.sub == LOCAL_OWNER || claims.iss == LOCAL_ISSUER && !self.is_made(&claims.jti) {
            return None;
        }
        let is_revoked = revoked.contains(&claims.jti)
            || claims.via.as_ref().is_some_and(|id| revoked.contains(id))
            || claims.family.as_ref().is_some_and(|family| self.has_ended(family));
        (!is_revoked).then_some(claims)
    }

    fn is_made(&self, id: &str) -> bool {
        let is_listed = || {
            self.refresh();
            self.state.lock().unwrap_or_else(PoisonError::into_inner).made.contains(id)
        };
        // Two changes within one tick of the clock look like one.
        is_listed() || {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.seen = [None, None];
            drop(state);
            is_listed()
        }
    }

    /// Whether a local token was revoked.
    pub fn is_revoked(&self, id: &str) -> bool {
        self.refresh().1.contains(id)
    }

    /// Ends the access tokens of a consent.
    pub fn end_family(&self, family: &str) {
        self.ended.add(family);
    }

    fn has_ended(&self, family: &str) -> bool {
        self.ended.contains(family)
    }

    /// Who presents this token.
    ///
    /// # Errors
    /// If nobody whom this server knows signed it for this server, or it is not valid now.
    pub async fn principal(&self, token: &str) -> Result<Principal, Refusal> {
        let issuers = [LOCAL_ISSUER.to_owned(), self.base_url.clone()];
        if let Some(claims) = self.own_claims(token, &issuers) {
            return Ok(claims.principal());
        }
        match &self.external {
            Some(external) => external.principal(token).await,
            None => Err(Refusal::Invalid),
        }
    }
}
