//! Environment variables and key files, as far as the policy of the caller allows them.

use std::collections::BTreeMap;
use std::path::Path;

pub trait Environment: Send + Sync {
    /// The value of a variable, if it is set and may be read.
    fn variable(&self, name: &str) -> Option<String>;

    /// The text of a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn file(&self, path: &Path) -> Result<String, String>;
}

/// Variables from a map, and no files.
impl Environment for BTreeMap<String, String> {
    fn variable(&self, name: &str) -> Option<String> {
        self.get(name).cloned()
    }

    fn file(&self, path: &Path) -> Result<String, String> {
        Err(format!("`{}` cannot be read here", path.display()))
    }
}
