//! The files of a suite as they are stored with a run.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A suite file as it was read. Stored so that the run can be judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteText {
    /// The name as given by the user.
    pub name: String,
    /// Base directory for relative paths in the file.
    pub base_dir: PathBuf,
    /// Its text.
    pub text: Arc<str>,
}
