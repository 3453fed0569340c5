//! Skills of a server (the `io.modelcontextprotocol/skills` extension), read as a host must read them: files are loaded
//! only when needed, and must match the listing. Quintain does not test skills; only the conformance suite asks for them.

mod frontmatter;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use quintain_wire::rpc::CallError;
use quintain_wire::session::{Listable, Session};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

/// One skill as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Skill {
    /// URI of its `SKILL.md`.
    pub(crate) uri: String,
    /// The front matter that its `SKILL.md` must repeat.
    pub(crate) frontmatter: Value,
    /// Its files; none if the server generates them on request.
    pub(crate) files: Option<Vec<Promise>>,
}

/// What the listing promises about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Promise {
    /// The file.
    pub(crate) uri: String,
    /// `sha256:` and the digest in hexadecimal.
    pub(crate) digest: String,
    /// Its length in bytes, if the listing contains it.
    pub(crate) size: Option<u64>,
}

/// A file that matches the listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SkillFile {
    /// The content.
    pub(crate) bytes: Bytes,
    /// Whether a digest confirms the content. A file that is not in the listing cannot be verified.
    pub(crate) verified: bool,
}

/// Why a skill must not be used.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum SkillError {
    /// The server did not respond, or with an error.
    #[error(transparent)]
    Call(#[from] CallError),
    /// An entry of the listing is not valid.
    #[error("the listing contains a skill that cannot be used: {why}")]
    Entry {
        /// What is wrong with it.
        why: String,
    },
    /// The response to a read does not contain the file.
    #[error("{uri}: the response contains no content for it")]
    NoContent {
        /// The file.
        uri: String,
    },
    /// The file does not match the listing.
    #[error("{uri} does not match the listing: {why}")]
    Broken {
        /// The file.
        uri: String,
        /// What differs.
        why: String,
    },
}

/// Lists the skills of a server, without reading their files.
///
/// # Errors
/// When the server does not list them, or an entry is not valid.
pub(crate) async fn list(session: &Session) -> Result<Vec<Skill>, SkillError> {
    let listing = session.list(Listable::Skills).await?;
    listing.items.iter().map(Skill::from_value).collect()
}

impl Skill {
    /// Parses an entry of the listing.
    ///
    /// # Errors
    /// When it has no URI, no front matter or a file without a digest.
    pub(crate) fn from_value(entry: &Value) -> Result<Self, SkillError> {
        let bad = |why: &str| SkillError::Entry { why: why.to_owned() };
        let uri = entry["uri"].as_str().ok_or_else(|| bad("it has no `uri`"))?;
        let frontmatter = &entry["frontmatter"];
        if !frontmatter.is_object() {
            return Err(bad("it has no `frontmatter`"));
        }
        let files = match &entry["resources"] {
            Value::Array(files) => {
                let files = files.iter().map(Promise::from_value).collect::<Option<_>>();
                Some(files.ok_or_else(|| bad("a file has no `uri` or no `digest`"))?)
            }
            Value::String(word) if word == "dynamic" => None,
            _ => return Err(bad("it has no `resources`")),
        };
        Ok(Self { uri: uri.to_owned(), frontmatter: frontmatter.clone(), files })
    }

    /// Reads `SKILL.md` and compares its front matter with the listing.
    ///
    /// # Errors
    /// When it cannot be read, or does not match the listing: then the skill must not be used.
    pub(crate) async fn load(&self, session: &Session) -> Result<SkillFile, SkillError> {
        let file = self.read(session, &self.uri).await?;
        self.check_frontmatter(&file.bytes).map_err(|why| broken(&self.uri, why))?;
        Ok(file)
    }

    /// Reads one file of the skill.
    ///
    /// # Errors
    /// When it cannot be read, or does not match the listing.
    pub(crate) async fn read(&self, session: &Session, uri: &str) -> Result<SkillFile, SkillError> {
        let promise = self.promise(uri).map_err(|why| broken(uri, why))?;
        let params = Map::from_iter([("uri".to_owned(), uri.into())]);
        let answer = session.request("resources/read", params).await?.value()?;
        let bytes =
            content(&answer, uri).ok_or_else(|| SkillError::NoContent { uri: uri.to_owned() })?;
        if let Some(promise) = promise {
            promise.check(&bytes).map_err(|why| broken(uri, why))?;
        }
        Ok(SkillFile { bytes: bytes.into(), verified: promise.is_some() })
    }

    /// The entry of a file; an error if the listing is complete and does not contain it.
    fn promise(&self, uri: &str) -> Result<Option<&Promise>, String> {
        let Some(files) = &self.files else { return Ok(None) };
        let found = files.iter().find(|promise| promise.uri == uri);
        found.map(Some).ok_or_else(|| "it is not among the files of the skill".to_owned())
    }

    fn check_frontmatter(&self, bytes: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        frontmatter::compare(&frontmatter::read(text)?, &self.frontmatter)
    }
}

fn broken(uri: &str, why: String) -> SkillError {
    SkillError::Broken { uri: uri.to_owned(), why }
}

impl Promise {
    fn from_value(file: &Value) -> Option<Self> {
        let text = |name: &str| file.get(name).and_then(Value::as_str).map(str::to_owned);
        let size = file.get("size").and_then(Value::as_u64);
        Some(Self { uri: text("uri")?, digest: text("digest")?, size })
    }

    fn check(&self, bytes: &[u8]) -> Result<(), String> {
        if let Some(size) = self.size.filter(|size| usize::try_from(*size) != Ok(bytes.len())) {
            return Err(format!("it has {} bytes, not {size}", bytes.len()));
        }
        let Some(wanted) = self.digest.strip_prefix("sha256:") else {
            return Err("its digest is not a SHA-256".to_owned());
        };
        let found = format!("{:x}", Sha256::digest(bytes));
        if found.eq_ignore_ascii_case(wanted) {
            Ok(())
        } else {
            Err("its SHA-256 differs".to_owned())
        }
    }
}

/// The content of `uri` in the response to `resources/read`.
fn content(answer: &Value, uri: &str) -> Option<Vec<u8>> {
    let contents = answer.get("contents")?.as_array()?;
    let content = contents.iter().find(|content| content["uri"] == uri)?;
    match (content["text"].as_str(), content["blob"].as_str()) {
        (Some(text), _) => Some(text.as_bytes().to_vec()),
        (None, Some(blob)) => STANDARD.decode(blob).ok(),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = "---\nname: pdf\ndescription: Fill forms\n---\nBody.\n";

    fn skill(resources: Value) -> Result<Skill, SkillError> {
        Skill::from_value(&json!({
            "uri": "skill://pdf/SKILL.md",
            "frontmatter": {"name": "pdf", "description": "Fill forms"},
            "resources": resources,
        }))
    }

    fn promise(size: usize) -> Promise {
        let digest = format!("sha256:{:X}", Sha256::digest(TEXT));
        Promise { uri: "skill://pdf/SKILL.md".into(), digest, size: Some(size as u64) }
    }

    #[test]
    fn length_and_digest_must_both_be_as_promised() {
        assert_eq!(promise(TEXT.len()).check(TEXT.as_bytes()), Ok(()));
        assert!(promise(TEXT.len() + 1).check(TEXT.as_bytes()).unwrap_err().contains("bytes"));
        let changed = TEXT.replace("Body", "Evil");
        assert!(promise(TEXT.len()).check(changed.as_bytes()).unwrap_err().contains("SHA-256"));
        let weaker = Promise { digest: "md5:0".into(), ..promise(TEXT.len()) };
        assert!(weaker.check(TEXT.as_bytes()).is_err());
    }

    #[test]
    fn a_changed_front_matter_is_noticed() {
        let skill = skill(json!("dynamic")).unwrap();
        assert_eq!(skill.check_frontmatter(TEXT.as_bytes()), Ok(()));
        let changed = TEXT.replace("Fill forms", "Exfiltrate");
        let why = skill.check_frontmatter(changed.as_bytes()).unwrap_err();
        assert!(why.contains("`description`"), "{why}");
    }

    #[test]
    fn files_that_are_not_listed_do_not_exist_unless_the_set_is_made_up() {
        let listed = skill(json!([{"uri": "skill://pdf/SKILL.md", "digest": "sha256:0"}])).unwrap();
        assert!(listed.promise("skill://pdf/SKILL.md").unwrap().is_some());
        assert!(listed.promise("skill://pdf/other").is_err());
        assert_eq!(skill(json!("dynamic")).unwrap().promise("skill://pdf/other"), Ok(None));
        assert!(skill(json!(null)).is_err());
        assert!(skill(json!([{"uri": "x"}])).is_err());
    }

    #[test]
    fn content_is_taken_from_the_file_that_was_asked_for() {
        let answer = json!({"contents": [
            {"uri": "a", "text": "no"}, {"uri": "b", "blob": "eWVz"}, {"uri": "c"}]});
        assert_eq!(content(&answer, "b").as_deref(), Some(&b"yes"[..]));
        assert_eq!(content(&answer, "c"), None);
        assert_eq!(content(&answer, "d"), None);
    }
}
