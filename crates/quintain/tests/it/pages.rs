//! Runs every suite in the documentation, which has to pass. A block of YAML with `tests` is a suite, on the practice
//! target unless it names its own; a block with a file name after its language is that file.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use libtest_mimic::{Failed, Trial};

const PAGES: &[&str] = &[
    "README.md",
    "docs/guides/targets.md",
    "docs/guides/writing-suites.md",
    "docs/tutorials/first-suite.md",
];
const PRACTICE: &str =
    "targets: [{id: mcp, config: {server: {command: quintain, args: [demo, --stdio]}}}]\n";

pub(crate) fn trials() -> Vec<Trial> {
    PAGES.iter().flat_map(|page| of_page(page)).collect()
}

fn of_page(page: &'static str) -> Vec<Trial> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = fs::read_to_string(path).unwrap_or_default();
    let blocks = blocks(&text);
    let files: Vec<(PathBuf, String)> = blocks
        .iter()
        .filter_map(|block| Some((block.info.split_once(' ')?.1.into(), block.text.clone())))
        .collect();
    let suites: Vec<Block> = blocks.into_iter().filter(Block::is_suite).collect();
    if suites.is_empty() {
        let name = format!("pages::{page}");
        return vec![Trial::test(name, move || Err(format!("{page} shows no suite").into()))];
    }
    let trial = |Block { line, text, .. }: Block| {
        let files = files.clone();
        Trial::test(format!("pages::{page}:{line}"), move || passes(&text, &files))
    };
    suites.into_iter().map(trial).collect()
}

struct Block {
    /// The text after the fence: the language, and optionally the name of a file.
    info: String,
    line: usize,
    text: String,
}

impl Block {
    fn is_suite(&self) -> bool {
        self.info == "yaml" && self.text.lines().any(|line| line.starts_with("tests:"))
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open = false;
    for (at, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !open => {
                found.push(Block { info: info.to_owned(), line: at + 1, text: String::new() });
                open = true;
            }
            Some(_) => open = false,
            None if open => {
                if let Some(block) = found.last_mut() {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
            }
            None => {}
        }
    }
    found
}

fn passes(suite: &str, files: &[(PathBuf, String)]) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    for (name, text) in files {
        let path = folder.path().join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    let names_targets = suite.lines().any(|line| line.starts_with("targets:"));
    let start = if names_targets { "" } else { PRACTICE };
    fs::write(folder.path().join("quintain.yaml"), format!("{start}{suite}"))?;
    let binary = Path::new(env!("CARGO_BIN_EXE_quintain"));
    let output = Command::new(binary)
        .args(["eval", "--no-write"])
        .current_dir(folder.path())
        .env_clear()
        .envs([
            ("PATH", path_with(binary)?),
            ("HOME", folder.path().into()),
            ("NO_COLOR", "1".into()),
        ])
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let shown = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    Err(format!("{}\n{}{}", output.status, shown[0], shown[1]).into())
}

/// Adds the folder of the binary: the suites start the practice target by name.
fn path_with(binary: &Path) -> Result<OsString, Failed> {
    let folder = binary.parent().ok_or("the binary has no folder")?.to_owned();
    let rest = env::var_os("PATH").unwrap_or_default();
    Ok(env::join_paths(std::iter::once(folder).chain(env::split_paths(&rest)))?)
}
