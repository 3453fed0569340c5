//! Issued codes and tokens.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use super::{Grant, random_text};

const CODE_TTL: Duration = Duration::from_mins(1);

/// An approval that can be exchanged for tokens.
pub(super) struct Code {
    pub(super) grant: Grant,
    pub(super) challenge: String,
    pub(super) redirect_uri: String,
    issued: Instant,
}

struct Access {
    grant: Grant,
    family: u64,
    ends: Instant,
}

struct Refresh {
    grant: Grant,
    family: u64,
    is_used: bool,
}

/// Tokens of one approval are a family: if one is stolen, all are revoked.
#[derive(Default)]
pub(super) struct Vault {
    codes: HashMap<String, Code>,
    access: HashMap<String, Access>,
    refresh: HashMap<String, Refresh>,
    families: u64,
}

impl Vault {
    pub(super) fn new_family(&mut self) -> u64 {
        self.families += 1;
        self.families
    }

    pub(super) fn issue_code(
        &mut self,
        grant: Grant,
        challenge: String,
        redirect_uri: String,
    ) -> Result<String, getrandom::Error> {
        let code = random_text()?;
        let entry = Code { grant, challenge, redirect_uri, issued: Instant::now() };
        self.codes.insert(code.clone(), entry);
        Ok(code)
    }

    /// A code works once and for a short time.
    pub(super) fn take_code(&mut self, code: &str) -> Option<Code> {
        self.codes.remove(code).filter(|entry| entry.issued.elapsed() < CODE_TTL)
    }

    pub(super) fn issue_access(
        &mut self,
        grant: Grant,
        family: u64,
        ttl: Duration,
    ) -> Result<String, getrandom::Error> {
        let token = random_text()?;
        self.access.insert(token.clone(), Access { grant, family, ends: Instant::now() + ttl });
        Ok(token)
    }

    pub(super) fn issue_refresh(
        &mut self,
        grant: Grant,
        family: u64,
    ) -> Result<String, getrandom::Error> {
        let token = random_text()?;
        self.refresh.insert(token.clone(), Refresh { grant, family, is_used: false });
        Ok(token)
    }

    /// The rights of an access token, and whether it is still valid.
    pub(super) fn access(&self, token: &str) -> Option<(Grant, bool)> {
        let entry = self.access.get(token)?;
        Some((entry.grant.clone(), Instant::now() < entry.ends))
    }

    /// A refresh token works once. Using it again may be theft, so the family is revoked.
    pub(super) fn take_refresh(&mut self, token: &str, client: &str) -> Option<(Grant, u64)> {
        let entry = self.refresh.get_mut(token).filter(|entry| entry.grant.client == client)?;
        let family = entry.family;
        if entry.is_used {
            self.end_family(family);
            return None;
        }
        entry.is_used = true;
        Some((entry.grant.clone(), family))
    }

    /// Revokes an access token alone, or a refresh token with its whole family.
    pub(super) fn revoke(&mut self, token: &str, client: &str) {
        if let Some(entry) = self.refresh.get(token).filter(|entry| entry.grant.client == client) {
            self.end_family(entry.family);
        } else if self.access.get(token).is_some_and(|entry| entry.grant.client == client) {
            self.access.remove(token);
        }
    }

    /// Revokes all access tokens at once, as an administrator would after an incident.
    pub(super) fn revoke_all_access(&mut self) {
        self.access.clear();
    }

    fn end_family(&mut self, family: u64) {
        self.access.retain(|_, entry| entry.family != family);
        self.refresh.retain(|_, entry| entry.family != family);
    }
}
