//! Generated pages and sections of the documentation: `docs` regenerates them from the output of the binary,
//! `check` reports those that are out of date and broken links.

mod commands;
mod grading;
mod links;
mod pages;
mod recall;
mod tutorials;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{Result, process, python, stage::Note, workspace::Workspace};

/// Deviations from promptfoo that the tests of the corpus allow, with their reasons.
const DIFFERENCES: &str = "crates/quintain/tests/corpus/differences.json";

/// A page, or a section of one, and what it has to say.
struct Part {
    page: &'static str,
    /// None for a page that is generated as a whole.
    section: Option<&'static str>,
    text: String,
}

pub(crate) fn write(workspace: &Workspace) -> Result<Note> {
    let mut written = 0;
    for part in parts(workspace)? {
        let path = workspace.root.join(part.page);
        let old = fs::read_to_string(&path).unwrap_or_default();
        let new = part.applied(&old)?;
        if new != old {
            fs::write(&path, new).map_err(|error| format!("{}: {error}", part.page))?;
            println!("wrote {}", part.page);
            written += 1;
        }
    }
    let (binaries, folder) = tutorial_folders(workspace);
    written += tutorials::write(&workspace.root, &binaries, &folder)?;
    written += python::write_reference(workspace)?;
    Ok(Some(format!("{written} changed")))
}

pub(crate) fn check(workspace: &Workspace) -> Result<Note> {
    let parts = parts(workspace)?;
    let mut complaints = Vec::new();
    for part in &parts {
        let old = fs::read_to_string(workspace.root.join(part.page)).unwrap_or_default();
        if part.applied(&old)? != old {
            complaints.push(format!("{} is stale: run `cargo xtask docs`", part.page));
        }
    }
    complaints.dedup();
    let checked = links::check(&workspace.root, &mut complaints)?;
    let (binaries, folder) = tutorial_folders(workspace);
    let followed = tutorials::check(&workspace.root, &binaries, &folder, &mut complaints)?;
    if complaints.is_empty() {
        let parts = parts.len();
        let note =
            format!("{parts} generated parts, {checked} links, {followed} blocks of commands");
        println!("{note}: fine");
        return Ok(Some(note));
    }
    for complaint in &complaints {
        println!("- {complaint}");
    }
    Err(format!("{} mistake(s) in the documentation", complaints.len()))
}

/// Where the binary is, and where tutorials are followed.
fn tutorial_folders(workspace: &Workspace) -> (PathBuf, PathBuf) {
    (workspace.target.join("debug"), workspace.target.join("tutorials"))
}

fn parts(workspace: &Workspace) -> Result<Vec<Part>> {
    workspace.cargo(&["build", "--quiet", "--package", "quintain"], &[])?;
    let binary = workspace.target.join("debug/quintain");
    let json = |arguments: &[&str]| -> Result<Value> {
        let text = told(&binary, arguments)?;
        serde_json::from_str(&text).map_err(|error| format!("{arguments:?}: {error}"))
    };
    let commands = commands::all(&|arguments| told(&binary, arguments))?;
    let (assertions, detectors) =
        (json(&["list", "assertions", "--json"])?, json(&["list", "detectors", "--json"])?);
    let metrics = json(&["list", "metrics", "--json"])?;
    let folder = workspace.target.join("reference-of-grading");
    let graded = grading::graded(&folder, &metrics, &|arguments| printed(&binary, arguments))?;
    Ok(vec![
        Part::page("docs/reference/assertions.md", pages::assertions(&assertions, &detectors)?),
        Part::page(
            "docs/reference/reporters.md",
            pages::reporters(&json(&["list", "reporters", "--json"])?)?,
        ),
        Part::page(
            "docs/reference/attacks.md",
            pages::attacks(&json(&["list", "attacks", "--json"])?)?,
        ),
        Part::page(
            "docs/reference/strategies.md",
            pages::strategies(&json(&["list", "strategies", "--json"])?)?,
        ),
        Part::page(
            "docs/reference/targets.md",
            pages::targets(&json(&["list", "targets", "--json"])?)?,
        ),
        Part::page(
            "docs/reference/checks.md",
            grading::checks(&json(&["list", "checks", "--json"])?)?,
        ),
        Part::page("docs/reference/metrics.md", grading::metrics(&metrics, &graded)?),
        Part::page(
            "docs/reference/trace-formats.md",
            grading::trace_formats(&json(&["list", "trace-formats", "--json"])?, &graded)?,
        ),
        Part::page(
            "docs/reference/recall.md",
            recall::page(&workspace.root, &json(&["demo", "--weaknesses", "--json"])?)?,
        ),
        Part::section("docs/reference/cli.md", "commands", commands::table(&commands)),
        Part::section("docs/reference/cli.md", "help", commands::help(&commands)),
        Part::page("docs/reference/suite.schema.json", told(&binary, &["schema"])?),
        Part::section("docs/reference/suite.md", "keys", pages::keys(&json(&["schema"])?)),
        Part::section(
            "docs/explanations/promptfoo.md",
            "differences",
            pages::differences(&differences(&workspace.root)?)?,
        ),
    ])
}

/// What the binary prints, the same wherever it is run.
fn told(binary: &Path, arguments: &[&str]) -> Result<String> {
    process::capture(
        Command::new(binary).args(arguments).env("NO_COLOR", "1").env("COLUMNS", "100"),
    )
}

/// The same if the exit code does not matter: metrics that need a judge are errors without one.
fn printed(binary: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(binary);
    let output = command.args(arguments).env("NO_COLOR", "1").env("COLUMNS", "100").output();
    let output = output.map_err(|error| format!("{}: {error}", binary.display()))?;
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// A workspace without the file has no deviations.
fn differences(root: &Path) -> Result<Value> {
    match fs::read_to_string(root.join(DIFFERENCES)) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| format!("{DIFFERENCES}: {error}")),
        Err(_) => Ok(Value::Array(Vec::new())),
    }
}

impl Part {
    fn page(page: &'static str, text: String) -> Self {
        Self { page, section: None, text }
    }

    fn section(page: &'static str, name: &'static str, text: String) -> Self {
        Self { page, section: Some(name), text }
    }

    /// The page with this part as it should be.
    fn applied(&self, page: &str) -> Result<String> {
        let Some(name) = self.section else { return Ok(self.text.clone()) };
        let (open, close) = (format!("<!-- generated: {name} -->"), "<!-- end -->");
        let missing = || format!("{} lacks the lines `{open}` and `{close}`", self.page);
        let (before, rest) = page.split_once(&open).ok_or_else(missing)?;
        let (_, after) = rest.split_once(close).ok_or_else(missing)?;
        Ok(format!("{before}{open}\n\n{}\n\n{close}{after}", self.text.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_replaced_and_the_rest_of_the_page_kept() {
        let part = Part::section("page.md", "keys", "new\n".into());
        let page = "a\n<!-- generated: keys -->\nold\n<!-- end -->\nb\n";
        let wanted = "a\n<!-- generated: keys -->\n\nnew\n\n<!-- end -->\nb\n";
        assert_eq!(part.applied(page).as_deref(), Ok(wanted));
        assert_eq!(part.applied(wanted).as_deref(), Ok(wanted), "a second time changes nothing");
        assert!(part.applied("no markers").is_err());
    }
}
