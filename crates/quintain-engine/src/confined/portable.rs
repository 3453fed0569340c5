//! Directory access for systems without `openat` and similar calls. Every step checks for links before it acts. An
//! attacker who swaps names between the two can win that race.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{Entry, EntryKind, FileIdentity};

#[derive(Debug, Clone)]
pub(super) struct Directory(PathBuf);

impl Directory {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let found = fs::symlink_metadata(path)?;
        if !found.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self(path.to_owned()))
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        Ok(self.clone())
    }

    pub(super) fn identity(&self) -> io::Result<FileIdentity> {
        Ok(entry(&fs::symlink_metadata(&self.0)?).identity)
    }

    pub(super) fn child(&self, name: &OsStr) -> io::Result<Self> {
        Self::open(&self.0.join(name))
    }

    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    pub(super) fn entry(&self, name: &OsStr) -> io::Result<Entry> {
        Ok(entry(&fs::symlink_metadata(self.0.join(name))?))
    }

    pub(super) fn create_new(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).open(self.0.join(name))
    }

    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        if self.entry(name)?.kind == EntryKind::Link {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        File::open(self.0.join(name))
    }

    pub(super) fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::create_dir(self.0.join(name))
    }

    pub(super) fn create_link(&self, _: &OsStr, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }
}

pub(super) fn identity(file: &File) -> io::Result<FileIdentity> {
    Ok(entry(&file.metadata()?).identity)
}

/// Uses the creation time as identity, since these systems offer nothing better without privileges.
fn entry(found: &fs::Metadata) -> Entry {
    let kind = if found.is_symlink() {
        EntryKind::Link
    } else if found.is_dir() {
        EntryKind::Folder
    } else if found.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    };
    let created = found.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let inode = created.map_or(0, |since| since.as_nanos() as u64);
    Entry { kind, identity: FileIdentity { device: 0, inode } }
}
