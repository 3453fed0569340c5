//! Creates, replaces, reads and removes files below one open folder, never through a symbolic link and never outside
//! of it, whatever the paths contain and even if another process renames things meanwhile. Knows nothing of suites or
//! attacks, which both name files that an attacker may have prepared.

#[cfg_attr(unix, path = "confined/unix.rs")]
#[cfg_attr(not(unix), path = "confined/portable.rs")]
mod directory;
#[cfg(test)]
#[cfg(unix)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use directory::Directory;
use serde::{Deserialize, Serialize};

/// Number of names to try for a temporary file.
const MAX_NAMES: usize = 100;

/// Why a file below a folder was not touched.
#[derive(Debug, thiserror::Error)]
pub enum ConfinedError {
    #[error("`{}` is outside of {}", path.display(), folder.display())]
    Outside { path: PathBuf, folder: PathBuf },
    #[error("{} is a symbolic link, which is not followed", .0.display())]
    Link(PathBuf),
    #[error("{} is not a regular file", .0.display())]
    NotAFile(PathBuf),
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl ConfinedError {
    /// The error kind of the operating system, if it reported one.
    pub fn kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Io { source, .. } => Some(source.kind()),
            _ => None,
        }
    }
}

pub type Result<T> = std::result::Result<T, ConfinedError>;

/// Identifies a file or folder on this machine, independent of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileIdentity {
    pub device: u64,
    pub inode: u64,
}

/// The type of a directory entry. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    /// A device, a pipe, a socket.
    Other,
}

/// A directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub kind: EntryKind,
    pub identity: FileIdentity,
}

/// An open folder. Its methods take paths relative to it, or absolute paths below it.
#[derive(Debug)]
pub struct Folder {
    directory: Directory,
    /// The path as given by the user and the resolved path, for messages and absolute paths.
    named: PathBuf,
    real: PathBuf,
}

impl Folder {
    /// Opens a trusted folder: links in its path are followed.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = path.canonicalize().and_then(|real| Ok((Directory::open(&real)?, real)));
        let (directory, real) = opened.map_err(|source| io_error(path.to_owned(), source))?;
        Ok(Self { directory, named: path.to_owned(), real })
    }

    /// The resolved path of the folder when it was opened.
    pub fn path(&self) -> &Path {
        &self.real
    }

    /// Opens a folder below this one.
    pub fn folder(&self, path: &Path) -> Result<Self> {
        let below = self.below(path)?;
        let directory = self.walk(&below)?;
        let (named, real) = (self.named.join(path), self.real.join(&below));
        Ok(Self { directory, named, real })
    }

    /// The normalised path relative to this folder, without `.` and `..`. Does not access the disk: links in the path are
    /// found when the file is opened.
    pub fn below(&self, path: &Path) -> Result<PathBuf> {
        let outside =
            || ConfinedError::Outside { path: path.to_owned(), folder: self.named.clone() };
        let relative = if path.is_absolute() {
            let path = lexical(path).ok_or_else(outside)?;
            let roots = [lexical(&self.named), Some(self.real.clone())];
            let mut roots = roots.into_iter().flatten().filter(|root| root.is_absolute());
            roots
                .find_map(|root| path.strip_prefix(root).ok().map(Path::to_owned))
                .ok_or_else(outside)?
        } else {
            path.to_owned()
        };
        let below = lexical(&relative).ok_or_else(outside)?;
        let is_plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        if is_plain { Ok(below) } else { Err(outside()) }
    }

    /// The entry at a path; `None` if it or its folder does not exist.
    pub fn entry(&self, path: &Path) -> Result<Option<Entry>> {
        let below = self.below(path)?;
        match self.parent(&below) {
            Ok((parent, name)) => self.look(&parent, name, &below),
            Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The names in this folder.
    pub fn names(&self) -> Result<Vec<OsString>> {
        self.directory.names().map_err(|source| io_error(self.real.clone(), source))
    }

    /// Creates a file that must not exist yet, in a folder that must exist.
    pub fn create_new(&self, path: &Path) -> Result<File> {
        let below = self.below(path)?;
        let (parent, name) = self.parent(&below)?;
        parent.create_new(name).map_err(|error| self.explain(&parent, name, &below, error))
    }

    /// Creates a file with this content. It must not exist yet. Returns its identity.
    pub fn write_new(&self, path: &Path, content: &[u8]) -> Result<FileIdentity> {
        let failed = |source| io_error(self.real.join(path), source);
        let mut file = self.create_new(path)?;
        let identity = directory::identity(&file).map_err(failed)?;
        file.write_all(content).map_err(failed)?;
        Ok(identity)
    }

    /// Replaces a file by a new empty one. Other hard links to the old file keep its content.
    pub fn create_fresh(&self, path: &Path) -> Result<File> {
        let below = self.below(path)?;
        let (parent, name) = self.parent(&below)?;
        if self.regular_or_missing(&parent, name, &below)? {
            parent.remove_file(name).map_err(|error| self.explain(&parent, name, &below, error))?;
        }
        parent.create_new(name).map_err(|error| self.explain(&parent, name, &below, error))
    }

    /// Replaces a file atomically: a concurrent reader sees the old content or the new one.
    pub fn replace(&self, path: &Path, content: &[u8]) -> Result<()> {
        let below = self.below(path)?;
        let (parent, name) = self.parent(&below)?;
        self.regular_or_missing(&parent, name, &below)?;
        let failed = |error| self.explain(&parent, name, &below, error);
        let (spare, mut file) = spare(&parent, name).map_err(failed)?;
        let written = file.write_all(content).and_then(|()| parent.rename(&spare, name));
        written.map_err(|error| {
            // Report the first failure, not this one.
            let _ = parent.remove_file(&spare);
            failed(error)
        })
    }

    /// Opens a regular file for reading.
    pub fn open_file(&self, path: &Path) -> Result<File> {
        let below = self.below(path)?;
        let (parent, name) = self.parent(&below)?;
        let failed = |error| self.explain(&parent, name, &below, error);
        let file = parent.open_file(name).map_err(failed)?;
        let found = file.metadata().map_err(failed)?;
        if found.is_file() {
            Ok(file)
        } else {
            Err(ConfinedError::NotAFile(self.real.join(&below)))
        }
    }

    /// The content of a regular file of at most `limit` bytes.
    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>> {
        let failed = |source| io_error(self.real.join(path), source);
        let file = self.open_file(path)?;
        let mut content = Vec::new();
        let count = file.take(limit.saturating_add(1)).read_to_end(&mut content).map_err(failed)?;
        if count as u64 > limit {
            return Err(failed(io::Error::other(format!("it is larger than {limit} bytes"))));
        }
        Ok(content)
    }

    /// Creates a folder that must not exist yet. Returns its identity.
    pub fn create_folder(&self, path: &Path) -> Result<FileIdentity> {
        let below = self.below(path)?;
        let (parent, name) = self.parent(&below)?;
        let made = parent.create_folder(name).and_then(|()| parent.child(name)?.identity());
        made.map_err(|error| self.explain(&parent, name, &below, error))
    }

    /// Creates a folder and its missing parents. Returns the created folders, outermost first.
    pub fn create_folders(&self, path: &Path) -> Result<Vec<(PathBuf, FileIdentity)>> {
        let below = self.below(path)?;
        let mut created = Vec::new();
        let mut prefix = PathBuf::new();
        for name in &below {
            prefix.push(name);
            match self.entry(&prefix)? {
                None => match self.create_folder(&prefix) {
                    Ok(identity) => created.push((prefix.clone(), identity)),
                    // Another process created it first. `walk` below fails if it is not a folder.
                    Err(error) if error.kind() == Some(io::ErrorKind::AlreadyExists) => {}
                    Err(error) => return Err(error),
                },
                Some(entry) if entry.kind == EntryKind::Link => {
                    return Err(ConfinedError::Link(self.real.join(prefix)));
                }
                Some(_) => {}
            }
        }
        self.walk(&below)?;
        Ok(created)
    }

    /// Creates a symbolic link that must not exist yet. Does not check its target.
    pub fn create_link(&self, path: &Path, target: &Path) -> Result<FileIdentity> {
        let below = self.below(path)?;
        let (parent, name) = self.parent(&below)?;
        let made = parent.create_link(name, target);
        made.map_err(|error| self.explain(&parent, name, &below, error))?;
        let entry = self.look(&parent, name, &below)?;
        let gone = || io_error(self.real.join(&below), io::ErrorKind::NotFound.into());
        entry.map(|entry| entry.identity).ok_or_else(gone)
    }

    /// Removes a file, or a link without its target. With an identity, only if it still matches. Returns whether it was
    /// removed.
    pub fn remove_file(&self, path: &Path, only: Option<FileIdentity>) -> Result<bool> {
        self.remove(path, only, Directory::remove_file)
    }

    /// Removes an empty folder, under the same conditions as [`Self::remove_file`].
    pub fn remove_folder(&self, path: &Path, only: Option<FileIdentity>) -> Result<bool> {
        self.remove(path, only, Directory::remove_folder)
    }

    fn remove(
        &self,
        path: &Path,
        only: Option<FileIdentity>,
        remove: impl Fn(&Directory, &OsStr) -> io::Result<()>,
    ) -> Result<bool> {
        let below = self.below(path)?;
        let (parent, name) = match self.parent(&below) {
            Err(error) if error.kind() == Some(io::ErrorKind::NotFound) => return Ok(false),
            found => found?,
        };
        let found = self.look(&parent, name, &below)?;
        let is_meant = |entry: Entry| only.is_none_or(|only| only == entry.identity);
        if !found.is_some_and(is_meant) {
            return Ok(false);
        }
        let failed = |source| io_error(self.real.join(&below), source);
        remove(&parent, name).map_err(failed).map(|()| true)
    }

    /// The parent folder of a path, opened name by name, and the last name.
    fn parent<'p>(&self, below: &'p Path) -> Result<(Directory, &'p OsStr)> {
        let name = below.file_name();
        let is_root = || ConfinedError::NotAFile(self.real.clone());
        let name = name.ok_or_else(is_root)?;
        Ok((self.walk(below.parent().unwrap_or(Path::new("")))?, name))
    }

    fn walk(&self, below: &Path) -> Result<Directory> {
        let failed = |source| io_error(self.real.clone(), source);
        let mut here = self.directory.try_clone().map_err(failed)?;
        let mut prefix = PathBuf::new();
        for name in below {
            prefix.push(name);
            here = here.child(name).map_err(|error| self.explain(&here, name, &prefix, error))?;
        }
        Ok(here)
    }

    fn look(&self, parent: &Directory, name: &OsStr, below: &Path) -> Result<Option<Entry>> {
        match parent.entry(name) {
            Ok(entry) => Ok(Some(entry)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(io_error(self.real.join(below), source)),
        }
    }

    /// Whether a regular file exists. Anything else with that name is an error.
    fn regular_or_missing(&self, parent: &Directory, name: &OsStr, below: &Path) -> Result<bool> {
        match self.look(parent, name, below)?.map(|entry| entry.kind) {
            None => Ok(false),
            Some(EntryKind::File) => Ok(true),
            Some(EntryKind::Link) => Err(ConfinedError::Link(self.real.join(below))),
            Some(EntryKind::Folder | EntryKind::Other) => {
                Err(ConfinedError::NotAFile(self.real.join(below)))
            }
        }
    }

    /// Detects links, since systems report different errors for a link that they must not follow.
    fn explain(
        &self,
        parent: &Directory,
        name: &OsStr,
        below: &Path,
        error: io::Error,
    ) -> ConfinedError {
        match parent.entry(name) {
            Ok(entry) if entry.kind == EntryKind::Link => {
                ConfinedError::Link(self.real.join(below))
            }
            _ => io_error(self.real.join(below), error),
        }
    }
}

fn io_error(path: PathBuf, source: io::Error) -> ConfinedError {
    ConfinedError::Io { path, source }
}

/// A path without `.` and `..`; `None` if it leads above its start.
fn lexical(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !matches!(plain.components().next_back(), Some(Component::Normal(_))) {
                    return None;
                }
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    Some(plain)
}

/// Creates a temporary file next to the one that it will replace.
fn spare(parent: &Directory, name: &OsStr) -> io::Result<(OsString, File)> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    for _ in 0..MAX_NAMES {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut spare = OsString::from(".");
        spare.push(name);
        spare.push(format!(".{}-{number}", std::process::id()));
        match parent.create_new(&spare) {
            Ok(file) => return Ok((spare, file)),
            // Another process uses or left this name.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
