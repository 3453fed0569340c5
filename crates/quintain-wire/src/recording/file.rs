//! Opens the file of a capture: readable by its owner only, never through a link, and never a file that is something else.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

/// The start of every capture.
pub(super) const SIGNATURE: &str = r#"{"quintain_capture":1,"#;
/// Size of the blocks in which the end of the last whole line is searched.
const BLOCK: usize = 64 << 10;

/// Why a capture cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the folder `{}` does not exist", .0.display())]
    NoFolder(PathBuf),
    #[error("`{}` is a link, which is not followed", .0.display())]
    Link(PathBuf),
    #[error("`{}` is a pipe or a socket, and a capture needs a file", .0.display())]
    Pipe(PathBuf),
    #[error("`{}` exists and is not a capture", .0.display())]
    NotACapture(PathBuf),
    #[error("cannot write `{}`: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Opens a capture for writing. A new session is appended to an existing capture; `overwrite` starts a new file.
///
/// # Errors
/// When the file cannot be created, or is not a capture.
pub fn open(path: &Path, overwrite: bool) -> Result<File, OpenError> {
    let failed = |source| OpenError::Io { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        return Err(OpenError::NoFolder(folder.to_owned()));
    }
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Never follows a link, even one that appears in between.
            return options().create_new(true).open(path).map_err(failed);
        }
        Err(error) => return Err(failed(error)),
    };
    if found.is_symlink() {
        return Err(OpenError::Link(path.to_owned()));
    }
    if !found.is_file() {
        if is_pipe(&found) {
            // Without a reader it would not open, and a slow reader would delay the session.
            return Err(OpenError::Pipe(path.to_owned()));
        }
        // A device has no earlier content.
        return options().open(path).map_err(failed);
    }
    let mut file = options().read(true).open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut start = [0; SIGNATURE.len()];
    let is_capture = file.read_exact(&mut start).is_ok() && start == *SIGNATURE.as_bytes();
    if length == 0 || (overwrite && is_capture) {
        file.set_len(0).map_err(failed)?;
        return Ok(file);
    }
    if !is_capture {
        return Err(OpenError::NotACapture(path.to_owned()));
    }
    // The last line of a killed recording may be cut.
    let end = end_of_lines(&mut file, length).map_err(failed)?;
    if end < length {
        file.set_len(end).map_err(failed)?;
    }
    Ok(file)
}

/// The length of the file up to its last line end.
fn end_of_lines(file: &mut File, length: u64) -> io::Result<u64> {
    let mut end = length;
    let mut block = vec![0; BLOCK];
    while end > 0 {
        let start = end.saturating_sub(BLOCK as u64);
        let block = &mut block[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(block)?;
        if let Some(at) = memchr::memrchr(b'\n', block) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(unix)]
fn is_pipe(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;

    found.file_type().is_fifo() || found.file_type().is_socket()
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn options() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    let mut options = OpenOptions::new();
    // A pipe that appears in between does not block either.
    let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
    options.append(true).mode(0o600).custom_flags(i32::try_from(flags).unwrap_or_default());
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.append(true);
    options
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_new_capture_is_private_and_an_existing_one_is_continued_without_its_cut_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let mut file = open(&path, false).unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        file.write_all(format!("{SIGNATURE}}}\n{{\"cut\":").as_bytes()).unwrap();
        open(&path, false).unwrap().write_all(b"{}\n").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{SIGNATURE}}}\n{{}}\n"));
        open(&path, true).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
    }

    #[test]
    fn links_and_other_files_are_not_touched() {
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("notes.txt");
        std::fs::write(&other, "precious").unwrap();
        symlink(&other, dir.path().join("link")).unwrap();
        symlink(dir.path().join("nothing"), dir.path().join("dangling")).unwrap();
        for overwrite in [false, true] {
            assert!(matches!(open(&other, overwrite), Err(OpenError::NotACapture(_))));
            for link in ["link", "dangling"] {
                let opened = open(&dir.path().join(link), overwrite);
                assert!(matches!(opened, Err(OpenError::Link(_))), "{link}");
            }
        }
        assert_eq!(std::fs::read_to_string(&other).unwrap(), "precious");
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
        assert!(matches!(open(&dir.path().join("socket"), false), Err(OpenError::Pipe(_))));
        let nowhere = open(&dir.path().join("missing/a.jsonl"), false);
        assert!(matches!(nowhere, Err(OpenError::NoFolder(_))));
    }
}
