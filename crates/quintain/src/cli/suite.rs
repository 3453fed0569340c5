//! Finds, reads and checks the suite of a command, and prints all its errors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quintain_engine::jobs::{Notice, load_suite};
use quintain_engine::store::SuiteText;
use quintain_source::{Diagnostics, Renderer, Sources};
use quintain_suite::suite::{Purpose, SuiteFile};
use serde_json::{Map, Value, json};

pub(super) use quintain_engine::jobs::Opened;

use super::Desk;

/// Default suite files, in this order.
const DEFAULT_FILES: [&str; 4] =
    ["quintain.yaml", "quintain.yml", "promptfooconfig.yaml", "promptfooconfig.yml"];

/// Why there is no suite.
pub(super) enum Wrong {
    /// Diagnostics were printed already.
    Said,
    /// An error message, and advice.
    Say(String, Option<String>),
}

pub(super) fn say(what: impl Into<String>, help: Option<String>) -> Wrong {
    Wrong::Say(what.into(), help)
}

impl Wrong {
    /// Prints the error unless it was printed already, and returns it in short.
    pub(super) fn report(self, desk: &Desk) -> String {
        match self {
            Self::Said => "the suite has errors".to_owned(),
            Self::Say(what, help) => {
                desk.console.error(&what, help.as_deref());
                what
            }
        }
    }
}

/// The named files, or else the default file of the working directory.
pub(super) fn find(named: &[PathBuf], desk: &Desk) -> Vec<PathBuf> {
    let default = || {
        let files = DEFAULT_FILES.iter().map(PathBuf::from);
        let is_there = |file: &PathBuf| {
            let path = desk.context.cwd.join(file);
            desk.files.looked_at(&path);
            path.is_file()
        };
        files.into_iter().find(is_there)
    };
    match named {
        [] => default().into_iter().collect(),
        named => named.to_vec(),
    }
}

/// Variables from the command line are one more file of the suite; diagnostics show this name.
pub(super) const VARS: &str = "--var";

/// Reads the files as one suite. `vars` are defaults for all tests; a test can override them.
pub(super) fn open(
    files: &[PathBuf],
    vars: Vec<(String, String)>,
    env: &BTreeMap<String, String>,
    purpose: Purpose<'_>,
    desk: &Desk,
) -> Result<Opened, Wrong> {
    understand(read(files, vars, desk)?, env, purpose, desk)
}

/// Reads the texts of the files.
pub(super) fn read(
    files: &[PathBuf],
    vars: Vec<(String, String)>,
    desk: &Desk,
) -> Result<Vec<SuiteFile>, Wrong> {
    let mut texts = Vec::new();
    for file in files {
        let path = desk.context.cwd.join(file);
        let text = desk
            .files
            .text(&path)
            .map_err(|error| say(format!("cannot read `{}`: {error}", file.display()), None))?
            .into();
        let base_dir = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        texts.push(SuiteFile { name: file.display().to_string(), text, base_dir });
    }
    if !vars.is_empty() {
        let vars: Map<String, Value> =
            vars.into_iter().map(|(name, value)| (name, value.into())).collect();
        let text = json!({"defaultTest": {"vars": vars}}).to_string().into();
        let base_dir = desk.context.cwd.clone();
        texts.push(SuiteFile { name: VARS.to_owned(), text, base_dir });
    }
    Ok(texts)
}

/// Checks texts as one suite.
pub(super) fn understand(
    files: Vec<SuiteFile>,
    env: &BTreeMap<String, String>,
    purpose: Purpose<'_>,
    desk: &Desk,
) -> Result<Opened, Wrong> {
    load_suite(files, env, desk.files.clone(), purpose, &desk.redactor, &mut |notice| {
        if let Notice::Diagnostics(sources, diagnostics) = notice {
            show(sources, diagnostics, desk);
        }
    })
    .ok_or(Wrong::Said)
}

/// Prints diagnostics of a suite.
pub(super) fn show(sources: &Sources, diagnostics: &Diagnostics, desk: &Desk) {
    if !diagnostics.is_empty() {
        let renderer =
            if desk.console.colours_errors() { Renderer::coloured() } else { Renderer::plain() };
        desk.console.err(renderer.render_all(sources, diagnostics).trim_end());
    }
}

/// The files as parts of a request.
pub(super) fn texts(files: &[SuiteFile]) -> Vec<SuiteText> {
    let text = |file: &SuiteFile| SuiteText {
        name: file.name.clone(),
        base_dir: file.base_dir.clone(),
        text: file.text.clone(),
    };
    files.iter().map(text).collect()
}
