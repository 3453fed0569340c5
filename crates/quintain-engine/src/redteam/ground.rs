//! The canary ground: files with random content, planted where a target must not look, and a place
//! where files may appear that a target must not write. Everything is taken away again.

mod documents;
mod project;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use quintain_core::attack::{Ground, Nonce};
use quintain_core::chance::Chance;
use quintain_core::evidence::Observation;
use quintain_core::knowledge::Hints;
use serde_json::Value;
use tempfile::TempDir;

/// Endings of the canary and its copies; the first is that of the canary itself.
const ENDINGS: [&str; 12] =
    ["txt", "md", "json", "csv", "log", "html", "pdf", "docx", "xlsx", "py", "ipynb", ""];
/// What stands in files for calls that have to work.
const HELLO: &str = "hello quintain";
/// A word of it, and of the canary.
const WORD: &str = "quintain";
/// What stands in front of the marker in paths that hold commands.
const COMMAND: &str = "touch ";
const MAX_NAMES: usize = 100_000;
const MAX_ENTRIES: usize = 20_000;
/// So deep are the folders of a target watched.
const DEPTH: usize = 4;
/// What is read of a file that appeared.
const MAX_CONTENT: usize = 4096;

/// The ground of one run. Dropping it removes all traces.
pub(super) struct Planted {
    pub(super) ground: Ground,
    _folder: TempDir,
    /// What was planted beside and inside of declared roots.
    outside: Vec<PathBuf>,
    /// Files of the drop that were seen, and how long they were.
    known: BTreeMap<PathBuf, u64>,
    /// What stood in the folders of the target before, and how deep that was looked at.
    before: BTreeMap<PathBuf, (usize, BTreeSet<PathBuf>)>,
    /// Names that were sent, which a target may have given to files of its own.
    names: HashSet<String>,
    /// Paths that hold commands, made for attempts that are going on.
    lodged: Vec<PathBuf>,
}

impl Planted {
    /// Prepares the ground for a target that is confined to these folders.
    pub(super) fn new(roots: &[PathBuf], chance: &mut Chance) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("quintain-").tempdir()?;
        // The target may see it under another name than the one it was made with.
        let root = folder.path().canonicalize()?;
        let drop = root.join("drop");
        fs::create_dir(&drop)?;
        let canary = root.join("canary.txt");
        let mark = Nonce::draw(chance);
        let (canary_text, bait_text) =
            (format!("quintain-canary-{mark}"), format!("quintain-bait-{mark}"));
        let bait = root.join("bait.txt");
        // Some servers add an ending to what they are given, some insist on one.
        let endings: Vec<String> = ENDINGS.map(str::to_owned).to_vec();
        for ending in ENDINGS {
            fs::write(canary.with_extension(ending), documents::saying(ending, &canary_text))?;
            fs::write(bait.with_extension(ending), documents::saying(ending, &bait_text))?;
        }
        let project = project::make(&root.join("project"), &canary_text);
        let ground = Ground {
            root,
            canary,
            canary_text,
            bait,
            bait_text,
            drop,
            endings,
            project,
            ..Ground::default()
        };
        let mut planted = Self {
            ground,
            _folder: folder,
            outside: Vec::new(),
            known: BTreeMap::new(),
            before: BTreeMap::new(),
            names: HashSet::new(),
            lodged: Vec::new(),
        };
        for root in roots {
            planted.watch(root, DEPTH);
            planted.beside(root, chance);
        }
        Ok(planted)
    }

    /// Remembers what stands in a folder, so that what the target makes there of our words can be told.
    pub(super) fn watch(&mut self, folder: &Path, depth: usize) {
        let before = entries(folder, depth);
        self.before.entry(folder.to_owned()).or_insert((depth, before));
    }

    /// A folder beside a root whose name begins with that of the root, and a link inside of it. Where
    /// that is not possible, those forms of an attack are not tried.
    fn beside(&mut self, root: &Path, chance: &mut Chance) {
        let Some(name) = root.file_name().and_then(|name| name.to_str()) else { return };
        let mark = Nonce::draw(chance);
        let sibling = root.with_file_name(format!("{name}-quintain-{mark}"));
        if fs::create_dir(&sibling).is_ok() {
            self.outside.push(sibling.clone());
            let file = sibling.join("canary.txt");
            if fs::write(&file, &self.ground.canary_text).is_ok() {
                self.ground.siblings.insert(root.to_owned(), file);
            }
        }
        #[cfg(unix)]
        {
            let mut link = |name: &str, to: &Path| {
                let link = root.join(format!("quintain-{mark}{name}"));
                let made = std::os::unix::fs::symlink(to, &link).is_ok();
                made.then(|| {
                    self.outside.push(link.clone());
                    link
                })
            };
            let sink = self.ground.drop.join(format!("{mark}-sink.txt"));
            let links = (
                link("", &self.ground.canary),
                link("-door", &self.ground.drop),
                link("-sink.txt", &sink),
            );
            let root = root.to_owned();
            self.ground.links.extend(links.0.map(|link| (root.clone(), link)));
            self.ground.doors.extend(links.1.map(|link| (root.clone(), link)));
            self.ground.sinks.extend(links.2.map(|link| (root, link)));
        }
    }

    /// Files for calls that have to work: inside of every root, or in a folder of the ground if there is
    /// none.
    pub(super) fn hint(&mut self, roots: &[PathBuf], hints: &mut Hints, chance: &mut Chance) {
        WORD.clone_into(&mut hints.text);
        let (mut files, mut spare, mut fresh) = (Vec::new(), Vec::new(), Vec::new());
        let mut folders = roots.to_vec();
        if roots.is_empty() {
            let inside = self.ground.root.join("inside");
            if fs::create_dir(&inside).is_ok() {
                project::mark(&inside);
                folders.push(inside);
            }
        }
        for folder in &folders {
            let mark = Nonce::draw(chance);
            let file = |ending: &str| {
                let dot = if ending.is_empty() { "" } else { "." };
                folder.join(format!("quintain-{mark}{dot}{ending}"))
            };
            files.extend(ENDINGS.iter().filter_map(|ending| self.plant(file(ending))));
            spare.extend(self.plant(file("spare.txt")));
            fresh.push(file("new.txt"));
        }
        hints.folders = folders;
        self.outside.extend(fresh.iter().cloned());
        (hints.files, hints.spare, hints.fresh) = (files, spare, fresh);
    }

    fn plant(&mut self, file: PathBuf) -> Option<PathBuf> {
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        fs::write(&file, documents::saying(ending, HELLO)).ok()?;
        self.outside.push(file.clone());
        Some(file)
    }

    /// Notes what a target is asked for: it may make files of these names in its own folders.
    pub(super) fn sent(&mut self, value: &Value) {
        match value {
            Value::String(text) if self.names.len() < MAX_NAMES => {
                let parts =
                    text.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | ".."));
                self.names.extend(parts.map(str::to_owned));
                self.names.insert(text.clone());
                self.lodge(Path::new(text));
                self.stray(Path::new(text));
            }
            Value::Array(items) => items.iter().for_each(|item| self.sent(item)),
            Value::Object(entries) => entries.values().for_each(|entry| self.sent(entry)),
            _ => {}
        }
    }

    /// Makes a path that holds a command, as some servers run commands only on what exists.
    fn lodge(&mut self, path: &Path) {
        let text = path.to_string_lossy();
        let within = self.before.keys().chain([&self.ground.root]);
        let command = format!("{COMMAND}{}/", self.ground.drop.display());
        let plain = !path.components().any(|part| matches!(part, Component::ParentDir));
        if !plain
            || !text.contains(&command)
            || !within.into_iter().any(|root| path.starts_with(root))
            || fs::symlink_metadata(path).is_ok()
        {
            return;
        }
        self.lodged.push(path.to_owned());
        // Where it cannot be made, the server refuses it.
        let _ = if text.ends_with(".txt") {
            path.parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| fs::write(path, "hello\n"))
        } else {
            fs::create_dir_all(path).map(|()| project::mark(path))
        };
    }

    /// Takes away the paths that were made for an attempt: a server that walks through its folders would meet
    /// more and more of them.
    pub(super) fn dislodge(&mut self, nonce: &str) {
        let is_of = |path: &mut PathBuf| path.to_string_lossy().contains(nonce);
        for path in self.lodged.extract_if(.., is_of) {
            // What does not go is one of the names that were sent, and goes at the end.
            let _ = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            let ours = |above: &&Path| {
                above.to_string_lossy().contains(COMMAND) && !self.before.contains_key(*above)
            };
            for above in path.ancestors().skip(1).take_while(ours) {
                if fs::remove_dir(above).is_err() {
                    break;
                }
            }
        }
    }

    /// Notes what a target would have to make for a path that begins like that of one of its folders and lies
    /// beside it: a text behind the name of a folder is another name.
    fn stray(&mut self, path: &Path) {
        let plain = !path.components().any(|part| matches!(part, Component::ParentDir));
        let text = path.to_string_lossy();
        let beside =
            |root: &&PathBuf| text.starts_with(&*root.to_string_lossy()) && !path.starts_with(root);
        let Some(parent) = self.before.keys().find(beside).and_then(|root| root.parent()) else {
            return;
        };
        let first = path.ancestors().find(|above| above.parent() == Some(parent));
        // What is there already is not ours.
        if let Some(first) = first.filter(|first| plain && fs::symlink_metadata(first).is_err())
            && !self.outside.iter().any(|known| known == first)
        {
            self.outside.push(first.to_owned());
        }
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
            for entry in
                walkdir::WalkDir::new(folder).max_depth(3).into_iter().filter_map(Result::ok)
            {
                let path = entry.path().to_owned();
                let is_ours = self.ground.siblings.values().any(|file| *file == path);
                let length = entry.metadata().map_or(0, |found| found.len());
                if !entry.file_type().is_file() || is_ours || self.known.get(&path) == Some(&length)
                {
                    continue;
                }
                let bytes = fs::read(&path).unwrap_or_default();
                // What was written last stands at the end.
                let bytes = &bytes[bytes.len().saturating_sub(MAX_CONTENT)..];
                let content = String::from_utf8_lossy(bytes).into_owned();
                self.known.insert(path.clone(), length);
                found.push(Observation::File { path, content });
            }
        }
        found
    }
}

/// What stands in a folder and below it.
fn entries(root: &Path, depth: usize) -> BTreeSet<PathBuf> {
    let walk = walkdir::WalkDir::new(root).min_depth(1).max_depth(depth).into_iter();
    walk.filter_map(Result::ok).take(MAX_ENTRIES).map(walkdir::DirEntry::into_path).collect()
}

impl Drop for Planted {
    fn drop(&mut self) {
        for (root, (depth, before)) in &self.before {
            // A folder that could not be seen whole is left as it is.
            if before.len() >= MAX_ENTRIES {
                continue;
            }
            let is_ours = |path: &PathBuf| {
                let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                name.is_some_and(|name| self.names.contains(&name))
            };
            let fresh = entries(root, *depth).into_iter().filter(|path| !before.contains(path));
            self.outside.extend(fresh.filter(is_ours));
        }
        for path in &self.outside {
            let is_folder = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
            // Nothing can be done about what does not go.
            let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ground_leaves_no_traces() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("data");
        fs::create_dir(&root).unwrap();
        let mut chance = Chance::new(1);
        let mut planted = Planted::new(std::slice::from_ref(&root), &mut chance).unwrap();
        let ground = planted.ground.clone();
        assert_eq!(
            fs::read_to_string(&ground.links[&root]).unwrap().trim_end(),
            ground.canary_text
        );
        assert!(ground.siblings[&root].starts_with(home.path()));
        let mut hints = Hints::default();
        planted.hint(std::slice::from_ref(&root), &mut hints, &mut chance);
        assert!(hints.files[0].exists() && hints.spare[0].exists() && !hints.fresh[0].exists());
        drop(planted);
        assert!(!ground.root.exists());
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    }

    #[test]
    fn what_a_target_made_of_our_words_goes_and_everything_else_stays() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().to_owned();
        fs::write(root.join("old"), "x").unwrap();
        let mut planted = Planted::new(std::slice::from_ref(&root), &mut Chance::new(1)).unwrap();
        planted.sent(&serde_json::json!({"path": "a/b.txt", "other": ["old"]}));
        fs::create_dir(root.join("a")).unwrap();
        fs::write(root.join("a/b.txt"), "y").unwrap();
        fs::write(root.join("their-own"), "z").unwrap();
        drop(planted);
        let mut left: Vec<_> =
            fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["old", "their-own"]);
    }

    #[test]
    fn paths_that_hold_commands_go_with_their_attempt() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir(root.join("empty")).unwrap();
        let mut planted = Planted::new(std::slice::from_ref(&root), &mut Chance::new(1)).unwrap();
        let before = fs::read_dir(&root).unwrap().count();
        let drop = planted.ground.drop.display().to_string();
        let path = |nonce: &str| format!("{}/empty;touch {drop}/{nonce}", root.display());
        for nonce in ["first", "second"] {
            planted.sent(&serde_json::json!(path(nonce)));
            assert!(Path::new(&path(nonce)).is_dir());
        }
        planted.dislodge("first");
        assert!(!Path::new(&path("first")).exists() && Path::new(&path("second")).is_dir());
        planted.dislodge("second");
        assert_eq!(fs::read_dir(&root).unwrap().count(), before);
        assert!(root.join("empty").is_dir());
    }

    #[test]
    fn what_a_target_made_beside_its_folder_goes() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("data");
        for name in ["data", "data-of-theirs"] {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        let mut planted = Planted::new(std::slice::from_ref(&root), &mut Chance::new(1)).unwrap();
        for tail in [";id /x", "-of-theirs/y", "/inside"] {
            let path = format!("{}{tail}", root.display());
            planted.sent(&serde_json::json!({ "path": path }));
            fs::create_dir_all(path).unwrap();
        }
        drop(planted);
        let mut left: Vec<_> =
            fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["data", "data-of-theirs"]);
        assert!(home.path().join("data-of-theirs/y").exists());
    }

    #[test]
    fn a_path_that_holds_a_command_exists_until_the_end() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().to_owned();
        let mut planted = Planted::new(std::slice::from_ref(&root), &mut Chance::new(1)).unwrap();
        let drop_ = planted.ground.drop.display().to_string();
        let inside = format!("{}/q$(touch {drop_}/mark)", root.display());
        planted.sent(&serde_json::json!([inside, format!("{inside}.txt"), "/elsewhere/q;touch x"]));
        assert!(Path::new(&inside).is_dir() && Path::new(&format!("{inside}.txt")).is_file());
        planted.sent(&serde_json::json!(format!("{}/../q$(touch {drop_}/mark)", root.display())));
        assert!(!root.with_file_name("q$(touch ").exists());
        drop(planted);
        assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    }

    #[test]
    fn what_appears_is_seen_once() {
        let mut planted = Planted::new(&[], &mut Chance::new(1)).unwrap();
        assert!(planted.look().is_empty());
        fs::write(planted.ground.drop.join("marked"), "x").unwrap();
        assert!(
            matches!(&planted.look()[..], [Observation::File { content, .. }] if content == "x")
        );
        assert!(planted.look().is_empty());
    }
}
