//! Files that this program names itself, in folders that somebody may have prepared: a cloned repository can hold a
//! link of that name. They are written without following links.

use std::path::Path;

use quintain_engine::confined::{ConfinedError, Folder};

/// Writes a file below a folder, in the place of an older one. Folders in between are created.
pub(super) fn write(folder: &Path, name: &Path, text: &str) -> Result<(), String> {
    let written = || -> Result<(), ConfinedError> {
        let folder = Folder::open(folder)?;
        if let Some(above) = name.parent().filter(|above| !above.as_os_str().is_empty()) {
            folder.create_folders(above)?;
        }
        folder.replace(name, text.as_bytes())
    };
    written().map_err(|error| format!("cannot write `{}`: {error}", name.display()))
}

/// Whether something of this name is there, be it a link that leads nowhere.
pub(super) fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}
