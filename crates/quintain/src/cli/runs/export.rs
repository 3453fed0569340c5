//! `quintain runs export`

use std::path::PathBuf;

use quintain_engine::store::{Store, StoreError};
use quintain_evidence::event::Event;
use quintain_report::suffixes;

use crate::cli::reports::{Feed, output_help};
use crate::cli::save_traces::SavedTraces;
use crate::cli::suite::CliError;
use crate::cli::{App, output_files};
use crate::exit::Exit;

/// Write reports of an earlier run, or its conversations as traces
///
/// Examples:
///   quintain runs export latest -o report.html -o results.csv
///   quintain runs export latest --traces traces.jsonl
///   quintain runs export latest --traces cases.deepeval.jsonl
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Run to export
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    #[arg(short, long, value_name = "FILE", required_unless_present = "traces", help = output_help("File to write", suffixes()))]
    output: Vec<PathBuf>,
    /// File for the traces, `.jsonl` in our format or `.deepeval.jsonl`
    #[arg(long, value_name = "FILE")]
    traces: Option<PathBuf>,
}

impl Args {
    /// Opens all files, unless one of them cannot be written.
    fn open(&self, feed: &mut Feed, app: &App) -> Result<Option<SavedTraces>, CliError> {
        let named = self.output.iter().chain(&self.traces);
        output_files::check(named.map(PathBuf::as_path), app)?;
        for path in &self.output {
            feed.file(path, app)?;
        }
        self.traces.as_deref().map(|path| SavedTraces::create(path, app)).transpose()
    }
}

pub(super) async fn run(args: &Args, store: &Store, app: &App) -> Result<Exit, StoreError> {
    let run = store.find(&args.run).await?;
    let mut feed = Feed::new(app);
    let opened = args.open(&mut feed, app);
    let mut traces = match opened {
        Ok(traces) => traces,
        Err(wrong) => {
            wrong.report(app);
            return Ok(Exit::Usage);
        }
    };
    store
        .replay(&run, |event| {
            if let (Some(traces), Event::Case(case)) = (&mut traces, &event) {
                traces.add(case);
            }
            feed.unmasked(event);
        })
        .await?;
    let mut complete = feed.finish(&app.console);
    complete &= traces.is_none_or(|traces| traces.finish(&app.console));
    Ok(if complete { Exit::Passed } else { Exit::Usage })
}
