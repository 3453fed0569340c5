//! Finds and reads client configurations and saved lists of tools.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use quintain_content::glob;
use quintain_evidence::surface::{Surface, saved};
use quintain_scan::clients::archive::{self, ARCHIVE, MANIFEST};
use quintain_scan::clients::{self, Candidate, Config, Dirs, Problem};

use crate::cli::App;
use crate::context::Context;

/// Maximum size of a configuration; some clients keep their history in the same file.
const MAX_BYTES: u64 = 64 << 20;
/// Maximum number of folders that `**` matches.
const MAX_FOLDERS: usize = 5_000;
const MAX_DEPTH: usize = 8;

/// The files to scan.
pub(super) struct Found {
    pub(super) configs: Vec<Config>,
    pub(super) saved: Vec<Saved>,
}

/// A file with what one or several servers list.
pub(super) struct Saved {
    pub(super) path: PathBuf,
    pub(super) surfaces: Vec<(String, Surface)>,
}

impl Found {
    /// The files that were read.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let saved = self.saved.iter().map(|saved| &saved.path);
        self.configs.iter().map(|config| &config.path).chain(saved)
    }

    /// Whether a file has errors.
    pub(super) fn is_broken(&self) -> bool {
        self.configs.iter().any(|config| !config.problems.is_empty())
    }
}

/// The configurations of all clients of this machine.
pub(super) fn discover(app: &App) -> Found {
    let mut configs: Vec<Config> = Vec::new();
    let mut seen: Vec<PathBuf> = Vec::new();
    for candidate in clients::candidates(&dirs(&app.context)) {
        for path in expand(&candidate.path) {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if seen.contains(&real) {
                continue;
            }
            seen.push(real);
            let config = configuration(&candidate, &path);
            if !config.entries.is_empty() || !config.problems.is_empty() {
                configs.push(config);
            }
        }
    }
    clients::apply_disabled(&mut configs);
    Found { configs, saved: Vec::new() }
}

fn configuration(candidate: &Candidate, path: &Path) -> Config {
    let Candidate { client, scope, .. } = candidate;
    match read(path) {
        Ok(text) => clients::read(client, *scope, path, &text),
        Err(why) => {
            let mut config = clients::read(client, *scope, path, "");
            config.problems.push(Problem { line: 1, column: 1, what: why });
            config
        }
    }
}

/// Reads the files that the user named, of any kind. Returns all errors if some cannot be read.
pub(super) fn named(paths: &[PathBuf], app: &App) -> Result<Found, Vec<String>> {
    let mut found = Found { configs: Vec::new(), saved: Vec::new() };
    let mut wrong = Vec::new();
    for path in paths {
        match text(path, app) {
            Ok((path, text)) => add(&mut found, path, &text, app),
            Err(why) => wrong.push(format!("cannot read `{}`: {why}", path.display())),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    clients::apply_disabled(&mut found.configs);
    Ok(found)
}

/// The text of a file, and its path. For a bundle, both are those of the manifest inside it.
fn text(path: &Path, app: &App) -> Result<(PathBuf, String), String> {
    let full = app.context.cwd.join(path);
    match packed(&full)? {
        Some(text) => Ok((path.join(MANIFEST), text)),
        None => Ok((path.to_owned(), read(&full)?)),
    }
}

fn add(found: &mut Found, path: PathBuf, text: &str, app: &App) {
    if let Some(surfaces) = saved::surfaces(text) {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let named = |(name, surface): (Option<String>, Surface)| {
            (name.or_else(|| stem.clone()).unwrap_or_default(), surface)
        };
        let surfaces = surfaces.into_iter().map(named).collect();
        found.saved.push(Saved { path, surfaces });
    } else if let Some(mut config) = clients::recognise(&app.context.cwd.join(&path), text) {
        config.path = path;
        found.configs.push(config);
    } else {
        app.console.warn(&format!(
            "`{}` contains neither MCP servers nor a list of tools",
            path.display()
        ));
    }
}

/// The manifest of a bundle (`.mcpb`, `.dxt`), if it is one. A bundle contains the whole server, so its size is not limited.
fn packed(path: &Path) -> Result<Option<String>, String> {
    let found = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Ok(None);
    }
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let mut start = [0; ARCHIVE.len()];
    if file.read_exact(&mut start).is_err() || start != ARCHIVE {
        return Ok(None);
    }
    archive::manifest(&mut file).map(Some).map_err(|error| error.to_string())
}

fn read(path: &Path) -> Result<String, String> {
    let size = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if size.is_dir() {
        return Err("it is a folder".to_owned());
    }
    if size.len() > MAX_BYTES {
        return Err(format!("it is larger than {} MiB", MAX_BYTES >> 20));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

pub(super) fn dirs(context: &Context) -> Dirs {
    let folder =
        |name: &str| context.env.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = folder("HOME").or_else(|| folder("USERPROFILE"));
    let dotted = home.as_ref().map(|home| home.join(".config"));
    let config = folder("XDG_CONFIG_HOME").or_else(|| dotted.clone());
    let app = if cfg!(windows) {
        folder("APPDATA")
    } else if cfg!(target_os = "macos") {
        home.as_ref().map(|home| home.join("Library/Application Support"))
    } else {
        config.clone()
    };
    Dirs { home, app, config, project: context.cwd.clone(), variables: context.env.clone() }
}

/// The files that match a path with `*` and `**`, sorted.
fn expand(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for component in pattern.components() {
        let name = match component {
            Component::Normal(name) => name.to_string_lossy(),
            other => {
                found.iter_mut().for_each(|path| path.push(other));
                continue;
            }
        };
        found = match name.as_ref() {
            "**" => found.iter().flat_map(|folder| below(folder)).collect(),
            name if name.contains('*') => {
                let entries = found.iter().flat_map(|folder| names(folder));
                let fits = |path: &PathBuf| {
                    let last = path.file_name().map(|last| last.to_string_lossy().into_owned());
                    last.is_some_and(|last| glob::matches(name, &last))
                };
                entries.filter(fits).collect()
            }
            name => found.into_iter().map(|folder| folder.join(name)).collect(),
        };
    }
    found.retain(|path| path.is_file());
    found
}

fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// A folder and the folders below it; links are not followed.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    let mut level = found.clone();
    for _ in 0..MAX_DEPTH {
        let inner = level.iter().flat_map(|folder| names(folder));
        let real = |path: &PathBuf| {
            path.symlink_metadata().is_ok_and(|found| found.is_dir())
                && path.file_name().is_none_or(|name| name != "node_modules" && name != ".git")
        };
        level = inner.filter(real).take(MAX_FOLDERS.saturating_sub(found.len())).collect();
        found.extend(level.iter().cloned());
    }
    found
}
