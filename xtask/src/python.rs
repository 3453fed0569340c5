//! Tests the Python package with the native library of the debug build: pytest, and the type checker on its sources.

use std::{env, fs, path::Path, process::Command};

use crate::{Result, peers, process, stage::Note, workspace::Workspace};

const MANIFEST: &str = "python/requirements-test.txt";
/// What `cargo build` names the library, and what Python imports.
const BUILT: &str = "lib_quintain.so";
const IMPORTED: &str = "_quintain.abi3.so";

pub(crate) fn test(workspace: &Workspace) -> Result<Note> {
    let built = workspace.target.join("debug").join(BUILT);
    if !built.is_file() {
        return missing(&format!("`{}` was not built on this platform", built.display()));
    }
    let manifest = workspace.root.join(MANIFEST);
    let home = match peers::install_python("python-tests", manifest, &workspace.target) {
        Ok(home) => home,
        Err(error) => return missing(&error),
    };
    // A copy, so that the sources stay free of built files.
    let package = workspace.target.join("python-package");
    let failed = |error: std::io::Error| format!("cannot prepare `{}`: {error}", package.display());
    if package.exists() {
        fs::remove_dir_all(&package).map_err(failed)?;
    }
    copy(&workspace.root.join("python/quintain"), &package.join("quintain")).map_err(failed)?;
    fs::copy(built, package.join("quintain").join(IMPORTED)).map_err(failed)?;
    let python = home.join("bin/python");
    // Python searches the working directory first, so it must not be the folder of the sources.
    let run = |folder: &Path, arguments: &[&str]| {
        let mut command = Command::new(&python);
        command.args(arguments).current_dir(folder);
        command.env("PYTHONPATH", &package).env("PYTHONDONTWRITEBYTECODE", "1");
        process::stream(&mut command)
    };
    let sources = workspace.root.join("python");
    let tests = sources.join("tests").to_string_lossy().into_owned();
    let plugin = "quintain.pytest_plugin";
    run(&package, &["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", plugin, &tests])?;
    let cache = workspace.target.join("mypy").to_string_lossy().into_owned();
    run(&sources, &["-m", "mypy", "--strict", "--cache-dir", &cache, "quintain"])?;
    Ok(None)
}

/// In CI, tests that cannot run are an error; elsewhere they must at least not go unnoticed.
fn missing(why: &str) -> Result<Note> {
    if env::var_os("CI").is_some() {
        return Err(format!("the Python package cannot be tested: {why}"));
    }
    println!("\n*** SKIPPED the tests of the Python package ***\n{why}\n");
    Ok(Some("skipped: the Python package cannot be tested".to_owned()))
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(path, target)?;
        }
    }
    Ok(())
}
