//! What the authorisation server remembers. Clients and refresh tokens survive a restart, the latter only as hashes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::auth::private_file;
use crate::principal::Principal;
use crate::random::{random_id, random_secret};

/// How long a code may be exchanged, a consent may take, and a refresh token may be used.
const CODE_LIFE: Duration = Duration::from_mins(1);
const PENDING_LIFE: Duration = Duration::from_mins(10);
pub(super) const REFRESH_LIFE_SECONDS: u64 = 14 * 24 * 3600;
const MOST_CLIENTS: usize = 10_000;
/// How long a client that nobody has approved stays registered.
const UNUSED_LIFE_SECONDS: u64 = 3600;
const MOST_PENDING: usize = 1000;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Client {
    pub(super) name: String,
    pub(super) redirect_uris: Vec<String>,
    /// The hash of its secret; public clients have none.
    pub(super) secret: Option<String>,
    pub(super) created: u64,
    /// Whether a user has ever approved it. Others are forgotten after a while.
    #[serde(default)]
    pub(super) is_used: bool,
}

/// What a user granted to a client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Grant {
    pub(super) owner: String,
    pub(super) scope: String,
    pub(super) client: String,
    /// All tokens that follow from one consent. Misuse of one ends all.
    pub(super) family: String,
    /// The id of the local token that approved it.
    #[serde(default)]
    pub(super) via: Option<String>,
}

/// What a code or a refresh token is exchanged for.
pub(super) enum Taken {
    Grant(Grant),
    Code(Box<Code>),
    Unknown,
    /// It was used before: the tokens of this family end.
    Misused(String),
}

#[derive(Debug, Clone)]
pub(super) struct Code {
    pub(super) grant: Grant,
    pub(super) challenge: String,
    pub(super) redirect_uri: String,
    since: Instant,
    is_used: bool,
}

/// A request to authorise that waits for the user.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) client: String,
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
    pub(super) scope: Option<String>,
    pub(super) state: Option<String>,
    /// The browser that asked, as the hash of its cookie.
    pub(super) browser: String,
    /// At an external issuer: our own verifier.
    pub(super) verifier: Option<String>,
    since: Instant,
}

impl Pending {
    pub(super) fn new(
        client: String,
        redirect_uri: String,
        challenge: String,
        browser: String,
    ) -> Self {
        let since = Instant::now();
        Self {
            client,
            redirect_uri,
            challenge,
            scope: None,
            state: None,
            browser,
            verifier: None,
            since,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Refresh {
    grant: Grant,
    expires: u64,
    is_used: bool,
}

#[derive(Default, Serialize, Deserialize)]
struct Stored {
    clients: HashMap<String, Client>,
    refresh: HashMap<String, Refresh>,
}

pub(super) struct Records {
    path: PathBuf,
    stored: Stored,
    codes: HashMap<String, Code>,
    pending: HashMap<String, Pending>,
}

pub(super) fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes())
        .iter()
        .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

impl Records {
    pub(super) fn open(folder: &Path) -> Self {
        let path = folder.join("oauth.json");
        let stored = std::fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        Self {
            path,
            stored: stored.unwrap_or_default(),
            codes: HashMap::new(),
            pending: HashMap::new(),
        }
    }

    fn save(&self) {
        let written = serde_json::to_vec(&self.stored)
            .map_err(std::io::Error::from)
            .and_then(|text| private_file::write(&self.path, &text));
        if let Err(error) = written {
            tracing::error!(%error, "the clients of the authorisation server were not stored");
        }
    }

    pub(super) fn client(&self, id: &str) -> Option<Client> {
        self.stored.clients.get(id).cloned()
    }

    /// Adds a client. None if there are too many: a flood of registrations never removes another client.
    pub(super) fn add_client(&mut self, client: Client) -> Option<String> {
        let clients = &mut self.stored.clients;
        let now = client.created;
        if clients.len() >= MOST_CLIENTS {
            clients.retain(|_, old| old.is_used || old.created + UNUSED_LIFE_SECONDS > now);
        }
        if clients.len() >= MOST_CLIENTS {
            return None;
        }
        let id = random_id();
        clients.insert(id.clone(), client);
        self.save();
        Some(id)
    }

    /// Keeps a request until the user decides. `None` if there are too many.
    pub(super) fn add_pending(&mut self, pending: Pending) -> Option<String> {
        self.pending.retain(|_, old| old.since.elapsed() < PENDING_LIFE);
        if self.pending.len() >= MOST_PENDING {
            return None;
        }
        let id = random_secret();
        self.pending.insert(id.clone(), pending);
        Some(id)
    }

    /// Takes a request out, if the same browser brings it.
    pub(super) fn take_pending(&mut self, id: &str, browser: Option<&str>) -> Option<Pending> {
        let is_own = self.pending.get(id).is_some_and(|pending| {
            pending.since.elapsed() < PENDING_LIFE
                && browser.map(hash).as_ref() == Some(&pending.browser)
        });
        if is_own { self.pending.remove(id) } else { None }
    }

    pub(super) fn issue_code(
        &mut self,
        pending: &Pending,
        principal: &Principal,
        scope: String,
        via: Option<String>,
    ) -> String {
        self.codes.retain(|_, old| old.since.elapsed() < PENDING_LIFE);
        let code = random_secret();
        if let Some(client) = self.stored.clients.get_mut(&pending.client)
            && !client.is_used
        {
            client.is_used = true;
            self.save();
        }
        let client = pending.client.clone();
        let (owner, family) = (principal.owner.clone(), random_id());
        let grant = Grant { owner, scope, client, family, via };
        let entry = Code {
            grant,
            challenge: pending.challenge.clone(),
            redirect_uri: pending.redirect_uri.clone(),
            since: Instant::now(),
            is_used: false,
        };
        self.codes.insert(hash(&code), entry);
        code
    }

    /// The grant of a code, once. A second attempt ends every token of the first.
    pub(super) fn take_code(&mut self, code: &str) -> Taken {
        let Some(entry) = self.codes.get_mut(&hash(code)) else { return Taken::Unknown };
        if entry.is_used {
            let family = entry.grant.family.clone();
            self.end_family(&family);
            return Taken::Misused(family);
        }
        entry.is_used = true;
        if entry.since.elapsed() < CODE_LIFE {
            Taken::Code(Box::new(entry.clone()))
        } else {
            Taken::Unknown
        }
    }

    pub(super) fn issue_refresh(&mut self, grant: Grant, now: u64) -> String {
        self.stored.refresh.retain(|_, old| old.expires > now);
        let token = random_secret();
        let entry = Refresh { grant, expires: now + REFRESH_LIFE_SECONDS, is_used: false };
        self.stored.refresh.insert(hash(&token), entry);
        self.save();
        token
    }

    /// The grant of a refresh token, once. A second use means that it was stolen, and ends the family.
    pub(super) fn take_refresh(&mut self, token: &str, client: &str, now: u64) -> Taken {
        let Some(entry) = self.stored.refresh.get_mut(&hash(token)) else { return Taken::Unknown };
        if entry.is_used || entry.grant.client != client {
            let family = entry.grant.family.clone();
            self.end_family(&family);
            return Taken::Misused(family);
        }
        entry.is_used = true;
        let grant = (entry.expires > now).then(|| entry.grant.clone());
        self.save();
        grant.map_or(Taken::Unknown, Taken::Grant)
    }

    fn end_family(&mut self, family: &str) {
        self.stored.refresh.retain(|_, entry| entry.grant.family != family);
        self.save();
    }
}
