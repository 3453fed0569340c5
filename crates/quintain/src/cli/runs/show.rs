//! `quintain runs show`

use quintain_engine::store::{Store, StoreError};
use quintain_evidence::event::Event;
use quintain_evidence::result::CaseStatus;
use quintain_report::{Options, StoredRun};
use serde_json::Value;

use super::line;
use crate::cli::App;
use crate::cli::reports::{Feed, options};
use crate::console::Tone;
use crate::exit::Exit;

/// Show an earlier run as it was reported
///
/// Example: quintain runs show latest~1
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run to show
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    /// Show only cases that did not pass
    #[arg(long)]
    failures: bool,
    /// Print case N with all its evidence, as JSON
    #[arg(long, value_name = "N")]
    case: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &Store, app: &App) -> Result<Exit, StoreError> {
    let run = store.find(&args.run).await?;
    if let Some(ordinal) = args.case {
        let Some(case) = store.case(&run, ordinal).await? else {
            let what = format!("the run {} has no case {ordinal}", run.id);
            app.console.error(&what, Some("cases are counted from 0"));
            return Ok(Exit::Nothing);
        };
        // Plain data always has a JSON form.
        app.console.json(&serde_json::to_value(&case).unwrap_or(Value::Null));
        return Ok(Exit::Passed);
    }
    let format = if args.json { "json" } else { "console" };
    let Some(reporter) = quintain_report::find(format) else { return Ok(Exit::Nothing) };
    let mut feed = Feed::new(app);
    let stored = StoredRun {
        kind: run.kind.word().to_owned(),
        owner: run.owner.clone(),
        state: run.state.word().to_owned(),
    };
    feed.stdout(reporter, &Options { stored: Some(stored), ..options(app) });
    if !args.json {
        app.console.out(&line(&run, &app.console.paint(Tone::Bold, &run.id)));
        app.console.out("");
    }
    let wanted = |event: &Event| match event {
        Event::Case(case) => !args.failures || case.status != CaseStatus::Passed,
        _ => true,
    };
    store
        .replay(&run, |event| {
            if wanted(&event) {
                feed.unmasked(event);
            }
        })
        .await?;
    feed.finish(&app.console);
    Ok(Exit::Passed)
}
