//! `quintain runs delete`

use quintain_engine::store::{Pruned, Store, StoreError};
use serde_json::json;

use crate::cli::Desk;
use crate::exit::Exit;

/// Delete earlier runs for good
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Which runs
    #[arg(
        value_name = "RUN",
        required_unless_present_any = ["all", "before"],
        conflicts_with_all = ["all", "before"]
    )]
    runs: Vec<String>,
    /// Runs made before this moment, such as 2026-11-01
    #[arg(long, value_name = "MOMENT")]
    before: Option<String>,
    /// All of them
    #[arg(long, conflicts_with = "before")]
    all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &Store, desk: &Desk) -> Result<Exit, StoreError> {
    let mut found = Vec::new();
    // All have to be there before any is deleted.
    for wanted in &args.runs {
        found.push(store.find(wanted).await?);
    }
    let mut deleted = 0;
    if args.all {
        deleted += store.delete(Pruned::All).await?;
    }
    if let Some(moment) = &args.before {
        deleted += store.delete(Pruned::Before(moment)).await?;
    }
    for run in &found {
        deleted += store.delete(Pruned::One(run)).await?;
    }
    if args.json {
        desk.console.json(&json!({"deleted": deleted}));
    } else {
        let runs = if deleted == 1 { "run" } else { "runs" };
        desk.console.note(&format!("deleted {deleted} {runs}"));
    }
    Ok(Exit::Passed)
}
