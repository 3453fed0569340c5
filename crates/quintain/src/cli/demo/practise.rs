//! Runs a suite on the practice target, as `quintain eval` would.

use quintain_engine::jobs::{EvalWork, RunOutcome, RunRequest, Work};
use quintain_engine::store::SuiteText;

use super::folder;
use crate::cli::reports::{Feed, options};
use crate::cli::{App, job};
use crate::exit::Exit;

const SUITE: &str = include_str!("suite.yaml");
/// File name of the suite, in the folder of its report.
pub(super) const FILE: &str = "suite.yaml";
pub(super) const REPORT: &str = "suite.html";

/// Runs the suite on a twin; prints the table, and writes the whole report to a file.
pub(super) async fn run(twin: &str, app: &App) -> Result<RunOutcome, Exit> {
    let text = folder::suite(SUITE, app).replace("--patched", twin);
    folder::write(FILE, &text, app);
    let text = SuiteText {
        name: folder::path(FILE).display().to_string(),
        base_dir: app.context.cwd.clone(),
        text: text.into(),
    };
    let work = Work::Eval(Box::new(EvalWork { suite: vec![text], ..EvalWork::default() }));
    let request = RunRequest { stored: false, ..job::request("demo", work, app) };
    let prepared = job::prepare(&job::jobs(app, None), request, app).await;
    let prepared = prepared.map_err(|refusal| job::refused(&refusal, app).1)?;
    let mut feed = Feed::new(app);
    if let Err(why) = feed.own_file(&folder::path(REPORT), app) {
        // A folder that is not writable must not stop the demo.
        app.console.warn(&why);
    }
    if let Some(console) = quintain_report::find("console") {
        feed.stdout(console, &options(app));
    }
    let outcome = job::follow(prepared, app, |event| feed.event(event)).await;
    feed.finish_quietly(&app.console);
    outcome.map_err(|error| {
        app.console.error(&format!("the suite cannot be run: {error}"), None);
        Exit::Unreachable
    })
}
