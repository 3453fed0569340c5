//! Follows tutorials as a reader does: writes their files, runs their commands, and compares what they print.

use std::{env, fs, path::Path, process::Command};

use crate::{Result, process};

/// Pages of which every command is run. A block ```` ```json NAME ```` is a file, a block `sh` contains commands, and a
/// block `text` what the commands above it print.
const TUTORIALS: &[&str] = &["docs/tutorials/first-grade.md"];

/// A block that shows something else than the commands above it print.
struct Stale {
    page: &'static str,
    /// The line of its fence, from 1.
    line: usize,
    printed: String,
}

/// Runs all tutorials, and returns how many blocks of commands there were.
pub(super) fn check(
    root: &Path,
    binaries: &Path,
    folder: &Path,
    complaints: &mut Vec<String>,
) -> Result<usize> {
    let (followed, stale) = follow(root, binaries, folder)?;
    complaints.extend(stale.iter().map(|Stale { page, line, printed }| {
        format!("{page}:{line}: run `cargo xtask docs`: the commands above it print\n{printed}")
    }));
    Ok(followed)
}

/// Runs all tutorials, and writes what their commands print. Returns how many blocks changed.
pub(super) fn write(root: &Path, binaries: &Path, folder: &Path) -> Result<usize> {
    let (_, stale) = follow(root, binaries, folder)?;
    // From the last block on, so that the lines of earlier ones stay where they are.
    for Stale { page, line, printed } in stale.iter().rev() {
        let path = root.join(page);
        let failed = |error| format!("{page}: {error}");
        let text = fs::read_to_string(&path).map_err(failed)?;
        fs::write(&path, with_block(&text, *line, printed)).map_err(failed)?;
        println!("wrote {page}:{line}");
    }
    Ok(stale.len())
}

/// The page with another text in the block whose fence is at a line.
fn with_block(page: &str, line: usize, text: &str) -> String {
    let lines: Vec<&str> = page.lines().collect();
    let (before, rest) = lines.split_at(line);
    let end = rest.iter().position(|line| line.starts_with("```")).unwrap_or(rest.len());
    let mut all = before.to_vec();
    all.extend(text.trim_end().lines());
    all.extend(&rest[end..]);
    all.join("\n") + "\n"
}

/// Runs all tutorials in a new folder.
fn follow(root: &Path, binaries: &Path, folder: &Path) -> Result<(usize, Vec<Stale>)> {
    let (mut followed, mut stale) = (0, Vec::new());
    for page in TUTORIALS {
        let text =
            fs::read_to_string(root.join(page)).map_err(|error| format!("{page}: {error}"))?;
        let _ = fs::remove_dir_all(folder);
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut printed: Option<String> = None;
        for block in blocks(&text) {
            let place = format!("{page}:{}", block.line);
            match (block.info, printed.take()) {
                ("sh", _) => {
                    printed = Some(run(&block.text, binaries, folder, &place)?);
                    followed += 1;
                }
                ("text", Some(printed))
                    if without_times(&printed) != without_times(&block.text) =>
                {
                    stale.push(Stale { page, line: block.line, printed });
                }
                (info, _) => {
                    if let Some((_, name)) = info.split_once(' ') {
                        let file = folder.join(name);
                        fs::write(&file, block.text)
                            .map_err(|error| format!("{place}: {error}"))?;
                    }
                }
            }
        }
    }
    Ok((followed, stale))
}

fn run(commands: &str, binaries: &Path, folder: &Path, place: &str) -> Result<String> {
    let rest = env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(binaries.to_owned()).chain(env::split_paths(&rest));
    let path = env::join_paths(paths).map_err(|error| error.to_string())?;
    let mut shell = Command::new("bash");
    // A command may fail, as the page explains; the comparison is what counts.
    shell.args(["-c", &format!("exec 2>&1\n{commands}\ntrue")]).current_dir(folder);
    shell.env("PATH", path).env("QUINTAIN_HOME", folder.join("home"));
    shell.env("NO_COLOR", "1").env("COLUMNS", "80");
    process::capture(&mut shell).map_err(|error| format!("{place}: {error}"))
}

struct Block<'p> {
    /// What follows the fence.
    info: &'p str,
    line: usize,
    text: String,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut is_open = false;
    for (at, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !is_open => {
                found.push(Block { info, line: at + 1, text: String::new() });
                is_open = true;
            }
            Some(_) => is_open = false,
            None => {
                if let Some(block) = found.last_mut().filter(|_| is_open) {
                    block.text.extend([line, "\n"]);
                }
            }
        }
    }
    found
}

/// The words of a text, without durations: they differ each time.
fn without_times(text: &str) -> Vec<&str> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let unit = |word: &str| matches!(word.trim_end_matches(','), "µs" | "ms" | "s");
    let is_time = |at: usize| {
        unit(words[at])
            || words.get(at + 1).is_some_and(|next| unit(next) && words[at].parse::<f64>().is_ok())
    };
    (0..words.len()).filter(|at| !is_time(*at)).map(|at| words[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_durations_may_differ() {
        let words = without_times("PASS  a  1.00  0.8 ms\np50 1.2 ms, max 3 s");
        assert_eq!(words, ["PASS", "a", "1.00", "p50", "max"]);
    }

    #[test]
    fn a_block_gets_a_new_text() {
        let page = "a\n```text\nold\n```\nb\n";
        assert_eq!(with_block(page, 2, "new\nlines\n\n"), "a\n```text\nnew\nlines\n```\nb\n");
    }

    #[test]
    fn blocks_are_found_with_their_kind_and_line() {
        let found = blocks("a\n```json x.json\n{}\n```\nb\n```sh\nls\n```\n");
        let shown: Vec<(&str, usize, &str)> =
            found.iter().map(|block| (block.info, block.line, block.text.as_str())).collect();
        assert_eq!(shown, [("json x.json", 2, "{}\n"), ("sh", 6, "ls\n")]);
    }
}
