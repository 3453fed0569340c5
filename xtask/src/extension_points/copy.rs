//! A copy of the workspace with changed files. It stays below `target`, so that only what changed is compiled again.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
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
pub(super) struct Copy<'a> {
    workspace: &'a Workspace,
    folder: PathBuf,
}

impl<'a> Copy<'a> {
    /// Copies the workspace. A file that is as it should be keeps its time stamp, so that cargo builds only what is new.
    pub(super) fn new(
        workspace: &'a Workspace,
        folder: PathBuf,
        overlay: &Overlay,
    ) -> Result<Self> {
        let own = workspace.files()?;
        let wanted: BTreeSet<&PathBuf> = own.iter().chain(overlay.texts.keys()).collect();
        for file in &wanted {
            let content = match overlay.texts.get(*file) {
                Some(text) => text.clone().into_bytes(),
                None => read(&workspace.root.join(file))?,
            };
            write_if_other(&folder.join(file), &content)?;
        }
        let copy = Self { workspace, folder };
        for file in copy.files()? {
            if !wanted.contains(&file) {
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
        process::stream(&mut command)
    }

    /// The files that differ from those of the workspace.
    pub(super) fn changed(&self) -> Result<BTreeSet<PathBuf>> {
        let mut changed = BTreeSet::new();
        for file in self.files()? {
            let original = fs::read(self.workspace.root.join(&file)).ok();
            if original != Some(read(&self.folder.join(&file))?) {
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
