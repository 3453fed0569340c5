//! Where clients keep their configurations, given the folders of a machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Client, Location, Scope};

/// The folders that locations are relative to.
#[derive(Debug, Clone, Default)]
pub struct Dirs {
    pub home: Option<PathBuf>,
    /// Where programs keep data of the user: `~/Library/Application Support`, `%APPDATA%`, `~/.config`.
    pub app: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`, else `~/.config`.
    pub config: Option<PathBuf>,
    /// Where the user works.
    pub project: PathBuf,
    pub variables: BTreeMap<String, String>,
}

/// A file that may exist. Its path may contain `*` and `**`.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub client: &'static Client,
    pub scope: Scope,
    pub path: PathBuf,
}

/// Every file that some client would read.
pub fn candidates(dirs: &Dirs) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for client in super::all() {
        for location in client.locations {
            for path in dirs.paths(location) {
                // A file that several clients read is listed once, for the first of them.
                if found.iter().all(|known| known.path != path) {
                    found.push(Candidate { client, scope: location.scope, path });
                }
            }
        }
    }
    found
}

impl Dirs {
    fn paths(&self, location: &Location) -> Vec<PathBuf> {
        let (base, rest) = location.path.split_once('/').unwrap_or((location.path, ""));
        let bases: Vec<PathBuf> = match base {
            "~" => self.home.clone().into_iter().collect(),
            "{app}" => self.app.clone().into_iter().collect(),
            "{config}" => self.config.clone().into_iter().collect(),
            "{project}" => vec![self.project.clone()],
            "{ancestors}" => self.project.ancestors().map(Path::to_owned).collect(),
            "" => vec![PathBuf::from("/")],
            variable => {
                let value = self.variables.get(variable.trim_start_matches('$'));
                value.filter(|value| !value.is_empty()).map(PathBuf::from).into_iter().collect()
            }
        };
        let join = |base: PathBuf| if rest.is_empty() { base } else { base.join(rest) };
        bases.into_iter().map(join).collect()
    }
}

/// The client that keeps files of this name in a folder of that name.
pub(super) fn owner(path: &Path) -> Option<&'static Client> {
    let ends = |location: &Location| {
        let tail: Vec<&str> = location.path.split('/').skip(1).collect();
        // The file name alone says something only if it is one of its own kind.
        let count = if tail.len() == 1 { 1 } else { 2 };
        let tail: PathBuf = tail[tail.len().saturating_sub(count)..].iter().collect();
        !tail.as_os_str().is_empty() && !location.path.contains('*') && path.ends_with(tail)
    };
    super::all().iter().copied().find(|client| client.locations.iter().any(ends))
}
