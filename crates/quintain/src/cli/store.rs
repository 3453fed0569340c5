//! The store of this user's runs, for the commands that read it.

use std::path::Path;

use quintain_engine::store::{Store, StoreError};
use quintain_source::visible;

use super::App;

/// What to do about a store that other users can access.
pub(super) const PRIVATE: &str = "stored runs contain what targets returned; make the file and its folder your own, with `chmod 600` and `chmod 700`";

/// What to do about an error of the store.
pub(super) fn help(error: &StoreError) -> Option<&'static str> {
    let is_name = matches!(error, StoreError::NoSuchRun { .. });
    is_name.then_some("`quintain runs list` lists the stored runs")
}

pub(super) async fn open(app: &App) -> Result<Store, StoreError> {
    let folder = app.context.store_folder()?;
    let store = open_folder(&folder, app).await?;
    if let Some(why) = store.exposure() {
        let shown = visible(&store.path().to_string_lossy()).into_owned();
        app.console.warn(&format!("the store {shown} is not private: {why}; {PRIVATE}"));
    }
    Ok(store)
}

/// Opens the store of a folder. Prints a note if it migrates the file to the current version.
pub(super) async fn open_folder(folder: &Path, app: &App) -> Result<Store, StoreError> {
    let migrating = |runs| match runs {
        0 => {}
        1 => app.console.note("migrating 1 stored run to the current format"),
        more => {
            app.console.note(&format!("migrating {more} stored runs to the current format ..."));
        }
    };
    Store::open_noting(folder, migrating).await
}

/// The same for commands that can run without a store.
pub(super) async fn open_or_warn(app: &App) -> Option<Store> {
    match open(app).await {
        Ok(store) => Some(store),
        Err(error) => {
            let help = "use --no-write to run without storing anything";
            app.console.warn(&format!("this run is not stored: {error}; {help}"));
            None
        }
    }
}
