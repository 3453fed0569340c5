//! Reads files by a name from outside.

use std::{
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use super::ToolError;

/// No file of the demo is larger; reading is limited to this size.
const LONGEST_FILE: u64 = 64 * 1024;

/// The file `name` below `root`, if it is really there: links are resolved before the comparison, and
/// the comparison is by path component.
pub(crate) fn inside(root: &Path, name: &str) -> Result<PathBuf, ToolError> {
    let resolved = root.join(name).canonicalize().map_err(|_| ToolError::NotFound("file"))?;
    let root = root.canonicalize().map_err(|_| ToolError::NotFound("file"))?;
    if resolved.starts_with(root) { Ok(resolved) } else { Err(ToolError::NotFound("file")) }
}

/// Removes `.` and `..` by looking at the text alone.
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    clean
}

/// The text of a regular file. Devices and pipes are refused because reading them could block.
pub(crate) async fn read(path: PathBuf) -> Result<String, ToolError> {
    let shown = path.display().to_string();
    let reading = tokio::task::spawn_blocking(move || {
        if !std::fs::metadata(&path)?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(&path)?.take(LONGEST_FILE).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    });
    reading
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
        .map_err(|source| ToolError::File { path: shown, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_refuses_everything_that_leaves_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        let sibling = folder.path().join("root-sibling");
        for directory in [&root, &sibling] {
            std::fs::create_dir(directory).unwrap();
            std::fs::write(directory.join("file"), "text").unwrap();
        }
        assert!(inside(&root, "file").is_ok());
        assert!(inside(&root, "../root/file").is_ok());
        assert!(inside(&root, "../root-sibling/file").is_err());
        assert!(inside(&root, &sibling.join("file").display().to_string()).is_err());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&sibling, root.join("link")).unwrap();
            assert!(inside(&root, "link/file").is_err());
        }
    }

    #[test]
    fn dots_are_removed_without_looking_at_the_disk() {
        assert_eq!(without_dots(Path::new("/a/./b/../c")), Path::new("/a/c"));
    }
}
