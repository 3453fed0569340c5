//! Paths that contain commands. Some servers pass only existing paths to commands, so these paths are created before
//! they are sent, and removed after their attempt.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use quintain_redteam::attack::Nonce;
use serde_json::Value;

use super::random::Random;
use super::{PlantedFiles, project};
use crate::confined::{EntryKind, Folder};

/// The command before the marker in paths that contain commands.
const COMMAND: &str = "touch ";

/// Paths that were created for unfinished attempts.
#[derive(Default)]
pub(super) struct CommandPaths {
    paths: Vec<PathBuf>,
    /// Parent folders, which several paths may share.
    folders: BTreeSet<PathBuf>,
}

impl PlantedFiles {
    /// Prepares for the strings in a value that will be sent.
    pub(super) fn prepare(&mut self, random: &Random, value: &Value) {
        match value {
            Value::String(text) => {
                let path = Path::new(text);
                let is_plain = !path.components().any(|part| matches!(part, Component::ParentDir));
                if is_plain && self.is_ours(random, text) {
                    // If this fails, the server probably refuses the path.
                    let _ = self.create_command_path(path);
                    self.expect(random, path);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.prepare(random, item)),
            Value::Object(entries) => {
                entries.values().for_each(|entry| self.prepare(random, entry));
            }
            _ => {}
        }
    }

    /// Whether a text contains random characters of this run.
    fn is_ours(&self, random: &Random, text: &str) -> bool {
        random.is_in(text) || self.journal.carries_mark(Path::new(text)) || {
            Path::new(text).iter().any(|name| self.journal.carries_mark(Path::new(name)))
        }
    }

    /// Creates a path that contains a command, in the canary folder or in a folder of the target.
    fn create_command_path(&mut self, path: &Path) -> Option<()> {
        let command = format!("{COMMAND}{}/", self.canaries.drop.display());
        let text = path.to_string_lossy();
        if !text.contains(&command) || !self.journal.carries_mark(path) {
            return None;
        }
        let root = {
            let mut roots = self.journal.watches().chain([self.canaries.root.as_path()]);
            roots.find(|root| path.starts_with(root))?.to_owned()
        };
        if self.is_state(path) {
            return None;
        }
        let folder = Folder::open(&root).ok()?;
        if folder.entry(path).ok()?.is_some() {
            return None;
        }
        let below = path.strip_prefix(&root).ok()?.parent()?;
        let mut missing = Vec::new();
        let mut prefix = root;
        for name in below {
            prefix.push(name);
            match folder.entry(&prefix).ok()? {
                Some(entry) if entry.kind == EntryKind::Folder => {}
                Some(_) => return None,
                None => missing.push(prefix.clone()),
            }
        }
        for folder in missing {
            self.journal.folder(&folder).ok()?;
            self.command_paths.folders.insert(folder);
        }
        self.journal.planted(path).ok()?;
        self.command_paths.paths.push(path.to_owned());
        folder.create_folders(below).ok()?;
        if text.ends_with(".txt") {
            folder.write_new(path, b"hello\n").ok()?;
        } else {
            folder.create_folder(path).ok()?;
            project::mark(&folder.folder(path).ok()?);
        }
        Some(())
    }

    /// Removes the paths that were created for an attempt. Otherwise a server that scans its folders would find more and
    /// more of them.
    pub(in super::super) fn remove_command_paths(&mut self, nonce: &Nonce) {
        let CommandPaths { paths, folders } = &mut self.command_paths;
        let is_of = |path: &mut PathBuf| path.to_string_lossy().contains(nonce.as_str());
        for path in paths.extract_if(.., is_of) {
            // If this fails, the end of the run removes it.
            let _ = self.journal.remove(&path);
            let mut above = path.parent();
            while let Some(folder) = above.filter(|folder| folders.contains(*folder)) {
                if fs::remove_dir(folder).is_err() {
                    break;
                }
                folders.remove(folder);
                above = folder.parent();
            }
        }
    }

    /// Records what a target may create if it uses a text as a path: inside its folders, or next to them if the text
    /// starts with the path of one. Skips paths that already exist, since they are not from this run.
    fn expect(&mut self, random: &Random, path: &Path) {
        let text = path.to_string_lossy();
        let bases: Vec<PathBuf> = if path.is_absolute() {
            let starts = |root: &&Path| text.starts_with(&*root.to_string_lossy());
            let base = |root: &Path| {
                if path.starts_with(root) { root } else { root.parent().unwrap_or(root) }.to_owned()
            };
            self.journal.watches().filter(starts).map(base).collect()
        } else {
            self.journal.watches().map(Path::to_owned).collect()
        };
        for base in bases {
            let below = path.strip_prefix(&base).unwrap_or(path);
            let mut prefix = base;
            for name in below.components().filter(|part| matches!(part, Component::Normal(_))) {
                prefix.push(name);
                let is_known = !self.expected.insert(prefix.clone());
                if !is_known && fs::symlink_metadata(&prefix).is_ok() {
                    continue;
                }
                let name = name.as_os_str().to_string_lossy();
                let is_ours = self.journal.carries_mark(&prefix) || random.is_in(&name);
                // Without a record the file stays, which is harmless.
                let _ = match (is_known, is_ours) {
                    (true, _) => Ok(()),
                    (false, true) => self.journal.named(&prefix),
                    (false, false) => self.journal.above(&prefix),
                };
                if is_ours {
                    break;
                }
            }
        }
    }
}
