//! A folder that looks like the work of somebody: a project in a repository, with the canary in its files and
//! in its history.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::confined::Folder;

/// Files of many kinds of projects; each is enough for the tools of its kind.
const FILES: [(&str, &str); 4] = [
    ("canary.txt", "{canary}\n"),
    ("README.md", "# {canary}\n"),
    (
        "package.json",
        "{\"name\": \"project\", \"version\": \"1.0.0\", \"description\": \"{canary}\"}\n",
    ),
    ("main.py", "def main():\n    return \"{canary}\"\n"),
];

/// Files by which tools know a project of their kind, whatever stands in them.
const MARKS: [&str; 16] = [
    "build.gradle",
    "Cargo.toml",
    "CMakeLists.txt",
    "composer.json",
    "docker-compose.yml",
    "Dockerfile",
    "Gemfile",
    "go.mod",
    "main.tf",
    "Makefile",
    "package.json",
    "pom.xml",
    "project.godot",
    "pubspec.yaml",
    "pyproject.toml",
    "tsconfig.json",
];

/// Makes a folder of ours look like a project of every kind. Where that fails it is a folder like any other.
pub(super) fn mark(folder: &Folder) {
    for name in MARKS.map(Path::new) {
        let is_json = name.extension().is_some_and(|ending| ending == "json");
        let _ = folder.write_new(name, if is_json { b"{}\n" } else { b"" });
    }
}

/// Makes the folder. Without `git` it is a project only.
pub(super) fn make(folder: &Path, canary: &str, has_git: bool) -> Option<PathBuf> {
    fs::create_dir(folder).ok()?;
    for (name, text) in FILES {
        fs::write(folder.join(name), text.replace("{canary}", canary)).ok()?;
    }
    let git = |args: &[&str]| {
        // Neither a repository around it nor the configuration of the user matters.
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args([
            "-c",
            "user.name=quintain",
            "-c",
            "user.email=q@localhost",
        ]);
        command.args(["-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null"]).args(args);
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let _ = has_git
        && git(&["init", "--quiet", "--initial-branch=main"])
        && git(&["add", "."])
        && git(&["commit", "--quiet", "--message", canary]);
    // What is not committed shows in the state of the repository.
    fs::write(folder.join(format!("{canary}.txt")), canary).ok()?;
    Some(folder.to_owned())
}
