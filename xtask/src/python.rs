//! Tests the Python package as users get it: builds the wheel, installs it into fresh environments with both versions of
//! the MCP SDK, runs its tests and two type checkers, and compares its reference with the documentation.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Result, peers, process, stage::Note, workspace::Workspace};

/// What Python needs to be for the package.
const OLDEST: &str = "3.10";
/// Names the python of an environment with the optimised package; what is named is not installed.
pub(crate) const VARIABLE: &str = "QUINTAIN_PYTHON";
const REFERENCE: &str = "docs/reference/python.md";
/// Tests of what depends on the version of the SDK.
const WITH_THE_SDK: [&str; 2] = ["test_sdk.py", "test_seed.py"];

/// An environment with the wheel. Its other packages are installed once and shared.
struct Environment {
    python: PathBuf,
}

pub(crate) fn test(workspace: &Workspace) -> Result<Note> {
    if let Err(why) = python() {
        return missing(&why);
    }
    let folder = workspace.target.join("python-package");
    let peer = |name: &str, manifest: &str| {
        peers::install_python(name, workspace.root.join(manifest), &folder)
    };
    let installed = peer("packages", "python/requirements-test.txt")
        .and_then(|packages| Ok((packages, peer("packages-sdk1", "python/requirements-sdk1.txt")?)))
        .and_then(|python| Ok((python, peers::install_npm(workspace, "pyright")?)));
    let ((packages, packages_1), (node, pyright)) = match installed {
        Ok(installed) => installed,
        Err(why) => return missing(&why),
    };
    let wheel = wheel(workspace, &packages, &folder)?;
    let newest = Environment::fresh(&folder.join("sdk2"), &packages, &wheel)?;
    let older = Environment::fresh(&folder.join("sdk1"), &packages_1, &wheel)?;
    let sources = workspace.root.join("python");
    let tests = sources.join("tests");
    // Tests wait for other processes most of the time.
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs"];
    let all = tests.to_string_lossy().into_owned();
    newest.run(&folder, &[&pytest[..], &["-n", "3", &all]].concat())?;
    let some = WITH_THE_SDK.map(|name| tests.join(name).to_string_lossy().into_owned());
    older.run(&folder, &[&pytest[..], &some.each_ref().map(String::as_str)].concat())?;
    let cache = folder.join("mypy").to_string_lossy().into_owned();
    let mypy = ["-m", "mypy", "--strict", "--cache-dir", &cache];
    newest.run(&sources, &[&mypy[..], &["quintain"]].concat())?;
    // As a user's program sees the installed package.
    let typed = tests.join("typed.py").to_string_lossy().into_owned();
    newest.run(&folder, &[&mypy[..], &[&typed]].concat())?;
    newest
        .run(&folder, &["-m", "mypy.stubtest", "--ignore-disjoint-bases", "quintain._quintain"])?;
    let mut command = Command::new(node);
    command.arg(pyright.join("node_modules/pyright/index.js")).current_dir(&sources);
    command.arg("--pythonpath").arg(&newest.python);
    process::stream(&mut command)?;
    let page = reference(workspace)?;
    if fs::read_to_string(workspace.root.join(REFERENCE)).ok().as_ref() != Some(&page) {
        return Err(format!("{REFERENCE} is stale: run `cargo xtask docs`"));
    }
    let size = fs::metadata(&wheel).map_err(|error| error.to_string())?.len();
    Ok(Some(format!("wheel of the debug build: {} MB", size / 1_000_000)))
}

/// Installs the package as users do, optimised, and returns the Python of its environment.
pub(crate) fn released(workspace: &Workspace) -> Result<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE) {
        return Ok(named.into());
    }
    let home = workspace.target.join("python-package/released");
    process::capture(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
    let mut command = Command::new(home.join("bin/python"));
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mcp"]);
    process::stream(command.arg("./python").current_dir(&workspace.root))?;
    Ok(home.join("bin/python"))
}

/// Writes the reference of the package. Without Python it stays as it is.
pub(crate) fn write_reference(workspace: &Workspace) -> Result<usize> {
    if let Err(why) = python() {
        println!("\n*** SKIPPED {REFERENCE} ***\n{why}\n");
        return Ok(0);
    }
    let (path, page) = (workspace.root.join(REFERENCE), reference(workspace)?);
    if fs::read_to_string(&path).ok().as_ref() == Some(&page) {
        return Ok(0);
    }
    fs::write(&path, page).map_err(|error| format!("{REFERENCE}: {error}"))?;
    println!("wrote {REFERENCE}");
    Ok(1)
}

fn reference(workspace: &Workspace) -> Result<String> {
    let mut command = Command::new("python3");
    process::capture(command.arg("reference.py").current_dir(workspace.root.join("python")))
}

fn python() -> Result<()> {
    let program = "import sys; print(sys.version_info >= (3, 10))";
    let answer = process::capture(Command::new("python3").args(["-c", program]))?;
    if answer.trim() == "True" {
        return Ok(());
    }
    Err(format!("python3 is older than {OLDEST}"))
}

/// Builds the wheel from what the tests were built from: only the binding itself is compiled and linked again.
fn wheel(workspace: &Workspace, packages: &Path, folder: &Path) -> Result<PathBuf> {
    let wheels = folder.join("wheels");
    let failed = |error: std::io::Error| format!("{}: {error}", wheels.display());
    if wheels.exists() {
        fs::remove_dir_all(&wheels).map_err(failed)?;
    }
    let mut command = Command::new(packages.join("bin/maturin"));
    command.args(["build", "--profile", "dev", "--features", "like-tests", "--strip", "--locked"]);
    command.arg("--manifest-path").arg(workspace.root.join("python/Cargo.toml"));
    command.arg("--out").arg(&wheels).arg("--interpreter").arg(packages.join("bin/python"));
    // In the folder of the workspace, the target folder is that of the other builds.
    process::stream(
        command.current_dir(&workspace.root).env("CARGO_TARGET_DIR", &workspace.target),
    )?;
    let mut found = fs::read_dir(&wheels).map_err(failed)?;
    let wheel = found.next().ok_or("maturin wrote no wheel")?.map_err(failed)?;
    Ok(wheel.path())
}

impl Environment {
    /// A fresh virtual environment with the wheel, and with the packages of another environment in sight.
    fn fresh(home: &Path, packages: &Path, wheel: &Path) -> Result<Self> {
        let failed = |error: std::io::Error| format!("{}: {error}", home.display());
        if home.exists() {
            fs::remove_dir_all(home).map_err(failed)?;
        }
        let python = packages.join("bin/python");
        let venv = ["-m", "venv", "--without-pip"];
        process::capture(Command::new(&python).args(venv).arg(home))?;
        let environment = Self { python: home.join("bin/python") };
        let own = site_packages(&environment.python)?;
        let shared = site_packages(&python)?;
        fs::write(own.join("packages.pth"), shared.to_string_lossy().as_bytes()).map_err(failed)?;
        let mut command = Command::new(&python);
        command.args(["-m", "pip", "--python"]).arg(&environment.python);
        command
            .args(["install", "--quiet", "--no-index", "--disable-pip-version-check"])
            .arg(wheel);
        process::stream(&mut command)?;
        Ok(environment)
    }

    /// Python searches the working directory first, so tests of the wheel must not run in the folder of the sources.
    fn run(&self, folder: &Path, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new(&self.python);
        command.args(arguments).current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1");
        process::stream(&mut command)
    }
}

fn site_packages(python: &Path) -> Result<PathBuf> {
    let program = "import sysconfig; print(sysconfig.get_path('platlib'))";
    let path = process::capture(Command::new(python).args(["-c", program]))?;
    Ok(path.trim().into())
}

/// In CI, tests that cannot run are an error; elsewhere they must at least not go unnoticed.
fn missing(why: &str) -> Result<Note> {
    if env::var_os("CI").is_some() {
        return Err(format!("the Python package cannot be tested: {why}"));
    }
    println!("\n*** SKIPPED the tests of the Python package ***\n{why}\n");
    Ok(Some("SKIPPED: the Python package cannot be tested".to_owned()))
}
