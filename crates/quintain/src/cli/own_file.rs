//! Files with names that this program chooses, in folders that others may have prepared: a cloned repository can contain
//! a link of that name. They are written without following links.

use std::fs::File;
use std::path::Path;

use quintain_engine::confined::{ConfinedError, Folder};

/// Writes a file below a folder, overwriting an older one. Creates the folders in between.
pub(super) fn write(folder: &Path, name: &Path, text: &str) -> Result<(), String> {
    let written = Folder::open(folder).and_then(|folder| {
        create_above(&folder, name)?;
        folder.replace(name, text.as_bytes())
    });
    written.map_err(|error| refused(name, &error))
}

/// Opens a file below a folder for writing, overwriting an older one.
pub(super) fn create(folder: &Path, name: &Path) -> Result<File, String> {
    let created = Folder::open(folder).and_then(|folder| create_below(&folder, name));
    created.map_err(|error| refused(name, &error))
}

pub(super) fn create_below(folder: &Folder, name: &Path) -> Result<File, ConfinedError> {
    create_above(folder, name)?;
    folder.create_fresh(name)
}

fn create_above(folder: &Folder, name: &Path) -> Result<(), ConfinedError> {
    match name.parent().filter(|above| !above.as_os_str().is_empty()) {
        Some(above) => folder.create_folders(above).map(drop),
        None => Ok(()),
    }
}

fn refused(name: &Path, error: &ConfinedError) -> String {
    format!("cannot write `{}`: {error}", name.display())
}

/// Whether anything has this path, including a broken link.
pub(super) fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}
