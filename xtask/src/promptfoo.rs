//! Installs promptfoo, which suites are compared with. It is large, so only the benchmarks install it.

use std::{env, fs, path::PathBuf, process::Command};

use crate::{Result, process, workspace::Workspace};

/// Names the program; what is named is not installed.
pub(crate) const VARIABLE: &str = "PROMPTFOO";

const MANIFEST: &str = "peers/promptfoo/npm/package.json";

/// Where the program is. Its version is checked by whoever runs it.
pub(crate) fn install(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        return Ok(named.into());
    }
    let home = workspace.target.join("promptfoo");
    let program = home.join("node_modules/.bin/promptfoo");
    if program.is_file() {
        return Ok(program);
    }
    println!("installing promptfoo into {}, which takes minutes", home.display());
    let fail = |error: std::io::Error| format!("{}: {error}", home.display());
    fs::create_dir_all(&home).map_err(fail)?;
    fs::copy(workspace.root.join(MANIFEST), home.join("package.json")).map_err(fail)?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(&home);
    let help = format!("promptfoo is missing; install {MANIFEST} or name it with {VARIABLE}");
    process::capture(&mut npm).map_err(|error| format!("{help}\n{error}"))?;
    Ok(program)
}
