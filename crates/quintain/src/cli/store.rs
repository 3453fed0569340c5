//! The store of this user's runs, for the commands that read it.

use std::path::Path;

use quintain_engine::store::{Store, StoreError};

use super::Desk;

pub(super) async fn open(desk: &Desk) -> Result<Store, StoreError> {
    let Some(folder) = desk.context.state_dir() else {
        return Err(StoreError::Open {
            path: "runs.db".into(),
            why: "no home directory; set QUINTAIN_HOME".to_owned(),
        });
    };
    open_folder(&folder, desk).await
}

/// Opens the store of a folder. Prints a note if it migrates the file to the current version.
pub(super) async fn open_folder(folder: &Path, desk: &Desk) -> Result<Store, StoreError> {
    let migrating = |runs| match runs {
        0 => {}
        1 => desk.console.note("migrating 1 stored run to the current format"),
        more => {
            desk.console.note(&format!("migrating {more} stored runs to the current format ..."))
        }
    };
    Store::open_noting(folder, migrating).await
}

/// The same for commands that can run without a store.
pub(super) async fn open_or_warn(desk: &Desk) -> Option<Store> {
    match open(desk).await {
        Ok(store) => Some(store),
        Err(error) => {
            let help = "use --no-write to run without storing anything";
            desk.console.warn(&format!("this run is not stored: {error}; {help}"));
            None
        }
    }
}
