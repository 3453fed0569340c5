//! Where a started target stores files: settings in the home folder under its name, files that its environment names,
//! and its working folders. Only finds the paths; does not read or write the files.

use std::path::{Path, PathBuf};

use quintain_evidence::connection::{Launch, McpTarget, Server};
use secrecy::ExposeSecret as _;

use super::roots;
use crate::world::World;

/// Names that do not identify a server: launchers, generic words, and the user's other programs.
const GENERIC: &str = "app aws bash bin build bun bunx cli code command config cursor deno dist docker git gnupg index java kube lib local main mcp module mozilla node npm npx pipx pnpm profile python quintain run server share ssh src start stdio uv uvx vscode";
const MIN_NAME: usize = 3;

/// A folder or file to check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WatchedPath {
    pub(super) path: PathBuf,
    pub(super) depth: usize,
    /// Belongs to the target, so its content is restored after the run.
    pub(super) own: bool,
    /// Paths to skip, with everything below them.
    excluded: Vec<PathBuf>,
}

impl WatchedPath {
    /// The settings of the target.
    pub(super) fn own(path: PathBuf) -> Self {
        Self { path, depth: 4, own: true, excluded: Vec::new() }
    }

    /// A path that other programs may write to as well.
    pub(super) fn around(path: PathBuf, depth: usize) -> Self {
        Self { path, depth, own: false, excluded: Vec::new() }
    }

    pub(super) fn excludes(&self, path: &Path) -> bool {
        self.excluded.iter().any(|excluded| path.starts_with(excluded))
    }
}

/// All paths to check; those that belong to the target come first.
pub(super) fn watched_paths(target: &McpTarget, world: &World) -> Vec<WatchedPath> {
    let mut all = Vec::new();
    for server in &target.servers {
        let (Launch::Command { env, .. } | Launch::Path { env, .. }) = &server.launch else {
            continue;
        };
        let variable = |name: &str| {
            let named = env.get(name).map(|value| value.expose_secret().to_owned());
            named.or_else(|| world.variable(name).cloned()).filter(|value| !value.is_empty())
        };
        let files = env.values().map(|value| PathBuf::from(value.expose_secret()));
        let is_allowed = |path: &PathBuf| world.policy.file(path).is_ok();
        let is_file = |path: &PathBuf| path.is_absolute() && is_allowed(path) && path.is_file();
        all.extend(files.filter(is_file).map(WatchedPath::own));
        let is_seen = |path: &PathBuf| is_allowed(path) && path.is_dir();
        let Some(home) = variable("HOME").map(PathBuf::from).filter(is_seen) else {
            continue;
        };
        let config =
            variable("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
        let names = names(server);
        let named = |folder: &Path, dot| {
            // Not even the names in other folders are looked at.
            let is_allowed = world.policy.file(folder).is_ok();
            if is_allowed { named(folder, dot, &names) } else { Vec::new() }
        };
        for (folder, dot) in [
            (&home, "."),
            (&config, ""),
            (&home.join(".local/share"), ""),
            (&home.join(".local/state"), ""),
            (&home.join("Library/Application Support"), ""),
        ] {
            all.extend(named(folder, dot).into_iter().map(WatchedPath::own));
        }
        all.push(WatchedPath::around(config, 2));
        all.extend(hidden(&home).into_iter().map(|path| WatchedPath::around(path, 1)));
        all.push(WatchedPath::around(home, 1));
    }
    let roots = roots::declared(target, &world.cwd).into_iter();
    all.extend(roots.map(|root| WatchedPath::around(root, 2)));
    let folders = roots::working_folders(target, &world.cwd).into_iter();
    all.extend(folders.map(|folder| WatchedPath::around(folder, 1)));
    all.retain(|watched| world.policy.file(&watched.path).is_ok());
    for watched in &mut all {
        watched.excluded.extend(world.state_dir.clone());
    }
    all
}

/// Entries of a folder that have one of these names, with any extension.
fn named(folder: &Path, dot: &str, names: &[String]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let fits = |name: &str| {
        let name = name.to_lowercase();
        let plain = name.strip_prefix(dot).map(|name| name.split('.').next().unwrap_or_default());
        plain.is_some_and(|plain| names.iter().any(|known| plain == known))
    };
    let entries = entries.filter(|entry| fits(&entry.file_name().to_string_lossy()));
    entries.map(|entry| entry.path()).filter(|path| !path.is_symlink()).collect()
}

/// Hidden folders in a folder.
fn hidden(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let hidden = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with('.'));
    let skipped = |path: &Path| path.ends_with(".cache") || path.ends_with(".config");
    let paths = hidden.map(|entry| entry.path());
    paths.filter(|path| path.is_dir() && !path.is_symlink() && !skipped(path)).collect()
}

/// Possible names of a server on disk: its name, program, package and script.
fn names(server: &Server) -> Vec<String> {
    let (command, args) = match &server.launch {
        Launch::Command { command, args, .. } => (command.clone(), args.clone()),
        Launch::Path { path, args, .. } => (path.display().to_string(), args.clone()),
        Launch::Url { .. } => return Vec::new(),
    };
    names_of(&server.name, &command, &args)
}

fn names_of(name: &str, command: &str, args: &[String]) -> Vec<String> {
    // The first argument that is not a flag: often a script or a package.
    let behind = args.iter().find(|arg| !arg.starts_with('-')).cloned().unwrap_or_default();
    let mut names = Vec::new();
    for text in [name, command, &behind] {
        let last = text.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
        // `name@1.2.3`, `name.py`
        let stem = last.split(['@', '.']).next().unwrap_or_default().to_owned();
        let bare = stem.trim_start_matches("mcp-").trim_start_matches("server-");
        let bare = bare.trim_end_matches("-server").trim_end_matches("-mcp").to_owned();
        names.extend([stem, bare]);
    }
    let is_generic = |name: &str| {
        let plain = name.trim_end_matches(|c: char| c.is_ascii_digit());
        GENERIC.split(' ').any(|word| word == plain)
    };
    names.retain(|name| name.len() >= MIN_NAME && !is_generic(name));
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_called_by_its_name_its_program_its_package_or_its_script() {
        let of = |name: &str, command: &str, args: &[&str]| {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            names_of(name, command, &args).join(" ")
        };
        let package = ["-y", "@wonderwhy-er/desktop-commander@latest"];
        assert_eq!(of("npx", "npx", &package), "desktop-commander");
        assert_eq!(of("x", "/usr/bin/python3.12", &["notes_server.py"]), "notes_server");
        assert_eq!(of("mcp-server-memory", "node", &["dist/index.js"]), "mcp-server-memory memory");
        assert_eq!(of("mcp", "uvx", &["mcp-server-git"]), "mcp-server-git");
    }

    #[test]
    fn settings_are_known_by_the_whole_name() {
        let home = tempfile::tempdir().unwrap();
        for name in [".notes", ".notes.json", ".notesmith", "notes", ".other"] {
            std::fs::create_dir(home.path().join(name)).unwrap();
        }
        let mut found = named(home.path(), ".", &["notes".to_owned()]);
        found.sort();
        assert_eq!(found, [home.path().join(".notes"), home.path().join(".notes.json")]);
    }
}
