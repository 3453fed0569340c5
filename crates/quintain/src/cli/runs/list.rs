//! `quintain runs list`

use quintain_engine::store::{RunFilter, RunKind, Store, StoreError};

use super::{as_json, line};
use crate::cli::App;
use crate::console::Tone;
use crate::exit::Exit;

/// List earlier runs, newest first
///
/// Example: quintain runs list --json
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Maximum number of runs
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Only runs whose description contains this
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Only runs with this tag
    #[arg(long, value_name = "NAME[=VALUE]")]
    tag: Option<String>,
    /// Only runs of this kind: eval, redteam, replay, rejudge
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<RunKind>,
    /// Only runs of this owner; runs of the command line belong to `local`
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn kind(word: &str) -> Result<RunKind, String> {
    RunKind::find(word).ok_or_else(|| {
        let known: Vec<&str> = RunKind::ALL.iter().map(|kind| kind.word()).collect();
        format!("expected one of {}", known.join(", "))
    })
}

pub(super) async fn run(args: &Args, store: &Store, app: &App) -> Result<Exit, StoreError> {
    let tag = args.tag.as_deref().map(|tag| match tag.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (tag.to_owned(), None),
    });
    let (description, owner, kind) = (args.description.clone(), args.owner.clone(), args.kind);
    let runs = store
        .runs(&RunFilter {
            limit: Some(args.limit),
            description,
            tag,
            owner,
            kind,
            ..RunFilter::default()
        })
        .await?;
    if args.json {
        let mut list = Vec::new();
        for run in &runs {
            list.push(as_json(run, store.summary(run).await?.as_ref()));
        }
        app.console.json(&list.into());
        return Ok(Exit::Passed);
    }
    if runs.is_empty() {
        let asked = args.tag.is_some() || args.description.is_some();
        let asked = asked || args.kind.is_some() || args.owner.is_some();
        app.console.note(if asked {
            "no run matches"
        } else {
            "no runs yet; run `quintain eval` to create one"
        });
    }
    for run in &runs {
        app.console.out(&line(run, &app.console.paint(Tone::Bold, &run.id)));
    }
    Ok(Exit::Passed)
}
