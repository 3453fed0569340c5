//! The canary ground: files with random content, planted where a target must not look, and a place
//! where files may appear that a target must not write. Names carry marks that nobody can foresee, files are
//! created anew and never through a link, and everything is in the journal before it is planted.

mod documents;
mod lodging;
mod project;
mod random;

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use lodging::Lodging;
use quintain_evidence::evidence::Observation;
use quintain_redteam::attack::{CanaryFiles, MarkKey, Nonce};
use quintain_redteam::knowledge::Hints;
use random::Random;
use serde_json::Value;
use walkdir::WalkDir;

use crate::confined::{ConfinedError, Folder};
use crate::planted::{Journal, Removal, create_private_folder};

/// Endings of the canary and its copies; the first is that of the canary itself.
const ENDINGS: [&str; 12] =
    ["txt", "md", "json", "csv", "log", "html", "pdf", "docx", "xlsx", "py", "ipynb", ""];
/// What stands in files for calls that have to work.
const HELLO: &str = "hello quintain";
/// A word of it, and of the canary.
const WORD: &str = "quintain";
/// So deep are the folders of a target watched.
pub(super) const DEPTH: usize = 4;
/// What is read of a file that appeared.
const MAX_CONTENT: u64 = 4096;
/// Files of the ground that are looked at.
const MAX_SEEN: usize = 10_000;

/// Why something was not planted.
#[derive(Debug, thiserror::Error)]
enum PlantError {
    #[error(transparent)]
    Journal(#[from] io::Error),
    #[error(transparent)]
    Folder(#[from] ConfinedError),
}

/// The ground of one run. Dropping it removes all traces.
pub(super) struct PlantedFiles {
    pub(super) ground: CanaryFiles,
    journal: Journal,
    /// The mark of everything that is planted in folders of the target.
    mark: Nonce,
    state_dir: Option<PathBuf>,
    /// Files of the drop that were seen, and how long they were.
    known: BTreeMap<PathBuf, u64>,
    lodging: Lodging,
    /// Paths that the target may have created, and that the journal knows of.
    expected: HashSet<PathBuf>,
}

impl PlantedFiles {
    /// Prepares the ground for a target that is confined to these folders; `git` is whether that may be used.
    pub(super) fn new(
        roots: &[PathBuf],
        key: &MarkKey,
        state_dir: Option<&Path>,
        git: bool,
    ) -> io::Result<Self> {
        let mut marks = key.marks("ground");
        let (name, text, mark) = (marks.mark(), marks.mark(), marks.mark());
        let mut journal = Journal::create(state_dir, name.as_str())?;
        for mark in [&name, &mark] {
            journal.mark(mark.as_str())?;
        }
        // The target may see it under another name than the one it was made with.
        let root = std::env::temp_dir().canonicalize()?.join(format!("quintain-{name}"));
        journal.planted(&root)?;
        journal.sync()?;
        create_private_folder(&root)?;
        let mut planted = Self {
            ground: filled(root, &text, git)?,
            journal,
            mark,
            state_dir: state_dir.and_then(|folder| folder.canonicalize().ok()),
            known: BTreeMap::new(),
            lodging: Lodging::default(),
            expected: HashSet::new(),
        };
        for root in roots {
            planted.watch(root, DEPTH)?;
            // Where nothing can be planted, those forms of an attack are not tried.
            let _ = planted.beside(root);
        }
        Ok(planted)
    }

    /// Remembers a folder in which the target may create things of our names.
    pub(super) fn watch(&mut self, folder: &Path, depth: usize) -> io::Result<()> {
        self.journal.watched(folder, depth)
    }

    /// The mark of what is planted in folders of the target.
    pub(super) fn mark(&self) -> &Nonce {
        &self.mark
    }

    /// Whether a folder belongs to us: nothing is planted among logins and stored runs.
    fn is_state(&self, folder: &Path) -> bool {
        self.state_dir.as_ref().is_some_and(|state| folder.starts_with(state))
    }

    /// A folder beside a root whose name begins with that of the root, and links inside of the root.
    fn beside(&mut self, root: &Path) -> Result<(), PlantError> {
        if self.is_state(root) {
            return Ok(());
        }
        let (Some(name), Some(above)) = (root.file_name(), root.parent()) else { return Ok(()) };
        let sibling = above.join(format!("{}-quintain-{}", name.to_string_lossy(), self.mark));
        let sink = self.ground.drop.join(format!("{}-sink.txt", self.mark));
        let links = [
            ("-link", self.ground.canary.clone()),
            ("-door", self.ground.drop.clone()),
            ("-sink.txt", sink),
        ];
        let links = links.map(|(end, to)| (root.join(format!("quintain-{}{end}", self.mark)), to));
        self.note(links.iter().map(|(link, _)| link).chain([&sibling]))?;
        if let Ok(above) = Folder::open(above)
            && above.create_folder(&sibling).is_ok()
        {
            let file = sibling.join("canary.txt");
            above.write_new(&file, self.ground.canary_text.as_bytes())?;
            self.ground.siblings.insert(root.to_owned(), file);
        }
        let folder = Folder::open(root)?;
        let [canary, door, sink] = links.map(|(link, to)| {
            let is_made = folder.create_link(&link, &to).is_ok();
            is_made.then(|| (root.to_owned(), link))
        });
        self.ground.links.extend(canary);
        self.ground.doors.extend(door);
        self.ground.sinks.extend(sink);
        Ok(())
    }

    /// Writes paths to the journal, for good, before anything is planted there.
    fn note<'p>(&mut self, paths: impl IntoIterator<Item = &'p PathBuf>) -> io::Result<()> {
        paths.into_iter().try_for_each(|path| self.journal.planted(path))?;
        self.journal.sync()
    }

    /// Files for calls that have to work: inside of every root, or in a folder of the ground if there is
    /// none.
    pub(super) fn hint(&mut self, roots: &[PathBuf], hints: &mut Hints) {
        WORD.clone_into(&mut hints.text);
        let mut folders: Vec<PathBuf> =
            roots.iter().filter(|root| !self.is_state(root)).cloned().collect();
        if roots.is_empty() {
            let inside = self.ground.root.join("inside");
            if create_private_folder(&inside).is_ok() {
                Folder::open(&inside).iter().for_each(project::mark);
                folders.push(inside);
            }
        }
        for folder in &folders {
            // Where nothing can be planted, calls use what the target names itself.
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

    /// Gets ready for an attempt: the target may create things of what it is sent, and some paths have to exist
    /// before. `drawn` is what the attempt was written with.
    pub(super) fn sent(&mut self, mark: &Nonce, drawn: &[String], value: &Value) {
        // Without a record nothing is created, and what the target creates stays.
        if self.journal.mark(mark.as_str()).is_ok() {
            self.prepare(&Random::of(drawn), value);
        }
    }

    /// The same for calls that have to work.
    pub(super) fn asked(&mut self, value: &Value) {
        self.prepare(&Random::default(), value);
    }

    /// Takes away what an attempt left, so that it can be seen anew.
    pub(super) fn forget(&mut self, nonce: &str) {
        self.known.retain(|path, _| {
            let gone = path.to_string_lossy().contains(nonce);
            if gone {
                // What does not go is not seen again, and then the smaller attempt does not count.
                let _ = fs::remove_file(path);
            }
            !gone
        });
    }

    /// Files that appeared since the last look, anywhere in the ground.
    pub(super) fn look(&mut self) -> Vec<Observation> {
        let mut found = Vec::new();
        let mut folders = vec![self.ground.drop.clone()];
        folders
            .extend(self.ground.siblings.values().filter_map(|file| Some(file.parent()?.into())));
        for folder in folders {
            // A target may replace a folder of ours by a link.
            let walk = WalkDir::new(&folder).max_depth(3).follow_root_links(false);
            for entry in walk.into_iter().take(MAX_SEEN).filter_map(Result::ok) {
                let path = entry.path().to_owned();
                let is_ours = self.ground.siblings.values().any(|file| *file == path);
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
        // What is left stays in the journal, and the next start tries again.
        self.clear();
    }
}

/// The folder of a run with its canaries. Nobody else knows of it yet.
fn filled(root: PathBuf, mark: &Nonce, git: bool) -> io::Result<CanaryFiles> {
    let drop = root.join("drop");
    create_private_folder(&drop)?;
    let canary = root.join("canary.txt");
    let bait = root.join("bait.txt");
    let (canary_text, bait_text) =
        (format!("quintain-canary-{mark}"), format!("quintain-bait-{mark}"));
    // Some servers add an ending to what they are given, some insist on one.
    for ending in ENDINGS {
        fs::write(canary.with_extension(ending), documents::saying(ending, &canary_text))?;
        fs::write(bait.with_extension(ending), documents::saying(ending, &bait_text))?;
    }
    let project = project::make(&root.join("project"), &canary_text, git);
    let endings: Vec<String> = ENDINGS.map(str::to_owned).to_vec();
    let ground = CanaryFiles {
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
    Ok(ground)
}

/// The end of a file, where what was written last is.
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
