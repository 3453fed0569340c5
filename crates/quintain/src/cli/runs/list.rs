//! `quintain runs list`

use quintain_engine::store::{RunFilter, Store, StoreError};

use super::{as_json, line};
use crate::cli::Desk;
use crate::console::Tone;
use crate::exit::Exit;

/// List earlier runs, newest first
///
/// Example: quintain runs list --json
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// So many at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Runs whose description contains this
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Runs with this tag
    #[arg(long, value_name = "NAME[=VALUE]")]
    tag: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &Store, desk: &Desk) -> Result<Exit, StoreError> {
    let tag = args.tag.as_deref().map(|tag| match tag.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (tag.to_owned(), None),
    });
    let description = args.description.clone();
    let runs =
        store.runs(&RunFilter { limit: Some(args.limit), description, tag, before: None }).await?;
    if args.json {
        desk.console.json(&runs.iter().map(as_json).collect());
        return Ok(Exit::Passed);
    }
    if runs.is_empty() {
        let asked = args.tag.is_some() || args.description.is_some();
        desk.console.note(if asked {
            "no run is like this"
        } else {
            "there are no runs yet; `quintain eval` makes one"
        });
    }
    for run in &runs {
        desk.console.out(&line(run, &desk.console.paint(Tone::Bold, &run.id)));
    }
    Ok(Exit::Passed)
}
