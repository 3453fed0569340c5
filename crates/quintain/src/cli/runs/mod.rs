//! `quintain runs`: the stored runs.

mod delete;
mod export;
mod list;
mod show;

use clap::Subcommand;
use quintain_engine::store::{Counts, MeanScore, Run, RunKind, StoreError};
use quintain_source::visible;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

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
    app.console.error(&error.to_string(), store::help(error));
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

/// A run in a list. Everything comes from columns, so that a list costs the same however large the runs are.
fn as_json(run: &Run, scores: &[MeanScore]) -> Value {
    let summary = run.counts.map(|Counts { passed, failed, errored }| {
        let mut summary = json!({
            "passed": passed, "failed": failed, "errored": errored, "durationMs": run.duration_ms,
        });
        if let Some(findings) = run.findings {
            summary["findings"] = findings.into();
        }
        if !scores.is_empty() {
            let scores = scores.iter().map(|one| (one.metric.clone(), one.score.into()));
            summary["metrics"] = Value::Object(scores.collect());
        }
        summary
    });
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

/// Runs as the lines of a table; `paint` formats their ids.
fn lines(runs: &[Run], paint: impl Fn(&str) -> String) -> Vec<String> {
    let columns = |run: &Run| -> [String; 5] {
        let (kind, state) = (run.kind.word().to_owned(), run.state.word().to_owned());
        [run.id.clone(), kind, state, visible(&run.owner).into_owned(), counts(run)]
    };
    let rows: Vec<_> = runs.iter().map(columns).collect();
    let width = |at: usize| rows.iter().map(|row| columns_of(&row[at])).max().unwrap_or_default();
    let widths: [usize; 5] = std::array::from_fn(width);
    let line = |(run, row): (&Run, &[String; 5])| {
        let mut line = String::new();
        for (at, (text, width)) in row.iter().zip(widths).enumerate() {
            let space = " ".repeat(width - columns_of(text));
            let text = if at == 0 { paint(text) } else { text.clone() };
            line.extend([text.as_str(), &space, "  "]);
        }
        line.push_str(&visible(run.description.as_deref().unwrap_or_default()));
        line.trim_end().to_owned()
    };
    runs.iter().zip(&rows).map(line).collect()
}

/// The number of columns that a text takes on a terminal.
fn columns_of(text: &str) -> usize {
    UnicodeWidthStr::width(text)
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
