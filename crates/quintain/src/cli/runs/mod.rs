//! `quintain runs`: the stored runs.

mod delete;
mod export;
mod list;
mod show;

use clap::Subcommand;
use quintain_engine::store::{Counts, Run, RunKind, StoreError};
use quintain_evidence::tally::Summary;
use quintain_source::visible;
use serde_json::{Value, json};

use super::{App, store};
use crate::exit::Exit;

/// List, show, delete and export earlier runs
///
/// Name a run by its id, by the start of its id, as `latest`, or as `latest~1` for the one before the
/// latest.
///
/// Examples:
///   quintain runs list
///   quintain runs show latest --failures
///   quintain runs export latest -o report.html
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Delete(delete::Args),
    Export(export::Args),
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    let done = async {
        let store = store::open(app).await?;
        match args.command {
            Command::List(args) => list::run(&args, &store, app).await,
            Command::Show(args) => show::run(&args, &store, app).await,
            Command::Delete(args) => delete::run(&args, &store, app).await,
            Command::Export(args) => export::run(&args, &store, app).await,
        }
    };
    done.await.unwrap_or_else(|error| failed(&error, app))
}

/// Prints an error of the store, or about the name of a run.
pub(super) fn failed(error: &StoreError, app: &App) -> Exit {
    app.console.error(&error.to_string(), help(error));
    Exit::Usage
}

/// Prints why a run has no findings to show.
pub(super) fn no_attacks(run: &Run, app: &App) {
    let id = &run.id;
    if run.kind == RunKind::Redteam {
        let help = "`quintain redteam run --resume` continues it";
        app.console.error(&format!("{id} did not finish, so it has no findings yet"), Some(help));
    } else {
        let help =
            "`quintain runs list` lists all runs; ids of red-team runs start with `redteam-`";
        app.console.error(&format!("{id} is not a red-team run"), Some(help));
    }
}

pub(super) fn help(error: &StoreError) -> Option<&'static str> {
    let is_name = matches!(error, StoreError::NoSuchRun { .. });
    is_name.then_some("`quintain runs list` lists the stored runs")
}

fn as_json(run: &Run, summary: Option<&Summary>) -> Value {
    json!({
        "id": run.id,
        "kind": run.kind.word(),
        "owner": run.owner,
        "created": run.created,
        "description": run.description,
        "state": run.state.word(),
        "summary": summary,
    })
}

/// A run in one line, with its formatted id.
fn line(run: &Run, id: &str) -> String {
    let described = run.description.as_deref().unwrap_or_default();
    let (kind, state) = (run.kind.word(), run.state.word());
    let owner = visible(&run.owner);
    let line =
        format!("{id}  {kind:7}  {state:13}  {owner}  {}  {}", counts(run), visible(described));
    line.trim_end().to_owned()
}

/// The numbers of passed, failed and errored cases.
fn counts(run: &Run) -> String {
    match run.counts {
        Some(Counts { passed, failed, errored }) => {
            let errors = if errored == 1 { "error" } else { "errors" };
            format!("{passed} passed, {failed} failed, {errored} {errors}")
        }
        None => "no totals".to_owned(),
    }
}
