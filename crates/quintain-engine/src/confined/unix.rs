//! Access to an open directory with the system calls that take a directory instead of a path.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{self, AtFlags, Dir, FileType, Mode, OFlags};

use super::{Entry, EntryKind, FileIdentity};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

#[derive(Debug)]
pub(super) struct Directory(OwnedFd);

impl Directory {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::open(path, FOLDER, Mode::empty())?))
    }

    pub(super) fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Self)
    }

    pub(super) fn identity(&self) -> io::Result<FileIdentity> {
        Ok(entry(&fs::fstat(&self.0)?).identity)
    }

    /// Opens a folder of this name. Fails for a link to a folder.
    pub(super) fn child(&self, name: &OsStr) -> io::Result<Self> {
        Ok(Self(fs::openat(&self.0, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
    }

    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let name = OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    pub(super) fn entry(&self, name: &OsStr) -> io::Result<Entry> {
        Ok(entry(&fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    pub(super) fn create_new(&self, name: &OsStr) -> io::Result<File> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // The user's umask restricts the mode.
        Ok(fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o666))?.into())
    }

    /// Opens anything but a link for reading, without waiting for the other end of a pipe.
    pub(super) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(fs::openat(&self.0, name, flags, Mode::empty())?.into())
    }

    pub(super) fn create_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?)
    }

    pub(super) fn create_link(&self, name: &OsStr, target: &Path) -> io::Result<()> {
        Ok(fs::symlinkat(target, &self.0, name)?)
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(fs::renameat(&self.0, from, &self.0, to)?)
    }

    pub(super) fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }
}

pub(super) fn identity(file: &File) -> io::Result<FileIdentity> {
    Ok(entry(&fs::fstat(file)?).identity)
}

// The types of the fields differ between systems.
#[allow(clippy::cast_lossless, clippy::unnecessary_cast, clippy::useless_conversion)]
fn entry(stat: &fs::Stat) -> Entry {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    };
    Entry { kind, identity: FileIdentity { device: stat.st_dev as u64, inode: stat.st_ino as u64 } }
}
