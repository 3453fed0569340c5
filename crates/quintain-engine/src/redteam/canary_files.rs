//! Canary files: files with random content where a target must not read, and a drop folder where a target must not
//! write. Names contain random marks, files are never written through a link or over existing ones, and the journal
//! records every path before it is planted.

mod command_paths;
mod documents;
mod project;
mod random;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use command_paths::CommandPaths;
use quintain_evidence::evidence::Observation;
use quintain_redteam::attack::{CanaryFiles, MarkKey, Nonce};
use quintain_redteam::knowledge::Hints;
use random::Random;
use serde_json::Value;
use walkdir::WalkDir;

use crate::confined::{ConfinedError, Folder};
use crate::planted::{Journal, Removal, create_private_folder};

/// File extensions of the canary and its copies. The first is that of the canary itself.
const ENDINGS: [&str; 12] =
    ["txt", "md", "json", "csv", "log", "html", "pdf", "docx", "xlsx", "py", "ipynb", ""];
/// Content of files for valid calls.
const HELLO: &str = "hello quintain";
/// A word that occurs in these files and in the canary.
const WORD: &str = "quintain";
/// Depth to which the target's folders are watched.
pub(super) const DEPTH: usize = 4;
/// Maximum bytes to read of a file that appeared.
const MAX_CONTENT: u64 = 4096;
/// Maximum number of entries to check per folder.
const MAX_SEEN: usize = 10_000;

/// Why something was not planted.
#[derive(Debug, thiserror::Error)]
enum PlantError {
    #[error(transparent)]
    Journal(#[from] io::Error),
    #[error(transparent)]
    Folder(#[from] ConfinedError),
}

/// The planted files of one run. Dropping it removes them.
pub(super) struct PlantedFiles {
    pub(super) canaries: CanaryFiles,
    journal: Journal,
    /// The mark of everything that is planted in the target's folders.
    mark: Nonce,
    state_dir: Option<PathBuf>,
    /// Files that appeared and were already reported, with their lengths.
    known: BTreeMap<PathBuf, u64>,
    command_paths: CommandPaths,
    /// Paths that the target may have created and that the journal contains.
    expected: HashSet<PathBuf>,
}

impl PlantedFiles {
    /// Plants the canary files for a target that is confined to `roots`. `git` is the program, if Git may run.
    pub(super) fn new(
        roots: &[PathBuf],
        key: &MarkKey,
        state_dir: Option<&Path>,
        git: Option<&OsStr>,
    ) -> io::Result<Self> {
        let mut marks = key.marks("folder");
        let (name, text, mark) = (marks.mark(), marks.mark(), marks.mark());
        let mut journal = Journal::create(state_dir, name.as_str())?;
        for mark in [&name, &mark] {
            journal.mark(mark.as_str())?;
        }
        // Resolve links, since the target may see the resolved path.
        let root = std::env::temp_dir().canonicalize()?.join(format!("quintain-{name}"));
        journal.planted(&root)?;
        journal.sync()?;
        create_private_folder(&root)?;
        let mut planted = Self {
            canaries: filled(root, &text, git)?,
            journal,
            mark,
            state_dir: state_dir.and_then(|folder| folder.canonicalize().ok()),
            known: BTreeMap::new(),
            command_paths: CommandPaths::default(),
            expected: HashSet::new(),
        };
        for root in roots {
            planted.watch(root, DEPTH)?;
            // If this fails, the forms of an attack that need these files are skipped.
            let _ = planted.beside(root);
        }
        Ok(planted)
    }

    /// Records a folder in which the target may create files with our marks.
    pub(super) fn watch(&mut self, folder: &Path, depth: usize) -> io::Result<()> {
        self.journal.watched(folder, depth)
    }

    /// The mark of what is planted in the target's folders.
    pub(super) fn mark(&self) -> &Nonce {
        &self.mark
    }

    /// Whether a folder is in the state directory, where nothing is planted.
    fn is_state(&self, folder: &Path) -> bool {
        self.state_dir.as_ref().is_some_and(|state| folder.starts_with(state))
    }

    /// Plants a folder next to a root whose name starts with that of the root, and links inside the root.
    fn beside(&mut self, root: &Path) -> Result<(), PlantError> {
        if self.is_state(root) {
            return Ok(());
        }
        let (Some(name), Some(above)) = (root.file_name(), root.parent()) else { return Ok(()) };
        let sibling = above.join(format!("{}-quintain-{}", name.to_string_lossy(), self.mark));
        let linked_file = self.canaries.drop.join(format!("{}-sink.txt", self.mark));
        let links = [
            ("-link", self.canaries.canary.clone()),
            ("-door", self.canaries.drop.clone()),
            ("-sink.txt", linked_file),
        ];
        let links = links.map(|(end, to)| (root.join(format!("quintain-{}{end}", self.mark)), to));
        self.note(links.iter().map(|(link, _)| link).chain([&sibling]))?;
        if let Ok(above) = Folder::open(above)
            && above.create_folder(&sibling).is_ok()
        {
            let file = sibling.join("canary.txt");
            above.write_new(&file, self.canaries.canary_text.as_bytes())?;
            self.canaries.siblings.insert(root.to_owned(), file);
        }
        let folder = Folder::open(root)?;
        let [canary, folder_link, file_link] = links.map(|(link, to)| {
            let is_made = folder.create_link(&link, &to).is_ok();
            is_made.then(|| (root.to_owned(), link))
        });
        self.canaries.links.extend(canary);
        self.canaries.folder_links.extend(folder_link);
        self.canaries.file_links.extend(file_link);
        Ok(())
    }

    /// Writes paths to the journal and flushes it, before anything is planted there.
    fn note<'p>(&mut self, paths: impl IntoIterator<Item = &'p PathBuf>) -> io::Result<()> {
        paths.into_iter().try_for_each(|path| self.journal.planted(path))?;
        self.journal.sync()
    }

    /// Plants files for valid calls: in every root, or in a folder of the run if there is no root.
    pub(super) fn hint(&mut self, roots: &[PathBuf], hints: &mut Hints) {
        WORD.clone_into(&mut hints.text);
        let mut folders: Vec<PathBuf> =
            roots.iter().filter(|root| !self.is_state(root)).cloned().collect();
        if roots.is_empty() {
            let inside = self.canaries.root.join("inside");
            if create_private_folder(&inside).is_ok() {
                Folder::open(&inside).iter().for_each(project::mark);
                folders.push(inside);
            }
        }
        for folder in &folders {
            // If this fails, calls use paths that the target names.
            let _ = self.hint_in(folder, hints);
        }
        hints.folders = folders;
    }

    fn hint_in(&mut self, folder: &Path, hints: &mut Hints) -> Result<(), PlantError> {
        let file = |ending: &str| {
            let dot = if ending.is_empty() { "" } else { "." };
            folder.join(format!("quintain-{}{dot}{ending}", self.mark))
        };
        let files = ENDINGS.map(file);
        let (spare, fresh) = (file("spare.txt"), file("new.txt"));
        let spare_folder = folder.join(format!("quintain-{}-folder", self.mark));
        self.note(files.iter().chain([&spare, &fresh, &spare_folder]))?;
        let folder = Folder::open(folder)?;
        let plant = |file: &PathBuf| {
            let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
            folder.write_new(file, &documents::saying(ending, HELLO)).is_ok()
        };
        hints.files.extend(files.into_iter().filter(plant));
        hints.spare.extend(Some(spare).filter(plant));
        hints.fresh.push(fresh);
        folder.create_folder(&spare_folder)?;
        folder.write_new(&spare_folder.join("hello.txt"), HELLO.as_bytes())?;
        hints.spare_folders.push(spare_folder);
        Ok(())
    }

    /// Prepares for an attempt: records paths that the target may create from its values, and creates paths that must
    /// exist. `drawn` contains the random values of the attempt.
    pub(super) fn sent(&mut self, mark: &Nonce, drawn: &[String], value: &Value) {
        // Create nothing if the journal cannot record it.
        if self.journal.mark(mark.as_str()).is_ok() {
            self.prepare(&Random::of(drawn), value);
        }
    }

    /// Like [`Self::sent`], for valid calls.
    pub(super) fn asked(&mut self, value: &Value) {
        self.prepare(&Random::default(), value);
    }

    /// Removes the files of an attempt, so that they are detected again if they reappear.
    pub(super) fn forget(&mut self, nonce: &str) {
        self.known.retain(|path, _| {
            let gone = path.to_string_lossy().contains(nonce);
            if gone {
                // A file that remains is not detected again, so the smaller attempt does not count.
                let _ = fs::remove_file(path);
            }
            !gone
        });
    }

    /// Files that appeared or changed since the last call, in the drop folder or next to a root.
    pub(super) fn look(&mut self) -> Vec<Observation> {
        let mut found = Vec::new();
        let mut folders = vec![self.canaries.drop.clone()];
        folders
            .extend(self.canaries.siblings.values().filter_map(|file| Some(file.parent()?.into())));
        for folder in folders {
            // A target may have replaced the folder by a link.
            let walk = WalkDir::new(&folder).max_depth(3).follow_root_links(false);
            for entry in walk.into_iter().take(MAX_SEEN).filter_map(Result::ok) {
                let path = entry.path().to_owned();
                let is_ours = self.canaries.siblings.values().any(|file| *file == path);
                let length = entry.metadata().map_or(0, |found| found.len());
                if !entry.file_type().is_file() || is_ours || self.known.get(&path) == Some(&length)
                {
                    continue;
                }
                let content = end_of(&folder, &path).unwrap_or_default();
                self.known.insert(path.clone(), length);
                found.push(Observation::File { path, content });
            }
        }
        found
    }

    /// Removes everything that was planted.
    pub(super) fn clear(&mut self) -> Removal {
        self.journal.clear()
    }
}

impl Drop for PlantedFiles {
    fn drop(&mut self) {
        // What cannot be removed stays in the journal, and the next start tries again.
        self.clear();
    }
}

/// Creates the canary files in the folder of a run, which the target does not know yet.
fn filled(root: PathBuf, mark: &Nonce, git: Option<&OsStr>) -> io::Result<CanaryFiles> {
    let drop = root.join("drop");
    create_private_folder(&drop)?;
    let canary = root.join("canary.txt");
    let bait = root.join("bait.txt");
    let (canary_text, bait_text) =
        (format!("quintain-canary-{mark}"), format!("quintain-bait-{mark}"));
    // Some servers append an extension or require one.
    for ending in ENDINGS {
        fs::write(canary.with_extension(ending), documents::saying(ending, &canary_text))?;
        fs::write(bait.with_extension(ending), documents::saying(ending, &bait_text))?;
    }
    let project = project::make(&root.join("project"), &canary_text, git);
    let endings: Vec<String> = ENDINGS.map(str::to_owned).to_vec();
    let canaries = CanaryFiles {
        root,
        canary,
        canary_text,
        bait,
        bait_text,
        drop,
        endings,
        project,
        ..CanaryFiles::default()
    };
    Ok(canaries)
}

/// The last bytes of a file, which contain the newest content.
fn end_of(folder: &Path, path: &Path) -> Option<String> {
    let mut file = Folder::open(folder).ok()?.open_file(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_CONTENT))).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_CONTENT).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests;
