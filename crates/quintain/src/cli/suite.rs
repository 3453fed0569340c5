//! Finds, reads and checks the suite of a command; what is wrong with it is shown, all of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quintain_engine::secrets::{learn, learn_launch};
use quintain_engine::store::SuiteText;
use quintain_source::{Diagnostics, Renderer, Sources};
use quintain_suite::suite::{Loaded, Needed, Purpose, Suite, SuiteFile, load};
use serde_json::{Map, Value, json};

use super::Desk;
use super::target::Given;

/// Suite files that are read if none is named, in this order.
const DEFAULT_FILES: [&str; 4] =
    ["quintain.yaml", "quintain.yml", "promptfooconfig.yaml", "promptfooconfig.yml"];

/// A suite without errors.
pub(super) struct Opened {
    pub(super) suite: Suite,
    /// The texts that places of the suite point into.
    pub(super) sources: Sources,
    /// The files it was read from.
    pub(super) files: Vec<SuiteFile>,
}

/// Why there is no suite.
pub(super) enum Wrong {
    /// Diagnostics were printed already.
    Said,
    /// What is wrong, and advice.
    Say(String, Option<String>),
}

pub(super) fn say(what: impl Into<String>, help: Option<String>) -> Wrong {
    Wrong::Say(what.into(), help)
}

impl Wrong {
    /// Says what has not been said yet, and returns it in short.
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

/// The named files, or the one that lies around.
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

/// What the command line adds to a suite, as one more file of it; the name shows in diagnostics.
pub(super) const VARS: &str = "--var";

/// Reads the files as one suite. `vars` are defaults for all tests: a test that sets them wins.
pub(super) fn open(
    files: &[PathBuf],
    vars: Vec<(String, String)>,
    env: &BTreeMap<String, String>,
    purpose: Purpose<'_>,
    desk: &Desk,
) -> Result<Opened, Wrong> {
    understand(read(files, vars, desk)?, env, purpose, desk)
}

/// The texts of the files.
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

/// The environment as a stored run shows it: what is a secret of this suite is a mask there, and has to be
/// one in whatever is compared with it.
pub(super) fn masked_env(
    files: &[SuiteFile],
    env: &BTreeMap<String, String>,
    desk: &Desk,
) -> BTreeMap<String, String> {
    // Which variables are mentioned is seen without running anything; the suite itself is loaded after.
    let purpose = Purpose::Read(Needed::Nothing);
    let loaded = load(files.to_vec(), env, desk.files.clone(), purpose);
    learn(&loaded.secrets, &desk.redactor);
    let masked = |value: &String| desk.redactor.text(value).into_owned();
    env.iter().map(|(name, value)| (name.clone(), masked(value))).collect()
}

/// Checks texts as one suite.
pub(super) fn understand(
    files: Vec<SuiteFile>,
    env: &BTreeMap<String, String>,
    purpose: Purpose<'_>,
    desk: &Desk,
) -> Result<Opened, Wrong> {
    let Loaded { suite, diagnostics, sources, secrets } =
        load(files.clone(), env, desk.files.clone(), purpose);
    // Before anything is printed: diagnostics quote the suite.
    learn(&secrets, &desk.redactor);
    show(&sources, &diagnostics, desk);
    let suite = suite.ok_or(Wrong::Said)?;
    let targets = suite.targets.iter().filter_map(|target| target.as_mcp());
    for server in targets.flat_map(|target| &target.servers) {
        learn_launch(&server.launch, &desk.redactor);
    }
    Ok(Opened { suite, sources, files })
}

/// Shows what is wrong with a suite.
pub(super) fn show(sources: &Sources, diagnostics: &Diagnostics, desk: &Desk) {
    if !diagnostics.is_empty() {
        let renderer =
            if desk.console.colours_errors() { Renderer::coloured() } else { Renderer::plain() };
        desk.console.err(renderer.render_all(sources, diagnostics).trim_end());
    }
}

/// The files as a run keeps them, and what the command line said of the target; the store leaves out secrets.
pub(super) fn texts(files: &[SuiteFile], given: &Given) -> Vec<SuiteText> {
    let texts = files.iter().map(|file| SuiteText {
        name: file.name.clone(),
        base_dir: file.base_dir.clone(),
        text: file.text.to_string(),
    });
    texts.chain(given.text()).collect()
}
