//! `quintain runs export`

use std::path::PathBuf;

use quintain_engine::store::{Store, StoreError};
use quintain_report::suffixes;

use crate::cli::App;
use crate::cli::reports::{Feed, output_help};
use crate::exit::Exit;

/// Write reports of an earlier run
///
/// Example: quintain runs export latest -o report.html -o results.csv
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run to export
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    #[arg(short, long, value_name = "FILE", required = true, help = output_help("File to write", suffixes()))]
    output: Vec<PathBuf>,
}

pub(super) async fn run(args: &Args, store: &Store, app: &App) -> Result<Exit, StoreError> {
    let run = store.find(&args.run).await?;
    let mut feed = Feed::new(app);
    for path in &args.output {
        if let Err(why) = feed.file(path, app) {
            app.console.error(&why, None);
            return Ok(Exit::Usage);
        }
    }
    store.replay(&run, |event| feed.unmasked(event)).await?;
    let complete = feed.finish(&app.console);
    Ok(if complete { Exit::Passed } else { Exit::Usage })
}
