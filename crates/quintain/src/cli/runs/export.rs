//! `quintain runs export`

use std::path::PathBuf;

use quintain_engine::store::{Store, StoreError};

use crate::cli::Desk;
use crate::cli::reports::Feed;
use crate::exit::Exit;

/// Write reports of an earlier run
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Which run
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    /// File to write, format by suffix: .json .jsonl .yaml .csv .html .md .txt .junit.xml; any
    /// number of times
    #[arg(short, long, value_name = "FILE", required = true)]
    output: Vec<PathBuf>,
}

pub(super) async fn run(args: &Args, store: &Store, desk: &Desk) -> Result<Exit, StoreError> {
    let run = store.find(&args.run).await?;
    let mut feed = Feed::new(desk);
    for path in &args.output {
        if let Err(why) = feed.file(path, desk) {
            desk.console.error(&why, None);
            return Ok(Exit::Usage);
        }
    }
    store.replay(&run, |event| feed.event(&event)).await?;
    let complete = feed.finish(&desk.console);
    Ok(if complete { Exit::Passed } else { Exit::Usage })
}
