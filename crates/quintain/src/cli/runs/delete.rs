//! `quintain runs delete`

use quintain_engine::store::{Cutoff, Run, RunFilter, RunState, Store, StoreError};
use serde_json::json;

use super::lines;
use crate::cli::App;
use crate::cli::ask_user::ask_user;
use crate::exit::Exit;

/// Delete earlier runs permanently
///
/// Deleting more than one run asks for confirmation, or needs `--yes` without a terminal.
/// Runs that are still running are not deleted.
///
/// Examples:
///   quintain runs delete latest
///   quintain runs delete --before 7d
///   quintain runs delete --before 2026-11-01 --yes
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Runs to delete
    #[arg(
        value_name = "RUN",
        required_unless_present_any = ["all", "before"],
        conflicts_with_all = ["all", "before"]
    )]
    runs: Vec<String>,
    /// Delete runs older than this: a span (30m, 12h, 7d, 2w), a date (2026-11-01, in UTC) or an RFC
    /// 3339 timestamp
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    before: Option<Cutoff>,
    /// Delete all runs
    #[arg(long, conflicts_with = "before")]
    all: bool,
    /// Delete without asking
    #[arg(short, long)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Maximum number of runs to list.
const NAMED: usize = 10;

pub(super) async fn run(args: &Args, store: &Store, app: &App) -> Result<Exit, StoreError> {
    let (running, chosen): (Vec<Run>, Vec<Run>) =
        chosen(args, store, app).await?.into_iter().partition(is_running);
    if let (Some(run), false) = (running.first(), args.runs.is_empty()) {
        app.console.error(
            &format!("{} is still running", run.id),
            Some("nothing was deleted; wait until it ends, or stop it with Ctrl-C"),
        );
        return Ok(Exit::Usage);
    }
    for run in &running {
        app.console.warn(&format!("{} is still running and is not deleted", run.id));
    }
    if chosen.len() > 1 && !args.yes {
        let what = span(&chosen);
        if !app.context.answers {
            app.console.error(
                &format!("refusing to delete without confirmation: {what}\n{}", names(&chosen)),
                Some("nothing was deleted; add `--yes` to delete them"),
            );
            return Ok(Exit::Usage);
        }
        let text = format!(
            "this deletes {what}\n{}\ndelete them permanently? [y]es, [N]o",
            names(&chosen)
        );
        let answer = ask_user(&text, app).await.to_ascii_lowercase();
        if !matches!(answer.as_str(), "y" | "yes") {
            app.console.note("nothing was deleted");
            return Ok(Exit::Passed);
        }
    }
    let deleted = store.delete(&chosen).await?;
    if args.json {
        let ids: Vec<&str> = chosen.iter().map(|run| run.id.as_str()).collect();
        app.console.json(&json!({"deleted": deleted, "runs": ids}));
    } else if chosen.is_empty() {
        app.console.note("deleted 0 runs");
    } else {
        app.console.note(&format!("deleted {}\n{}", span(&chosen), names(&chosen)));
    }
    Ok(Exit::Passed)
}

/// The runs to delete, newest first. Fails before any run is deleted if one of them does not exist.
async fn chosen(args: &Args, store: &Store, app: &App) -> Result<Vec<Run>, StoreError> {
    if args.all || args.before.is_some() {
        let before = args.before.map(|cutoff| cutoff.moment(app.context.time()));
        return store.runs(&RunFilter { before, ..RunFilter::default() }).await;
    }
    let mut found: Vec<Run> = Vec::new();
    for wanted in &args.runs {
        let run = store.find(wanted).await?;
        if found.iter().all(|earlier| earlier.id != run.id) {
            found.push(run);
        }
    }
    found.sort_by(|a, b| b.created.cmp(&a.created));
    Ok(found)
}

fn is_running(run: &Run) -> bool {
    matches!(run.state, RunState::Running | RunState::Queued)
}

/// The number of runs, and their period.
fn span(runs: &[Run]) -> String {
    match runs {
        [newest, .., oldest] => {
            format!("{} runs, from {} to {}", runs.len(), oldest.created, newest.created)
        }
        runs => format!("{} run", runs.len()),
    }
}

fn names(runs: &[Run]) -> String {
    let mut lines: Vec<String> = lines(&runs[..runs.len().min(NAMED)], str::to_owned)
        .iter()
        .map(|line| format!("  {line}"))
        .collect();
    if runs.len() > NAMED {
        lines.push(format!("  and {} more", runs.len() - NAMED));
    }
    lines.join("\n")
}
