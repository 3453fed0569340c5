//! File access for suites.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use globset::GlobBuilder;
use quintain_evidence::code::Language;
use quintain_evidence::static_finding::SurfaceInspection;
use quintain_redteam::attacks::inspections;
use quintain_suite::suite::Files;
use walkdir::WalkDir;

use crate::policy::Policy;
use crate::world::World;

/// Refuse larger files.
const MAX_BYTES: u64 = 256 << 20;
/// Maximum number of directory entries to visit for a pattern.
const MAX_ENTRIES: usize = 100_000;

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let found = std::fs::metadata(path)?;
        // Reading a device or a pipe may never end.
        if !found.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        if found.len() > MAX_BYTES {
            return Err(io::Error::other(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
        }
        std::fs::read(path)
    }

    fn matching(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        matching(pattern, MAX_ENTRIES)
    }

    fn inspections(&self) -> &[&'static dyn SurfaceInspection] {
        inspections()
    }
}

/// The files that match a pattern, after a visit of at most `limit` entries.
fn matching(pattern: &Path, limit: usize) -> io::Result<Vec<PathBuf>> {
    let text = pattern.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    let glob = GlobBuilder::new(text).literal_separator(true).backslash_escape(true).build();
    let glob = glob.map_err(|error| io::Error::other(error.to_string()))?.compile_matcher();
    let (root, depth) = split(pattern);
    let mut found = Vec::new();
    let walk = WalkDir::new(root).max_depth(depth).sort_by_file_name().into_iter();
    for (index, entry) in walk.filter_map(Result::ok).enumerate() {
        if index > limit {
            let what = format!(
                "the pattern visits more than {limit} files and folders; name a narrower folder"
            );
            return Err(io::Error::other(what));
        }
        if entry.file_type().is_dir() || !glob.is_match(entry.path()) {
            continue;
        }
        found.push(entry.into_path());
    }
    Ok(found)
}

/// Access only to the files that a policy allows. Refuses other files without revealing whether they exist, and
/// patterns do not match them.
pub struct AllowedFiles {
    files: Arc<dyn Files>,
    policy: Arc<Policy>,
}

/// Restricts file access to what the policy of the run allows.
pub fn allowed(world: &World, files: Arc<dyn Files>) -> Arc<dyn Files> {
    if *world.policy == Policy::everything() {
        return files;
    }
    Arc::new(AllowedFiles { files, policy: world.policy.clone() })
}

impl Files for AllowedFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.read(&self.policy.file(path)?)
    }

    fn matching(&self, pattern: &Path) -> io::Result<Vec<PathBuf>> {
        // The walk starts in this folder, whose names must not leak either.
        self.policy.file(&split(pattern).0)?;
        let mut found = self.files.matching(pattern)?;
        found.retain(|path| self.policy.file(path).is_ok());
        Ok(found)
    }

    fn may_run(&self, language: Language) -> Result<(), String> {
        self.policy.interpreter(language).map_err(|denied| denied.to_string())
    }

    fn may_see(&self, variable: &str) -> Result<(), String> {
        self.policy.variable(variable).map_err(|denied| denied.to_string())
    }

    fn inspections(&self) -> &[&'static dyn SurfaceInspection] {
        self.files.inspections()
    }
}

/// The fixed folder at the start of a pattern, and the maximum depth below it.
fn split(pattern: &Path) -> (PathBuf, usize) {
    let magic =
        |part: &Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']);
    let parts: Vec<Component<'_>> = pattern.components().collect();
    let fixed = parts.iter().position(magic).unwrap_or(parts.len());
    let rest = &parts[fixed..];
    let any_depth = rest.iter().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        part.contains("**") || part.contains('{')
    });
    let root: PathBuf = parts[..fixed].iter().collect();
    let root = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root };
    (root, if any_depth { usize::MAX } else { rest.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        for name in ["x.csv", "y.csv", "z.txt", "a/x.csv", "a/b/x.csv"] {
            std::fs::write(dir.path().join(name), name).unwrap();
        }
        dir
    }

    fn found(pattern: &str) -> Vec<String> {
        let dir = tree();
        let found = Disk.matching(&dir.path().join(pattern)).unwrap();
        let relative = found.iter().map(|path| path.strip_prefix(dir.path()).unwrap());
        relative.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn patterns_find_files_in_order() {
        assert_eq!(found("*.csv"), ["x.csv", "y.csv"]);
        assert_eq!(found("**/*.csv"), ["a/b/x.csv", "a/x.csv", "x.csv", "y.csv"]);
        assert_eq!(found("*/x.csv"), ["a/x.csv"]);
        assert_eq!(found("{y.csv,z.txt}"), ["y.csv", "z.txt"]);
        assert_eq!(found("[xy].csv"), ["x.csv", "y.csv"]);
        assert_eq!(found("none*"), [""; 0]);
    }

    /// A pattern like `/**/*.yaml` would read the whole disk.
    #[test]
    fn a_pattern_visits_a_bounded_number_of_entries() {
        let dir = tempfile::tempdir().unwrap();
        let visited = |limit| matching(&dir.path().join("**/*.yaml"), limit);
        for name in 0..10 {
            std::fs::write(dir.path().join(format!("{name}.yaml")), "").unwrap();
        }
        assert_eq!(visited(11).unwrap().len(), 10);
        assert!(visited(9).unwrap_err().to_string().contains("more than 9 files and folders"));
    }

    #[test]
    fn folders_and_missing_files_are_errors() {
        let dir = tree();
        assert!(Disk.read(dir.path()).is_err());
        assert!(Disk.read(&dir.path().join("no")).is_err());
        assert!(Disk.matching(Path::new("[")).is_err());
        assert_eq!(Disk.read(&dir.path().join("x.csv")).unwrap(), b"x.csv");
    }
}
