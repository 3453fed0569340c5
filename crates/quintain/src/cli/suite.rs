//! Finds, reads and checks the suite of a command, and prints all its errors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quintain_engine::jobs::{RequestNotice, load_suite};
use quintain_engine::store::SuiteText;
use quintain_source::{Diagnostics, Renderer, Sources};
use quintain_suite::suite::{Purpose, SuiteFile};
use serde_json::{Map, Value, json};

pub(super) use quintain_engine::jobs::LoadedSuite;

use super::App;

/// Default suite files, in this order.
const DEFAULT_FILES: [&str; 4] =
    ["quintain.yaml", "quintain.yml", "promptfooconfig.yaml", "promptfooconfig.yml"];

/// Why there is no suite.
pub(super) enum CliError {
    /// Diagnostics were printed already.
    AlreadyReported,
    /// An error message, and advice.
    Message(String, Option<String>),
}

pub(super) fn cli_error(what: impl Into<String>, help: Option<String>) -> CliError {
    CliError::Message(what.into(), help)
}

impl CliError {
    /// Prints the error unless it was printed already, and returns it in short.
    pub(super) fn report(self, app: &App) -> String {
        match self {
            Self::AlreadyReported => "the suite has errors".to_owned(),
            Self::Message(what, help) => {
                app.console.error(&what, help.as_deref());
                what
            }
        }
    }
}

/// The named files, or else the default file of the working directory.
pub(super) fn find(named: &[PathBuf], app: &App) -> Vec<PathBuf> {
    let default = || {
        let files = DEFAULT_FILES.iter().map(PathBuf::from);
        let is_there = |file: &PathBuf| {
            let path = app.context.cwd.join(file);
            app.files.looked_at(&path);
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
    app: &App,
) -> Result<LoadedSuite, CliError> {
    understand(read(files, vars, app)?, env, purpose, app)
}

/// Reads the texts of the files.
pub(super) fn read(
    files: &[PathBuf],
    vars: Vec<(String, String)>,
    app: &App,
) -> Result<Vec<SuiteFile>, CliError> {
    let mut texts = Vec::new();
    for file in files {
        let path = app.context.cwd.join(file);
        let text = app
            .files
            .text(&path)
            .map_err(|error| cli_error(format!("cannot read `{}`: {error}", file.display()), None))?
            .into();
        let base_dir = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        texts.push(SuiteFile { name: file.display().to_string(), text, base_dir });
    }
    if !vars.is_empty() {
        let vars: Map<String, Value> =
            vars.into_iter().map(|(name, value)| (name, value.into())).collect();
        let text = json!({"defaultTest": {"vars": vars}}).to_string().into();
        let base_dir = app.context.cwd.clone();
        texts.push(SuiteFile { name: VARS.to_owned(), text, base_dir });
    }
    Ok(texts)
}

/// Checks texts as one suite.
pub(super) fn understand(
    files: Vec<SuiteFile>,
    env: &BTreeMap<String, String>,
    purpose: Purpose<'_>,
    app: &App,
) -> Result<LoadedSuite, CliError> {
    load_suite(files, env, app.files.clone(), purpose, &app.redactor, &mut |notice| {
        if let RequestNotice::Diagnostics(sources, diagnostics) = notice {
            show(sources, diagnostics, app);
        }
    })
    .ok_or(CliError::AlreadyReported)
}

/// Prints diagnostics of a suite.
pub(super) fn show(sources: &Sources, diagnostics: &Diagnostics, app: &App) {
    if !diagnostics.is_empty() {
        let renderer =
            if app.console.colours_errors() { Renderer::coloured() } else { Renderer::plain() };
        app.console.drawn(renderer.render_all(sources, diagnostics).trim_end());
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
