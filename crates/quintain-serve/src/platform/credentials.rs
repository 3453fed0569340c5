//! Credentials of generators. The store gets only masked values; the values themselves are in one file per owner that only
//! the user of this process can read. They are read when a job starts.

use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use quintain_content::secret::{is_secret, looks_random, of_url, shown_url};
use quintain_wire::redact::MASK;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;

use crate::error::{ErrorCode, ToolError};
use crate::random::hexadecimal;

/// JSON pointers into the body of a generator, with the values that are masked there.
pub type Hidden = BTreeMap<String, String>;

/// Parts of a generator that may contain credentials.
const PARTS: [&str; 2] = ["connection", "parameters"];
/// Keys of `auth` that are not secret.
const HARMLESS: [&str; 14] = [
    "type",
    "username",
    "keyName",
    "placement",
    "grantType",
    "tokenUrl",
    "clientId",
    "scope",
    "scopes",
    "audience",
    "resource",
    "clientAuthMethod",
    "tokenEndpointAuthMethod",
    "algorithm",
];

/// The credentials of all owners.
pub struct Credentials {
    folder: Option<PathBuf>,
    /// What is not written: of a server without a state directory.
    memory: Mutex<HashMap<String, BTreeMap<String, Hidden>>>,
}

impl Credentials {
    pub(super) fn new(state_dir: Option<&Path>) -> Self {
        Self { folder: state_dir.map(|dir| dir.join("credentials")), memory: Mutex::default() }
    }

    /// Remembers the credentials of a generator; empty ones are forgotten.
    pub async fn put(&self, owner: &str, id: &str, hidden: Hidden) -> Result<(), ToolError> {
        let mut memory = self.memory.lock().await;
        let mut all = self.read(&memory, owner)?;
        if hidden.is_empty() {
            all.remove(id);
        } else {
            all.insert(id.to_owned(), hidden);
        }
        if let Some(folder) = &self.folder {
            write(folder, owner, &all).map_err(|error| failed(&error))
        } else {
            memory.insert(owner.to_owned(), all);
            Ok(())
        }
    }

    /// The credentials of a generator.
    pub async fn get(&self, owner: &str, id: &str) -> Result<Hidden, ToolError> {
        let memory = self.memory.lock().await;
        Ok(self.read(&memory, owner)?.remove(id).unwrap_or_default())
    }

    fn read(
        &self,
        memory: &HashMap<String, BTreeMap<String, Hidden>>,
        owner: &str,
    ) -> Result<BTreeMap<String, Hidden>, ToolError> {
        let Some(folder) = &self.folder else {
            return Ok(memory.get(owner).cloned().unwrap_or_default());
        };
        match std::fs::read(folder.join(file_name(owner))) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| failed(&error.into())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
            Err(error) => Err(failed(&error)),
        }
    }
}

fn failed(error: &std::io::Error) -> ToolError {
    tracing::error!(%error, "the file of credentials failed");
    ToolError::new(ErrorCode::Internal, "the credentials of targets cannot be read or written")
}

/// Owners are arbitrary text, so the name of the file is a digest.
fn file_name(owner: &str) -> String {
    let digest = Sha256::digest(owner);
    format!("{}.json", hexadecimal(&digest[..16]))
}

fn write(folder: &Path, owner: &str, all: &BTreeMap<String, Hidden>) -> std::io::Result<()> {
    let mut directory = std::fs::DirBuilder::new();
    let mut options = std::fs::OpenOptions::new();
    #[cfg(unix)]
    {
        std::os::unix::fs::DirBuilderExt::mode(&mut directory, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    directory.recursive(true).create(folder)?;
    let path = folder.join(file_name(owner));
    let draft = path.with_extension("new");
    match std::fs::remove_file(&draft) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // A link that another user prepared would make this fail.
    let mut file = options.write(true).create_new(true).open(&draft)?;
    file.write_all(&serde_json::to_vec(all)?)?;
    file.sync_all()?;
    std::fs::rename(draft, path)
}

/// Masks the credentials in the body of a generator and returns them. A value that is already masked, because a client
/// sent back what it had read, keeps its earlier credential.
pub fn hide(body: &mut Value, earlier: &Hidden) -> Hidden {
    let mut hidden = Hidden::new();
    for part in PARTS {
        if let Some(value) = body.get_mut(part) {
            walk(value, &format!("/{part}"), "", false, earlier, &mut hidden);
        }
    }
    hidden
}

/// The body with its credentials.
pub fn reveal(body: &mut Value, hidden: &Hidden) {
    for (pointer, secret) in hidden {
        if let Some(value) = body.pointer_mut(pointer) {
            *value = Value::String(secret.clone());
        }
    }
}

fn walk(
    value: &mut Value,
    pointer: &str,
    name: &str,
    in_auth: bool,
    earlier: &Hidden,
    hidden: &mut Hidden,
) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let escaped = key.replace('~', "~0").replace('/', "~1");
                let at = format!("{pointer}/{escaped}");
                walk(value, &at, key, in_auth || key == "auth", earlier, hidden);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter_mut().enumerate() {
                walk(value, &format!("{pointer}/{index}"), name, in_auth, earlier, hidden);
            }
        }
        Value::String(text) => {
            if text.contains(MASK) {
                if let Some(secret) = earlier.get(pointer) {
                    hidden.insert(pointer.to_owned(), secret.clone());
                }
                return;
            }
            let shown = if text.contains("://") && !of_url(text).is_empty() {
                shown_url(text)
            } else if in_auth && !HARMLESS.contains(&name)
                || is_secret(name, text)
                || looks_random(text)
            {
                MASK.to_owned()
            } else {
                return;
            };
            if shown != *text {
                hidden.insert(pointer.to_owned(), std::mem::replace(text, shown));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn credentials_are_masked_and_come_back() {
        let mut body = json!({
            "connection": {
                "url": "https://user:hunter2-pw@host.example/mcp",
                "headers": {"Authorization": "Bearer abc-def-ghi", "Accept": "text/html"},
                "auth": {"type": "basic", "username": "ann", "password": "pw"},
                "env": {"API_TOKEN": "t0ken-value"},
            },
            "parameters": {"temperature": 0.7, "apiKey": "sk-1234567890abcdef"},
        });
        let whole = body.clone();
        let hidden = hide(&mut body, &Hidden::new());
        let text = body.to_string();
        for secret in ["hunter2", "abc-def", "\"pw\"", "t0ken", "sk-1234"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert!(text.contains("text/html") && text.contains("\"ann\""));
        let mut again = body.clone();
        assert_eq!(hide(&mut again, &hidden), hidden, "what a client sends back");
        reveal(&mut body, &hidden);
        assert_eq!(body, whole);
    }

    #[tokio::test]
    async fn only_the_user_of_this_process_can_read_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let credentials = Credentials::new(Some(dir.path()));
        let hidden = Hidden::from([("/connection/url".to_owned(), "secret".to_owned())]);
        credentials.put("ann", "gen_1", hidden.clone()).await.unwrap();
        let again = Credentials::new(Some(dir.path()));
        assert_eq!(again.get("ann", "gen_1").await.unwrap(), hidden);
        assert!(again.get("bob", "gen_1").await.unwrap().is_empty());
        #[cfg(unix)]
        for entry in std::fs::read_dir(dir.path().join("credentials")).unwrap() {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = entry.unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        again.put("ann", "gen_1", Hidden::new()).await.unwrap();
        assert!(credentials.get("ann", "gen_1").await.unwrap().is_empty());
    }
}
