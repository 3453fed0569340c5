//! `quintain redteam report`: shows the findings of an earlier run.

use quintain_engine::store::{RunKind, StoreError};

use crate::cli::reports::Show;
use crate::cli::{App, runs, store};
use crate::exit::Exit;

/// Show the findings of an earlier red-team run
///
/// Examples:
///   quintain redteam report
///   quintain redteam report latest -o findings.sarif
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Run to report
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    #[command(flatten)]
    show: Show,
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    match attempt(&args, app).await {
        Ok(exit) => exit,
        Err(error) => {
            app.console.error(&error.to_string(), store::help(&error));
            Exit::Usage
        }
    }
}

async fn attempt(args: &Args, app: &App) -> Result<Exit, StoreError> {
    let store = store::open(app).await?;
    let run = store.find_of(&args.run, Some(RunKind::Redteam)).await?;
    let summary = store.summary(&run).await?;
    let is_attack = summary.is_some_and(|summary| summary.redteam.is_some());
    if !is_attack {
        runs::no_attacks(&run, app);
        return Ok(Exit::Nothing);
    }
    let mut feed = match args.show.open(None, app) {
        Ok(feed) => feed,
        Err(wrong) => {
            wrong.report(app);
            return Ok(Exit::Usage);
        }
    };
    store.replay(&run, |event| feed.unmasked(event)).await?;
    if !feed.finish(&app.console) {
        return Ok(Exit::Usage);
    }
    Ok(Exit::Passed)
}
