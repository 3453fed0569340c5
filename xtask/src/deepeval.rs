//! Installs deepeval, which grading is compared with. It is large, so only the benchmarks install it.

use std::{env, path::PathBuf};

use crate::{Result, peers, workspace::Workspace};

/// Names the python of an environment that has it; what is named is not installed.
pub(crate) const VARIABLE: &str = "DEEPEVAL_PYTHON";

const MANIFEST: &str = "peers/deepeval/requirements.txt";

/// Where the python is. The version of deepeval is checked by whoever runs it.
pub(crate) fn install(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        return Ok(named.into());
    }
    let manifest = workspace.root.join(MANIFEST);
    let home = peers::install_python("deepeval", manifest, &workspace.target).map_err(|error| {
        format!(
            "deepeval is missing; install {MANIFEST} or name its python with {VARIABLE}\n{error}"
        )
    })?;
    Ok(home.join("bin/python"))
}
