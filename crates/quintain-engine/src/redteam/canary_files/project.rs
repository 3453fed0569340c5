//! A folder that looks like a user's project in a Git repository, with the canary in its files and in its history.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::confined::Folder;

/// Project files that contain the canary.
const FILES: [(&str, &str); 4] = [
    ("canary.txt", "{canary}\n"),
    ("README.md", "# {canary}\n"),
    (
        "package.json",
        "{\"name\": \"project\", \"version\": \"1.0.0\", \"description\": \"{canary}\"}\n",
    ),
    ("main.py", "def main():\n    return \"{canary}\"\n"),
];

/// Files by which tools recognise a kind of project, whatever they contain.
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

/// Makes a folder look like a project of every kind. Ignores failures.
pub(super) fn mark(folder: &Folder) {
    for name in MARKS.map(Path::new) {
        let is_json = name.extension().is_some_and(|ending| ending == "json");
        let _ = folder.write_new(name, if is_json { b"{}\n" } else { b"" });
    }
}

/// Creates the folder. Without Git, it is not a repository.
pub(super) fn make(folder: &Path, canary: &str, git: Option<&OsStr>) -> Option<PathBuf> {
    fs::create_dir(folder).ok()?;
    for (name, text) in FILES {
        fs::write(folder.join(name), text.replace("{canary}", canary)).ok()?;
    }
    let run = |args: &[&str]| {
        let Some(git) = git else { return false };
        // Ignore a surrounding repository and the user's configuration.
        let mut command = Command::new(git);
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
    let _ = run(&["init", "--quiet", "--initial-branch=main"])
        && run(&["add", "."])
        && run(&["commit", "--quiet", "--message", canary]);
    // An uncommitted file, which `git status` shows.
    fs::write(folder.join(format!("{canary}.txt")), canary).ok()?;
    Some(folder.to_owned())
}
