//! Restores the settings of a started target after the run and reports other changed files around it. Never writes
//! through links, never deletes, never touches the state directory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use quintain_evidence::connection::{Launch, McpTarget};
use quintain_evidence::redteam_report::{FileChange, FileChangeKind};

use super::watched_paths::{WatchedPath, watched_paths};
use crate::world::World;

/// Maximum number of entries to check per place.
const MAX_ENTRIES: usize = 4_000;
/// Maximum size of a file to restore, and of all such files together.
const MAX_FILE: u64 = 1 << 18;
const MAX_HELD: u64 = 16 << 20;
/// Maximum number of reported changes.
const MAX_TOLD: usize = 200;
/// Files that programs create for themselves or that other programs change all the time.
const NOISE: [&str; 14] = [
    ".bash_history",
    ".cache",
    ".git",
    ".lesshst",
    ".node_repl_history",
    ".npm",
    ".python_history",
    ".sqlite_history",
    ".viminfo",
    ".Xauthority",
    ".xsession-errors",
    ".zsh_history",
    "__pycache__",
    "node_modules",
];
/// Database files, which are not restored: they depend on files next to them, and restoring only some would corrupt
/// them.
const DATABASES: [&str; 6] = ["-journal", "-shm", "-wal", ".db", ".sqlite", ".sqlite3"];

/// A file before the run.
struct Before {
    length: u64,
    modified: Option<SystemTime>,
    /// Its content and permissions, if it can be restored.
    held: Option<(Vec<u8>, Permissions)>,
}

/// The files around a target before it was started.
#[derive(Default)]
pub(super) struct FileSnapshot {
    watched_paths: Vec<WatchedPath>,
    known: BTreeMap<PathBuf, Before>,
    /// Device and inode of the folders of restorable files. Nothing is written into a folder that was replaced.
    folders: BTreeMap<PathBuf, Option<(u64, u64)>>,
    restored: bool,
}

impl FileSnapshot {
    /// Takes a snapshot. It is empty if the target is not started by us.
    pub(super) fn take(target: &McpTarget, world: &World) -> Self {
        let starts = |launch: &Launch| !matches!(launch, Launch::Url { .. });
        let started = target.servers.iter().any(|server| starts(&server.launch));
        Self::of(if started { watched_paths(target, world) } else { Vec::new() })
    }

    fn of(watched_paths: Vec<WatchedPath>) -> Self {
        let (known, folders) = (BTreeMap::new(), BTreeMap::new());
        let mut taken = Self { watched_paths, known, folders, restored: false };
        let mut left = MAX_HELD;
        for (path, found, own) in taken.seen() {
            let small = own && found.len() <= MAX_FILE.min(left) && !is_database(&path);
            let content = small.then(|| fs::read(&path).ok()).flatten();
            let held = content.map(|content| {
                left = left.saturating_sub(content.len() as u64);
                (content, found.permissions())
            });
            if let (Some(_), Some(folder)) = (&held, path.parent()) {
                taken.folders.entry(folder.to_owned()).or_insert_with(|| number(folder));
            }
            let modified = found.modified().ok();
            taken.known.insert(path, Before { length: found.len(), modified, held });
        }
        taken
    }

    /// Every regular file in every place, and whether it belongs to the target.
    fn seen(&self) -> Vec<(PathBuf, Metadata, bool)> {
        let mut told = BTreeSet::new();
        let mut all = Vec::new();
        for watched in &self.watched_paths {
            let walk = walkdir::WalkDir::new(&watched.path).max_depth(watched.depth).into_iter();
            let walk = walk.filter_entry(|entry| {
                let name = entry.file_name().to_string_lossy();
                entry.depth() == 0 || !(NOISE.contains(&&*name) || name.starts_with("quintain"))
            });
            for entry in walk.filter_map(Result::ok).take(MAX_ENTRIES) {
                let Ok(found) = entry.metadata() else { continue };
                let path = entry.into_path();
                if found.is_file() && !watched.excludes(&path) && told.insert(path.clone()) {
                    all.push((path, found, watched.own));
                }
            }
        }
        all
    }

    /// Restores what can be restored and returns all changes. The target must have ended.
    pub(super) fn restore(&mut self) -> Vec<FileChange> {
        self.restored = true;
        let ours = open_files();
        let now: BTreeMap<PathBuf, Metadata> =
            self.seen().into_iter().map(|(path, found, _)| (path, found)).collect();
        let mut changes = Vec::new();
        for (path, before) in &self.known {
            let change = match now.get(path) {
                None if path.symlink_metadata().is_ok() => FileChangeKind::Modified,
                None => FileChangeKind::Deleted,
                Some(found) if is_same(before, path, found) => continue,
                Some(_) => FileChangeKind::Modified,
            };
            if ours.contains(path) {
                continue;
            }
            let restored = before.held.as_ref().is_some_and(|(content, permissions)| {
                self.is_in_place(path) && put_back(path, content, permissions).is_ok()
            });
            changes.push(FileChange { path: path.clone(), change, restored });
        }
        let fresh = now.keys().filter(|path| !self.known.contains_key(*path));
        let fresh = fresh.filter(|path| !ours.contains(*path));
        changes.extend(fresh.map(|path| FileChange {
            path: path.clone(),
            change: FileChangeKind::Created,
            restored: false,
        }));
        changes.truncate(MAX_TOLD);
        changes
    }

    /// Whether the folder of a file is still the same, and not a link.
    fn is_in_place(&self, path: &Path) -> bool {
        let folder = path.parent();
        let before = folder.and_then(|folder| self.folders.get(folder)).copied().flatten();
        before.is_some() && before == folder.and_then(number)
    }
}

impl Drop for FileSnapshot {
    fn drop(&mut self) {
        // Restore after an aborted run, too. The changes are not reported.
        if !self.restored {
            self.restore();
        }
    }
}

fn is_same(before: &Before, path: &Path, now: &Metadata) -> bool {
    if before.length == now.len() && before.modified == now.modified().ok() {
        return true;
    }
    // It may have been overwritten with the same content.
    let held = before.held.as_ref().map(|(content, _)| content);
    held.is_some_and(|content| fs::read(path).is_ok_and(|now| now == *content))
}

/// Writes a temporary file next to the original and renames it, so that the path is never a link or a partial file.
fn put_back(path: &Path, content: &[u8], permissions: &Permissions) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    let temporary = tempfile::Builder::new().prefix(".quintain-").tempfile_in(folder)?;
    temporary.as_file().write_all(content)?;
    temporary.as_file().set_permissions(permissions.clone())?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map(drop).map_err(|error| error.error)
}

fn is_database(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase());
    let named = |name: String| DATABASES.iter().any(|ending| name.ends_with(ending));
    let mut start = [0; 15];
    let begins = OpenOptions::new().read(true).open(path).and_then(|mut file| {
        io::Read::read_exact(&mut file, &mut start)?;
        Ok(&start == b"SQLite format 3")
    });
    name.is_some_and(named) || begins.unwrap_or(false)
}

/// The files that this process has open, such as reports and logs.
fn open_files() -> BTreeSet<PathBuf> {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    open.filter_map(|entry| fs::read_link(entry.path()).ok()).collect()
}

/// Device and inode of a folder; `None` for a link.
#[cfg(unix)]
fn number(folder: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let found = folder.symlink_metadata().ok().filter(Metadata::is_dir)?;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn number(_folder: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_settings_are_put_back_and_the_rest_is_named() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir(at("own")).unwrap();
        fs::create_dir(at("root")).unwrap();
        for name in ["own/a", "own/b", "own/same", "root/x"] {
            fs::write(at(name), "before").unwrap();
        }
        let own = WatchedPath::own(at("own"));
        let mut taken = FileSnapshot::of(vec![own, WatchedPath::around(at("root"), 2)]);
        fs::write(at("own/a"), "after").unwrap();
        fs::remove_file(at("own/b")).unwrap();
        fs::write(at("own/new"), "x").unwrap();
        fs::write(at("root/x"), "mine, and longer").unwrap();
        let told = |changes: &[FileChange]| -> Vec<(PathBuf, FileChangeKind, bool)> {
            changes.iter().map(|one| (one.path.clone(), one.change, one.restored)).collect()
        };
        assert_eq!(
            told(&taken.restore()),
            [
                (at("own/a"), FileChangeKind::Modified, true),
                (at("own/b"), FileChangeKind::Deleted, true),
                (at("root/x"), FileChangeKind::Modified, false),
                (at("own/new"), FileChangeKind::Created, false),
            ]
        );
        for name in ["own/a", "own/b", "own/same"] {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "before", "{name}");
        }
        assert_eq!(fs::read_to_string(at("root/x")).unwrap(), "mine, and longer");
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_links() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        for folder in ["own", "other"] {
            fs::create_dir(at(folder)).unwrap();
        }
        fs::write(at("own/a"), "before").unwrap();
        fs::write(at("own/b"), "before").unwrap();
        fs::write(at("other/a"), "precious").unwrap();
        let mut taken = FileSnapshot::of(vec![WatchedPath::own(at("own"))]);
        // If a file becomes a link, the link is replaced, not followed.
        fs::remove_file(at("own/b")).unwrap();
        std::os::unix::fs::symlink(at("other/a"), at("own/b")).unwrap();
        taken.restore();
        assert_eq!(fs::read_to_string(at("other/a")).unwrap(), "precious");
        assert_eq!(fs::read_to_string(at("own/b")).unwrap(), "before");
        // If the folder becomes a link, nothing is written.
        let mut taken = FileSnapshot::of(vec![WatchedPath::own(at("own"))]);
        fs::rename(at("own"), at("gone")).unwrap();
        std::os::unix::fs::symlink(at("other"), at("own")).unwrap();
        let changes = taken.restore();
        assert!(!changes.is_empty() && changes.iter().all(|change| !change.restored));
        assert_eq!(fs::read_to_string(at("other/a")).unwrap(), "precious");
    }
}
