//! A copy of the workspace with changed files. It stays below `target`, so that only what changed is compiled again.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Result, process, workspace::Workspace};

/// Files that differ from those of the workspace.
pub(super) struct Overlay {
    root: PathBuf,
    texts: BTreeMap<PathBuf, String>,
}

impl Overlay {
    pub(super) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), texts: BTreeMap::new() }
    }

    /// The text of a file as it is so far.
    pub(super) fn text(&mut self, file: &Path) -> Result<&mut String> {
        if !self.texts.contains_key(file) {
            let text = fs::read_to_string(self.root.join(file));
            let text = text.map_err(|error| format!("{}: {error}", file.display()))?;
            self.texts.insert(file.to_owned(), text);
        }
        self.texts.get_mut(file).ok_or_else(|| format!("{} is missing", file.display()))
    }

    pub(super) fn create(&mut self, file: &Path, text: &str) -> Result<()> {
        if self.root.join(file).exists() {
            return Err(format!("{} exists already", file.display()));
        }
        self.texts.insert(file.to_owned(), text.to_owned());
        Ok(())
    }

    /// Adds a line below the first one that reads `after`.
    pub(super) fn insert(&mut self, file: &Path, after: &str, line: &str) -> Result<()> {
        let text = self.text(file)?;
        let lines = text.lines().map(str::to_owned);
        let mut lines: Vec<String> = lines.collect();
        let at = lines.iter().position(|line| line == after);
        let at = at.ok_or_else(|| format!("{} has no line `{after}`", file.display()))?;
        lines.insert(at + 1, line.to_owned());
        *text = lines.join("\n") + "\n";
        Ok(())
    }
}

/// The workspace with an overlay, elsewhere.
pub(super) struct Copy {
    folder: PathBuf,
    /// What the files of the workspace contained when they were copied.
    originals: BTreeMap<PathBuf, u64>,
}

impl Copy {
    /// Copies the workspace. A file that is as it should be keeps its time stamp, so that cargo builds only what is new.
    pub(super) fn new(workspace: &Workspace, folder: PathBuf, overlay: &Overlay) -> Result<Self> {
        let mut copy = Self { folder, originals: BTreeMap::new() };
        for file in workspace.files()? {
            let content = read(&workspace.root.join(&file))?;
            copy.originals.insert(file.clone(), digest(&content));
            if !overlay.texts.contains_key(&file) {
                write_if_other(&copy.folder.join(&file), &content)?;
            }
        }
        for (file, text) in &overlay.texts {
            write_if_other(&copy.folder.join(file), text.as_bytes())?;
        }
        for file in copy.files()? {
            if !copy.originals.contains_key(&file) && !overlay.texts.contains_key(&file) {
                let path = copy.folder.join(&file);
                fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        Ok(copy)
    }

    /// Examples are copied by others, so they are formatted like everything else.
    pub(super) fn check_format(&self, files: &[PathBuf]) -> Result<()> {
        let mut command = Command::new("rustfmt");
        command.args(["--check", "--edition", "2024"]).args(files).current_dir(&self.folder);
        process::capture(&mut command).map(|_| ())
    }

    /// Builds the binary. No other dependency may be needed than those of the workspace.
    pub(super) fn build(&self, target: &Path) -> Result<()> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["build", "--locked", "--package", "quintain"]);
        command.current_dir(&self.folder).env("CARGO_TARGET_DIR", target);
        // Nobody debugs the copy. Dependencies are compiled without debug information anyway, and so are shared.
        command.env("CARGO_PROFILE_DEV_DEBUG", "0");
        process::stream(&mut command)
    }

    /// The files that differ from those of the workspace: those of the overlay, and what the build has changed.
    pub(super) fn changed(&self) -> Result<BTreeSet<PathBuf>> {
        let mut changed = BTreeSet::new();
        for file in self.files()? {
            let now = digest(&read(&self.folder.join(&file))?);
            if self.originals.get(&file) != Some(&now) {
                changed.insert(file);
            }
        }
        Ok(changed)
    }

    fn files(&self) -> Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        walk(&self.folder, &mut |path| {
            found.extend(path.strip_prefix(&self.folder).ok().map(Path::to_owned));
            Ok(())
        })?;
        Ok(found)
    }
}

/// Links what is compiled already, dependencies above all, into a target folder that does not exist yet.
pub(super) fn seed(from: &Path, to: &Path) -> Result<()> {
    if to.exists() {
        return Ok(());
    }
    for name in ["deps", "build", ".fingerprint"] {
        let folder = from.join(name);
        if folder.exists() {
            walk(&folder, &mut |path| {
                let Ok(below) = path.strip_prefix(from) else { return Ok(()) };
                let link = to.join(below);
                create_parent(&link)?;
                // A file that cannot be linked is compiled again.
                let _ = fs::hard_link(path, &link);
                Ok(())
            })?;
        }
    }
    Ok(())
}

fn walk(folder: &Path, each: &mut dyn FnMut(&Path) -> Result<()>) -> Result<()> {
    let wrong = |error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        if entry.file_type().map_err(wrong)?.is_dir() {
            walk(&entry.path(), each)?;
        } else {
            each(&entry.path())?;
        }
    }
    Ok(())
}

fn digest(content: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    hasher.finish()
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write_if_other(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|found| found == content) {
        return Ok(());
    }
    create_parent(path)?;
    fs::write(path, content).map_err(|error| format!("{}: {error}", path.display()))
}

fn create_parent(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}
