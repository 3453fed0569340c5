//! `quintain runs list`

use clap::builder::{PossibleValuesParser, TypedValueParser};
use quintain_engine::store::{RunFilter, RunKind, Store, StoreError};

use super::{as_json, lines};
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
    /// Only runs of this kind
    #[arg(long, value_name = "KIND", value_parser = kinds())]
    kind: Option<RunKind>,
    /// Only runs of this owner; runs of the command line belong to `local`
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The kinds of runs, for help and completions.
fn kinds() -> impl TypedValueParser<Value = RunKind> {
    PossibleValuesParser::new(RunKind::ALL.map(RunKind::word))
        .try_map(|word| RunKind::find(&word).ok_or("it is unknown"))
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
            let is_graded = run.kind == RunKind::Grade;
            let scores = if is_graded { store.mean_scores(run).await? } else { Vec::new() };
            list.push(as_json(run, &scores));
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
    let paint = |id: &str| app.console.paint(Tone::Bold, id);
    lines(&runs, paint).iter().for_each(|line| app.console.out(line));
    Ok(Exit::Passed)
}
