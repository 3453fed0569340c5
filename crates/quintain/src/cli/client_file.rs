//! Replaces the configuration of a client, and keeps the former file. Both `record --install` and `serve install` do.

use std::path::{Path, PathBuf};

use quintain_engine::confined::Folder;

/// Number of names to try for the copy of the former file.
const MAX_COPIES: usize = 100;

/// Replaces a file by a new text, unless it is not `former` any more. The configuration may be a link, whose target changes.
/// Returns the path of the copy: the name of the file with the suffix.
pub(super) fn replace(
    path: &Path,
    former: &str,
    new: &str,
    suffix: &str,
) -> Result<PathBuf, String> {
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    let now = std::fs::read_to_string(&real).map_err(|error| error.to_string())?;
    if now != former {
        return Err("it changed in the meantime".to_owned());
    }
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err("it is not a file".to_owned());
    };
    let permissions = std::fs::metadata(&real).map_err(|error| error.to_string())?.permissions();
    let folder = Folder::open(folder).map_err(|error| error.to_string())?;
    let mut copy = None;
    for number in 0..MAX_COPIES {
        let mut copied = name.to_owned();
        copied.push(if number == 0 { suffix.to_owned() } else { format!("{suffix}-{number}") });
        match folder.write_new(Path::new(&copied), former.as_bytes()) {
            Ok(_) => {
                copy = Some(folder.path().join(copied));
                break;
            }
            Err(error) if error.kind() == Some(std::io::ErrorKind::AlreadyExists) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    let copy = copy.ok_or("there are too many copies of it")?;
    // The copy may contain the same secrets.
    let kept = std::fs::set_permissions(&copy, permissions.clone());
    kept.map_err(|error| error.to_string())?;
    folder.replace(Path::new(name), new.as_bytes()).map_err(|error| error.to_string())?;
    std::fs::set_permissions(&real, permissions).map_err(|error| error.to_string())?;
    Ok(copy)
}

/// Creates a file that does not exist yet, with its folders.
pub(super) fn create(path: &Path, text: &str) -> Result<(), String> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err("it is not a file".to_owned());
    };
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let folder = Folder::open(folder).map_err(|error| error.to_string())?;
    folder.write_new(Path::new(name), text.as_bytes()).map_err(|error| error.to_string())?;
    Ok(())
}
