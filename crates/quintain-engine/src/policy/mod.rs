//! What a run may use: files, environment variables, commands, interpreters, addresses and stored logins. This module
//! only decides; the code that opens something asks it first. An allowed program can do whatever the user of this
//! process can, so a policy for untrusted users should allow none.

mod commands;
mod narrow;

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use quintain_evidence::code::Language;
use quintain_wire::destination::{Destination, Destinations, NotAllowed};
use serde::{Deserialize, Serialize};

pub(crate) use commands::Commands;

/// What may be used of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access<T> {
    Everything,
    /// Only what the list names; an empty list allows nothing.
    Only(Vec<T>),
}

/// What a run may use. Values in the suite itself (its variables, a bearer token) need no entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// Files, and folders with everything below them, that may be read or written.
    pub files: Access<PathBuf>,
    /// Environment variables, by name.
    pub variables: Access<String>,
    /// Programs, by their name in `PATH` or by absolute path.
    pub commands: Access<String>,
    /// Languages in which a suite may contain code.
    pub interpreters: Access<Language>,
    /// Hosts and ports that may be reached or listened on.
    pub addresses: Access<Destination>,
    /// Whether stored logins may be used.
    pub logins: bool,
    /// Files and folders that may never be read or written, whatever `files` allows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<PathBuf>,
}

/// Something that a run asked for and that its policy does not allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    #[error("the policy of this run does not allow the file `{}`: add it to `files`", .0.display())]
    File(PathBuf),
    #[error("the policy of this run does not allow the variable `{0}`: add it to `variables`")]
    Variable(String),
    #[error("the policy of this run does not allow the command `{0}`: add it to `commands`")]
    Command(String),
    #[error("the policy of this run does not allow {0:?}: add `{name}` to `interpreters`", name = lower(*.0))]
    Interpreter(Language),
    #[error(transparent)]
    Address(#[from] NotAllowed),
    #[error("the policy of this run does not allow stored logins: set `logins`")]
    Logins,
}

/// The name of a language in a policy.
fn lower(language: Language) -> String {
    format!("{language:?}").to_lowercase()
}

/// For file system code that reports [`io::Error`].
impl From<Denied> for io::Error {
    fn from(denied: Denied) -> Self {
        Self::new(io::ErrorKind::PermissionDenied, denied)
    }
}

impl<T> Access<T> {
    /// Whether everything is allowed.
    pub fn is_everything(&self) -> bool {
        matches!(self, Self::Everything)
    }

    fn names(&self, is: impl FnMut(&T) -> bool) -> bool {
        match self {
            Self::Everything => true,
            Self::Only(list) => list.iter().any(is),
        }
    }
}

impl Default for Policy {
    /// Allows everything that the user of this process may do.
    fn default() -> Self {
        Self::everything()
    }
}

impl Policy {
    /// Allows everything, as on the command line.
    pub fn everything() -> Self {
        Self {
            files: Access::Everything,
            variables: Access::Everything,
            commands: Access::Everything,
            interpreters: Access::Everything,
            addresses: Access::Everything,
            logins: true,
            hidden: Vec::new(),
        }
    }

    /// Allows nothing: the base of a remote principal's policy.
    pub fn nothing() -> Self {
        Self {
            files: Access::Only(Vec::new()),
            variables: Access::Only(Vec::new()),
            commands: Access::Only(Vec::new()),
            interpreters: Access::Only(Vec::new()),
            addresses: Access::Only(Vec::new()),
            logins: false,
            hidden: Vec::new(),
        }
    }

    /// Checks a file and returns the path to use. Symbolic links are resolved before the comparison.
    ///
    /// # Errors
    /// When no entry is the file or a folder above it. The answer does not reveal whether the file exists.
    pub fn file(&self, path: &Path) -> Result<PathBuf, Denied> {
        let denied = || Denied::File(path.to_owned());
        let list = match &self.files {
            Access::Everything if self.hidden.is_empty() => return Ok(path.to_owned()),
            Access::Everything => &[][..],
            Access::Only(list) => list,
        };
        let real = real_path(path).ok_or_else(denied)?;
        let is_in =
            |folder: &PathBuf| real_path(folder).is_none_or(|folder| real.starts_with(folder));
        if self.hidden.iter().any(is_in) {
            return Err(denied());
        }
        // An entry may name a file that does not exist yet.
        let is_above = |entry: &PathBuf| {
            let entry = real_path(entry).filter(|_| entry.is_absolute());
            entry.is_some_and(|entry| real.starts_with(entry))
        };
        if self.files.is_everything() || list.iter().any(is_above) {
            Ok(real)
        } else {
            Err(denied())
        }
    }

    /// Whether an environment variable may be read.
    ///
    /// # Errors
    /// When the policy does not allow it.
    pub fn variable(&self, name: &str) -> Result<(), Denied> {
        let named = self.variables.names(|known| known == name);
        if named { Ok(()) } else { Err(Denied::Variable(name.to_owned())) }
    }

    /// The environment variables that may be read.
    pub fn environment(&self, env: &BTreeMap<String, String>) -> BTreeMap<String, String> {
        let seen = env.iter().filter(|(name, _)| self.variable(name).is_ok());
        seen.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Whether a suite may contain code in a language.
    ///
    /// # Errors
    /// When the policy does not allow it.
    pub fn interpreter(&self, language: Language) -> Result<(), Denied> {
        let named = self.interpreters.names(|known| *known == language);
        if named { Ok(()) } else { Err(Denied::Interpreter(language)) }
    }

    /// Where requests may go.
    pub fn destinations(&self) -> Destinations {
        match &self.addresses {
            Access::Everything => Destinations::everywhere(),
            Access::Only(list) => Destinations::only(list),
        }
    }

    /// Whether stored logins may be used.
    ///
    /// # Errors
    /// When the policy does not allow them.
    pub fn stored_logins(&self) -> Result<(), Denied> {
        if self.logins { Ok(()) } else { Err(Denied::Logins) }
    }
}

/// Resolves symbolic links and `..` as the system does. A path that does not exist yet is resolved up to its last
/// existing folder. `None` if the path cannot be resolved, for example a dangling link.
fn real_path(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let mut missing = Vec::new();
    let mut existing = path.as_path();
    loop {
        match existing.canonicalize() {
            Ok(real) => return Some(missing.iter().rev().fold(real, |at, name| at.join(name))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
        // Creating the file would follow a dangling link.
        if existing.symlink_metadata().is_ok() {
            return None;
        }
        // `..` after a missing name cannot be resolved.
        let Some(Component::Normal(name)) = existing.components().next_back() else { return None };
        missing.push(name);
        existing = existing.parent()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(paths: &[&Path]) -> Policy {
        let files = paths.iter().map(|path| (*path).to_owned()).collect();
        Policy { files: Access::Only(files), ..Policy::nothing() }
    }

    #[test]
    fn a_folder_includes_everything_below_it() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("in/deep")).unwrap();
        std::fs::create_dir_all(root.join("in2")).unwrap();
        for name in ["in/a", "in/deep/b", "in2/c", "d"] {
            std::fs::write(root.join(name), name).unwrap();
        }
        let policy = only(&[&root.join("in"), &root.join("d")]);
        for name in ["in", "in/a", "in/deep/b", "in/new", "in/new/er", "in/deep/../a", "d"] {
            assert!(policy.file(&root.join(name)).is_ok(), "{name}");
        }
        for name in ["", "in2/c", "in/../in2/c", "in/no/../../in2/c", "in/../d2", "e", "d2"] {
            let path = root.join(name);
            assert_eq!(policy.file(&path), Err(Denied::File(path)), "{name}");
        }
        assert!(Policy::nothing().file(&root.join("d")).is_err());
        assert_eq!(Policy::everything().file(Path::new("x")), Ok("x".into()));
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("in")).unwrap();
        std::fs::write(root.join("secret"), "").unwrap();
        let link = |to: &str, name: &str| {
            std::os::unix::fs::symlink(root.join(to), root.join(name)).unwrap();
        };
        link("secret", "in/link");
        link("", "in/up");
        link("nowhere", "in/dangling");
        link("in", "other-name");
        let policy = only(&[&root.join("in")]);
        for name in ["in/link", "in/up/secret", "in/dangling", "in/up/new"] {
            assert!(policy.file(&root.join(name)).is_err(), "{name}");
        }
        assert_eq!(policy.file(&root.join("other-name/new")), Ok(root.join("in/new")));
        assert!(only(&[&root.join("other-name")]).file(&root.join("in/new")).is_ok());
    }

    #[test]
    fn a_policy_is_read_as_it_is_written() {
        let policy = Policy {
            interpreters: Access::Only(vec![Language::Ruby]),
            addresses: Access::Only(vec!["loopback:80".parse().unwrap()]),
            ..Policy::everything()
        };
        let text = serde_json::to_string(&policy).unwrap();
        assert!(text.contains(r#""addresses":{"only":["loopback:80"]}"#), "{text}");
        assert_eq!(serde_json::from_str::<Policy>(&text).unwrap(), policy);
        assert!(serde_json::from_str::<Policy>(r#"{"files": "everything"}"#).is_err());
    }

    #[test]
    fn every_denial_names_what_was_asked_for_and_the_list() {
        for (denied, what, list) in [
            (Denied::File("/a".into()), "`/a`", "`files`"),
            (Denied::Variable("A".into()), "`A`", "`variables`"),
            (Denied::Command("sh".into()), "`sh`", "`commands`"),
            (Denied::Interpreter(Language::Python), "`python`", "`interpreters`"),
            (NotAllowed::Address("h:1".into()).into(), "`h:1`", "`addresses`"),
            (Denied::Logins, "logins", "`logins`"),
        ] {
            let text = denied.to_string();
            assert!(text.contains(what) && text.contains(list), "{text}");
        }
    }
}
