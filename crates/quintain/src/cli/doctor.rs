//! `quintain doctor`: checks the installation, and finds leftovers of killed runs.

use std::path::{Path, PathBuf};

use quintain_engine::model_readiness::{self, AskedModel, NamedModel, SuiteModels};
use quintain_engine::planted::{self, Leftover, Removal, is_private};
use quintain_engine::store::StoreError;
use quintain_source::visible;
use quintain_suite::suite::{Needed, Purpose};
use quintain_wire::auth::TokenStore;
use serde::Serialize;
use serde_json::json;

use super::suite::{self, CliError};
use super::{App, job, model_args, store};
use crate::console::Tone;
use crate::exit::Exit;

/// Check this installation, and list leftovers of killed runs
///
/// Shows which language models have a key in the environment. `--ask` sends a short question to the
/// models that you name, `-c` to those of a suite, and shows which model answers, how fast, and what
/// is missing for which assertions; nothing else is contacted.
///
/// A red-team run plants files and folders and removes them when it ends.
/// If it was killed, the next command removes its leftovers;
/// `--clean` removes them now.
///
/// Exits with code 100 if something is broken.
///
/// Examples:
///   quintain doctor
///   quintain doctor --clean
///   quintain doctor --ask openai:chat:gpt-5 --ask ollama:chat:llama3.2
///   quintain doctor -c suite.yaml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Remove leftovers of killed runs
    #[arg(long)]
    clean: bool,
    /// Ask this model a short question, or the models of the suite; repeatable
    #[arg(long, value_name = "MODEL", num_args = 0..=1, default_missing_value = "")]
    ask: Vec<String>,
    /// Suite file with the models to ask; repeatable
    #[arg(short, long, value_name = "FILE", num_args = 1..)]
    config: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Programs that some features need, and the features.
const PROGRAMS: [(&str, &str); 3] = [
    ("git", "red-team runs plant a canary repository"),
    ("python3", "assertions and targets in Python"),
    ("node", "assertions and targets in JavaScript with modules"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Warning,
    Error,
}

/// One checked thing, and its result.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

impl Check {
    fn new(name: &'static str, status: Status, detail: impl Into<String>) -> Self {
        Self { name, status, detail: detail.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    let state_dir = app.context.state_dir();
    let state_dir = state_dir.as_deref();
    let removal =
        if args.clean { planted::remove_leftovers(state_dir) } else { Removal::default() };
    let mut checks = vec![state(state_dir), runs(state_dir, app).await, logins(state_dir)];
    let found = planted::leftovers(state_dir);
    checks.push(leftovers(&found, &removal));
    checks.extend(programs(app));
    checks.push(providers(app));
    let models = match named_models(&args, app) {
        Ok(models) => models,
        Err(wrong) => {
            wrong.report(app);
            return Exit::Usage;
        }
    };
    let asked = ask(&models.named, app).await;
    checks.extend(asked.iter().map(answer));
    checks.extend(models.unnamed.iter().map(|kind| unnamed(kind)));
    if args.json {
        let removed: Vec<&PathBuf> = removal.removed.iter().collect();
        let left: Vec<&PathBuf> =
            found.iter().filter(|one| !one.is_running).flat_map(|one| &one.paths).collect();
        let version = env!("CARGO_PKG_VERSION");
        app.console.json(&json!({
            "checks": checks, "left": left, "removed": removed, "models": asked,
            "quintain": {"version": version}
        }));
    } else {
        print(&checks, &removal, app);
    }
    let is_broken = checks.iter().any(|check| check.status == Status::Error);
    if is_broken { Exit::Failed } else { Exit::Passed }
}

/// The providers of models whose keys are set.
fn providers(app: &App) -> Check {
    let found = model_readiness::configured(&app.context.env);
    if found.is_empty() {
        return Check::new("models", Status::Ok, "no key is set").hint(
            "only assertions, metrics and targets that name a model need one; a server on this machine needs no \
             key: `{id: openai:chat:NAME, config: {apiBaseUrl: 'http://127.0.0.1:8080/v1'}}`",
        );
    }
    let named = found.iter().map(|one| format!("{} ({})", one.id, one.variables.join(", ")));
    let named = named.collect::<Vec<_>>().join(", ");
    Check::new("models", Status::Ok, named).hint("`quintain doctor --ask MODEL` asks one")
}

/// The models to ask.
fn named_models(args: &Args, app: &App) -> Result<SuiteModels, CliError> {
    let mut models = SuiteModels::default();
    for text in args.ask.iter().filter(|text| !text.is_empty()) {
        let model = model_args::named(text);
        let model = model.map_err(|why| suite::cli_error(format!("--ask: {why}"), None))?;
        models.named.push(NamedModel::of_command_line(model));
    }
    if args.ask.iter().any(String::is_empty) || !args.config.is_empty() {
        let files = suite::find(&args.config, app);
        if files.is_empty() {
            let help = "name a model, or a suite with `-c FILE`".to_owned();
            return Err(suite::cli_error("--ask names no model", Some(help)));
        }
        let purpose = Purpose::Read(Needed::Nothing);
        let opened = suite::open(&files, Vec::new(), &app.context.env, purpose, app)?;
        let SuiteModels { named, unnamed } = model_readiness::of_suite(&opened.suite);
        models.named.extend(named);
        models.unnamed = unnamed;
        if models.named.is_empty() && models.unnamed.is_empty() {
            return Err(suite::cli_error("the suite names no model", None));
        }
    }
    Ok(models)
}

async fn ask(models: &[NamedModel], app: &App) -> Vec<AskedModel> {
    let jobs = job::jobs(app, None);
    let mut asked = Vec::new();
    for model in models {
        asked.push(model_readiness::ask(model, &jobs.world).await);
    }
    asked
}

/// An assertion that lacks a judge.
fn unnamed(kind: &str) -> Check {
    Check::new("model", Status::Warning, format!("`{kind}` needs a judge, and none is named")).hint(
        "name one with `provider` of the assertion, `defaultTest.options.provider`, `judge` of the suite or `--judge MODEL`",
    )
}

fn answer(asked: &AskedModel) -> Check {
    const NAME: &str = "model";
    let AskedModel { id, model, endpoint, took_ms, error, used_by } = asked;
    let place = endpoint.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
    let users =
        if used_by.is_empty() { String::new() } else { format!(" ({})", used_by.join(", ")) };
    let place = format!("{place}{users}");
    if let Some(error) = error {
        let check = Check::new(NAME, Status::Error, format!("{id}{place}: {error}"));
        let needs_options = error.contains("config:");
        return if needs_options {
            check.hint(
                "`quintain doctor --ask -c FILE` asks the models of a suite with their `config`",
            )
        } else {
            check
        };
    }
    let model = model.as_deref().unwrap_or("it");
    let took = took_ms.unwrap_or_default();
    Check::new(NAME, Status::Ok, format!("{id}{place}: {model} answered in {took} ms"))
}

fn print(checks: &[Check], removal: &Removal, app: &App) {
    let console = &app.console;
    for check in checks {
        let (word, tone) = match check.status {
            Status::Ok => ("ok", Tone::Green),
            Status::Warning => ("warning", Tone::Yellow),
            Status::Error => ("error", Tone::Red),
        };
        let word = console.paint(tone, &format!("{word:7}"));
        let name = console.paint(Tone::Bold, &format!("{:15}", check.name));
        console.out(&format!("{word}  {name}  {}", one_line(&check.detail)));
        if let Some(hint) = &check.hint {
            console.out(&format!("{:26}{}", "", one_line(hint)));
        }
    }
    for path in &removal.removed {
        console.out(&format!("removed  {}", one_line(&path.to_string_lossy())));
    }
}

/// File names may contain line breaks.
fn one_line(text: &str) -> String {
    visible(text).replace(['\n', '\t'], " ")
}

fn state(folder: Option<&Path>) -> Check {
    const NAME: &str = "state directory";
    let Some(folder) = folder else {
        return Check::new(NAME, Status::Error, "no home directory")
            .hint("set QUINTAIN_HOME to a folder for runs and logins");
    };
    let shown = folder.display().to_string();
    if !folder.exists() {
        let above = folder.ancestors().find(|above| above.exists());
        let is_possible = above.and_then(|above| above.metadata().ok());
        if is_possible.is_none_or(|found| !found.is_dir() || found.permissions().readonly()) {
            return Check::new(NAME, Status::Error, format!("{shown} cannot be created"))
                .hint("set QUINTAIN_HOME to a folder for runs and logins");
        }
        return Check::new(NAME, Status::Ok, format!("{shown} (created by the first run)"));
    }
    if !folder.is_dir() {
        return Check::new(NAME, Status::Error, format!("{shown} is not a folder"))
            .hint("move it away, or set QUINTAIN_HOME to another folder");
    }
    if !is_private(folder) {
        return Check::new(NAME, Status::Warning, format!("{shown} is open to other users"))
            .hint("stored runs contain what targets returned; run `chmod 700` on it");
    }
    Check::new(NAME, Status::Ok, shown)
}

async fn runs(folder: Option<&Path>, app: &App) -> Check {
    const NAME: &str = "stored runs";
    // A check must not create anything.
    let Some(folder) = folder.filter(|folder| folder.join("runs.db").exists()) else {
        return Check::new(NAME, Status::Ok, "none");
    };
    let counted = async {
        let store = store::open_folder(folder, app).await?;
        store.check().await?;
        Ok((store.count().await?, store.exposure()))
    };
    match counted.await {
        Ok((count, Some(why))) => {
            Check::new(NAME, Status::Warning, format!("{count}; {why}")).hint(store::PRIVATE)
        }
        Ok((count, None)) => Check::new(NAME, Status::Ok, count.to_string()),
        Err::<_, StoreError>(error) => Check::new(NAME, Status::Error, error.to_string())
            .hint("move the file away to start with an empty store"),
    }
}

fn logins(folder: Option<&Path>) -> Check {
    const NAME: &str = "logins";
    match folder.map(|folder| TokenStore::new(folder).list()) {
        None => Check::new(NAME, Status::Ok, "none"),
        Some(Ok(logins)) if logins.is_empty() => Check::new(NAME, Status::Ok, "none"),
        Some(Ok(logins)) => Check::new(NAME, Status::Ok, logins.len().to_string()),
        Some(Err(error)) => Check::new(NAME, Status::Error, error.to_string()),
    }
}

fn leftovers(found: &[Leftover], removal: &Removal) -> Check {
    const NAME: &str = "leftover files";
    const SHOWN: usize = 3;
    let running = found.iter().filter(|one| one.is_running).count();
    let running = match running {
        0 => String::new(),
        1 => "; 1 red-team run is in progress".to_owned(),
        more => format!("; {more} red-team runs are in progress"),
    };
    if let Some((path, why)) = removal.not_removed.first() {
        let detail = format!("{} cannot be removed: {why}{running}", path.display());
        return Check::new(NAME, Status::Warning, detail).hint("remove it yourself");
    }
    let paths: Vec<&PathBuf> =
        found.iter().filter(|one| !one.is_running).flat_map(|one| &one.paths).collect();
    if paths.is_empty() {
        return Check::new(NAME, Status::Ok, format!("none{running}"));
    }
    let shown: Vec<String> =
        paths.iter().take(SHOWN).map(|path| path.display().to_string()).collect();
    let more = if paths.len() > SHOWN { ", ..." } else { "" };
    let detail = format!(
        "{} files and folders of killed runs: {}{more}{running}",
        paths.len(),
        shown.join(", ")
    );
    Check::new(NAME, Status::Warning, detail).hint("`quintain doctor --clean` removes them")
}

fn programs(app: &App) -> Vec<Check> {
    let search = app.context.env.get("PATH").cloned().unwrap_or_default();
    let find = |name: &str| {
        std::env::split_paths(&search).map(|folder| folder.join(name)).find(|path| path.is_file())
    };
    let check = |(name, what): (&'static str, &str)| match find(name) {
        Some(path) => Check::new(name, Status::Ok, path.display().to_string()),
        None => Check::new(name, Status::Warning, "not found").hint(format!("needed for: {what}")),
    };
    PROGRAMS.map(check).into()
}
