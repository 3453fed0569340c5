//! Checks of every command that the binary lists: it is in the reference, has an example, and its help fills the
//! lines of the terminal.

use std::{fs, path::Path, process::Command};

use libtest_mimic::{Failed, Trial};

const REFERENCE: &str = "docs/reference/cli.md";

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        Trial::test("commands::every_command_is_in_the_reference_with_an_example", documented),
        Trial::test("commands::help_fills_its_lines", || {
            filled(100)?;
            filled(70)
        }),
    ]
}

fn documented() -> Result<(), Failed> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(REFERENCE);
    let page = fs::read_to_string(page)?;
    let mut missing = Vec::new();
    for (name, help) in commands(100)? {
        if !page.contains(&format!("\n### `quintain {name}`\n")) {
            missing.push(format!("{REFERENCE} lacks `{name}`: run `cargo xtask docs`"));
        }
        if !help.contains("Example:") && !help.contains("Examples:") {
            missing.push(format!("the help of `{name}` has no example"));
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(missing.join("\n").into()) }
}

fn filled(width: usize) -> Result<(), Failed> {
    let mut uneven = Vec::new();
    for (name, help) in commands(width)? {
        let lines: Vec<&str> = help.lines().collect();
        for pair in lines.windows(2) {
            let [line, next] = pair else { continue };
            if is_broken_early(line, next, width) {
                uneven.push(format!("{name} at {width} columns:\n  {line}\n  {next}"));
            }
        }
    }
    if uneven.is_empty() { Ok(()) } else { Err(uneven.join("\n").into()) }
}

/// Whether a paragraph continues in the next line although its next word fits on this one.
fn is_broken_early(line: &str, next: &str, width: usize) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let is_text = |line: &str| {
        let text = line.trim_start();
        let own_line = ["-", "[", "quintain ", "Usage:", "Example:"];
        !text.is_empty() && !own_line.iter().any(|start| text.starts_with(start))
    };
    let Some(word) = next.split_whitespace().next() else { return false };
    // Lists of commands and arguments are tables.
    let is_table = |line: &str| line.trim_start().contains("  ") || line.trim().starts_with('<');
    is_text(line)
        && is_text(next)
        && indent(line) == indent(next)
        && !line.ends_with(':')
        && !is_table(line)
        && !is_table(next)
        && line.chars().count() + 1 + word.chars().count() <= width
}

/// All commands of the binary, with their help.
fn commands(width: usize) -> Result<Vec<(String, String)>, Failed> {
    let mut found = Vec::new();
    let mut open = vec![String::new()];
    while let Some(name) = open.pop() {
        let help = help(&name, width)?;
        let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        let list = list.take_while(|line| !line.is_empty());
        let below = list.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        for below in below.filter(|below| !below.is_empty() && *below != "help") {
            open.push(format!("{name} {below}").trim().to_owned());
        }
        if !name.is_empty() {
            found.push((name, help));
        }
    }
    if found.len() < 20 {
        return Err(format!("only {} commands were found", found.len()).into());
    }
    found.sort();
    Ok(found)
}

fn help(name: &str, width: usize) -> Result<String, Failed> {
    let output = Command::new(env!("CARGO_BIN_EXE_quintain"))
        .args(name.split_whitespace())
        .arg("--help")
        .env("COLUMNS", width.to_string())
        .env("NO_COLOR", "1")
        .output()?;
    if !output.status.success() {
        return Err(format!("`{name} --help` ended with {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
