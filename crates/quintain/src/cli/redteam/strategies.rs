//! `quintain redteam strategies`: lists the strategies.

use quintain_redteam::strategies;
use serde_json::json;

use crate::cli::App;
use crate::exit::Exit;

/// List the strategies
///
/// Examples:
///   quintain redteam strategies
///   quintain redteam strategies --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Exit {
    if args.json {
        let all = strategies::all().iter().map(|strategy| {
            let meta = strategy.meta();
            json!({"id": meta.id, "aliases": meta.aliases, "summary": meta.summary,
                "suits": strategy.suits().describe()})
        });
        app.console.json(&all.collect());
        return Exit::Passed;
    }
    let width = strategies::all().iter().map(|one| one.meta().id.len()).max().unwrap_or(0);
    for strategy in strategies::all() {
        let meta = strategy.meta();
        let suits = strategy.suits().word();
        app.console.out(&format!("{:width$}  {suits:6}  {}", meta.id, meta.summary));
    }
    Exit::Passed
}
