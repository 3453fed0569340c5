//! A folder that an attacker prepared must not lead to files outside of it.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::AtomicBool;

use super::*;

type Write = fn(&Folder, &Path) -> Result<()>;

/// A folder to work in, and a second folder next to it that must not change.
struct TestFolders {
    place: tempfile::TempDir,
    folder: Folder,
}

impl TestFolders {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        for name in ["inside", "outside"] {
            fs::create_dir(place.path().join(name)).unwrap();
        }
        fs::write(place.path().join("outside/theirs"), "untouched").unwrap();
        let folder = Folder::open(&place.path().join("inside")).unwrap();
        Self { place, folder }
    }

    fn inside(&self, name: &str) -> PathBuf {
        self.place.path().join("inside").join(name)
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.place.path().join("outside").join(name)
    }

    /// All functions that write, with their names.
    fn writers() -> [(&'static str, Write); 5] {
        [
            ("create_new", |folder, path| folder.create_new(path).map(drop)),
            ("write_new", |folder, path| folder.write_new(path, b"ours").map(drop)),
            ("create_fresh", |folder, path| folder.create_fresh(path).map(drop)),
            ("replace", |folder, path| folder.replace(path, b"ours")),
            ("create_folder", |folder, path| folder.create_folder(path).map(drop)),
        ]
    }

    fn is_untouched(&self) -> bool {
        let names = fs::read_dir(self.place.path().join("outside")).unwrap().count();
        names == 1 && fs::read_to_string(self.outside("theirs")).unwrap() == "untouched"
    }
}

#[test]
fn files_are_created_replaced_read_and_removed() {
    let folders = TestFolders::new();
    let folder = &folders.folder;
    let made = folder.create_folders(Path::new("a/b")).unwrap();
    let paths: Vec<&Path> = made.iter().map(|(path, _)| path.as_path()).collect();
    assert_eq!(paths, [Path::new("a"), Path::new("a/b")]);
    assert!(folder.create_folders(Path::new("a/b")).unwrap().is_empty());
    let file = Path::new("a/b/x.txt");
    let identity = folder.write_new(file, b"one").unwrap();
    let again = folder.write_new(file, b"two").unwrap_err();
    assert_eq!(again.kind(), Some(io::ErrorKind::AlreadyExists));
    assert_eq!(folder.read(file, 3).unwrap(), b"one");
    assert!(folder.read(file, 2).is_err());
    assert_eq!(folder.entry(file).unwrap(), Some(Entry { kind: EntryKind::File, identity }));
    folder.replace(file, b"two").unwrap();
    assert_eq!(folder.read(file, 9).unwrap(), b"two");
    assert_eq!(fs::read_dir(folders.inside("a/b")).unwrap().count(), 1, "nothing else is left");
    assert!(!folder.remove_file(file, Some(identity)).unwrap(), "the identity differs now");
    assert!(folder.remove_file(file, None).unwrap());
    assert!(!folder.remove_file(file, None).unwrap());
    for (path, identity) in made.iter().rev() {
        assert!(folder.remove_folder(path, Some(*identity)).unwrap());
    }
    assert_eq!(folder.entry(Path::new("a/b/x.txt")).unwrap(), None);
}

#[test]
fn paths_stay_inside() {
    let folders = TestFolders::new();
    let folder = &folders.folder;
    for (written, meant) in [
        ("./a/../b.txt", "b.txt"),
        ("a//b", "a/b"),
        (folders.inside("x/y").to_str().unwrap(), "x/y"),
    ] {
        assert_eq!(folder.below(Path::new(written)).unwrap(), Path::new(meant), "{written}");
    }
    let absolute = folders.outside("new");
    let tricky = folders.inside("../outside/new");
    for path in [Path::new("../outside/new"), Path::new("a/../../outside/new"), &absolute, &tricky]
    {
        for (name, write) in TestFolders::writers() {
            let error = write(folder, path).unwrap_err();
            assert!(matches!(error, ConfinedError::Outside { .. }), "{name}: {error}");
        }
    }
    for path in ["", ".", "a/.."] {
        for (name, write) in TestFolders::writers() {
            assert!(write(folder, Path::new(path)).is_err(), "{name} {path:?}");
        }
    }
    assert!(folders.is_untouched());
}

#[test]
fn links_are_not_followed() {
    let folders = TestFolders::new();
    symlink(folders.outside("theirs"), folders.inside("file")).unwrap();
    symlink(folders.outside("new"), folders.inside("dangling")).unwrap();
    symlink(folders.outside(""), folders.inside("door")).unwrap();
    symlink("../outside", folders.inside("relative")).unwrap();
    fs::create_dir(folders.inside("own")).unwrap();
    symlink(folders.inside("own"), folders.inside("within")).unwrap();
    for path in ["file", "dangling", "door/theirs", "door/new", "relative/new", "within/new"] {
        for (name, write) in TestFolders::writers() {
            let error = write(&folders.folder, Path::new(path)).unwrap_err();
            assert!(matches!(error, ConfinedError::Link(_)), "{name} {path}: {error}");
        }
    }
    for path in ["file", "dangling", "door/theirs"] {
        let error = folders.folder.read(Path::new(path), 100).unwrap_err();
        assert!(matches!(error, ConfinedError::Link(_)), "{path}: {error}");
    }
    let error = folders.folder.create_folders(Path::new("door/deep")).unwrap_err();
    assert!(matches!(error, ConfinedError::Link(_)), "{error}");
    assert!(folders.folder.remove_file(Path::new("door/theirs"), None).is_err());
    assert!(
        folders.folder.remove_file(Path::new("file"), None).unwrap(),
        "the link itself is removed"
    );
    assert!(folders.is_untouched());
}

#[test]
fn a_link_is_created_and_recognised() {
    let folders = TestFolders::new();
    let identity = folders.folder.create_link(Path::new("l"), &folders.outside("theirs")).unwrap();
    assert_eq!(
        folders.folder.entry(Path::new("l")).unwrap(),
        Some(Entry { kind: EntryKind::Link, identity })
    );
    assert!(folders.folder.remove_file(Path::new("l"), Some(identity)).unwrap());
    assert!(folders.is_untouched());
}

#[test]
fn another_name_of_a_file_keeps_its_content() {
    let folders = TestFolders::new();
    for (name, write) in [TestFolders::writers()[2], TestFolders::writers()[3]] {
        fs::hard_link(folders.outside("theirs"), folders.inside("same")).unwrap();
        write(&folders.folder, Path::new("same")).unwrap();
        assert!(folders.is_untouched(), "{name}");
        fs::remove_file(folders.inside("same")).unwrap();
    }
}

#[test]
fn what_is_no_regular_file_is_neither_read_nor_replaced() {
    let folders = TestFolders::new();
    fs::create_dir(folders.inside("folder")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folders.inside("pipe"), 0o600.into()).unwrap();
    for path in ["folder", "pipe"] {
        assert!(folders.folder.read(Path::new(path), 10).is_err(), "{path}");
        assert!(folders.folder.replace(Path::new(path), b"x").is_err(), "{path}");
        assert!(folders.folder.create_fresh(Path::new(path)).is_err(), "{path}");
    }
}

#[test]
fn a_folder_that_is_moved_away_stays_the_folder() {
    let folders = TestFolders::new();
    fs::rename(folders.inside(""), folders.place.path().join("moved")).unwrap();
    symlink(folders.outside(""), folders.place.path().join("inside")).unwrap();
    folders.folder.replace(Path::new("x"), b"ours").unwrap();
    assert_eq!(fs::read(folders.place.path().join("moved/x")).unwrap(), b"ours");
    assert!(folders.is_untouched());
}

/// Swaps a folder for a link and back, as fast as possible, while files are written below it.
#[test]
fn swapping_a_folder_for_a_link_wins_nothing() {
    let folders = TestFolders::new();
    fs::create_dir(folders.inside("sub")).unwrap();
    symlink(folders.outside(""), folders.inside("link")).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                for (from, to) in
                    [("sub", "kept"), ("link", "sub"), ("sub", "link"), ("kept", "sub")]
                {
                    fs::rename(folders.inside(from), folders.inside(to)).unwrap();
                }
            }
        });
        for number in 0..2000 {
            for (_, write) in TestFolders::writers() {
                // Most attempts find the link or nothing.
                let _ = write(&folders.folder, &PathBuf::from(format!("sub/{number}")));
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(folders.is_untouched());
}
