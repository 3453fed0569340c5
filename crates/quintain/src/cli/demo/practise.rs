//! Runs a suite on the practice target, as `quintain eval` would.

use std::sync::Arc;

use quintain_engine::World;
use quintain_engine::eval::{EvalOutcome, Job, Settings, execute};
use quintain_evidence::event::RunInfo;
use quintain_suite::plan::{Selection, plan};
use quintain_suite::suite::{Consent, Purpose, SuiteFile};
use serde_json::Map;

use super::folder;
use crate::cli::App;
use crate::cli::reports::{Feed, options};
use crate::cli::suite::{self, CliError};

const SUITE: &str = include_str!("suite.yaml");
/// File name of the suite, in the folder of its report.
pub(super) const FILE: &str = "suite.yaml";
pub(super) const REPORT: &str = "suite.html";

/// Runs the suite on a twin; prints the table, and writes the whole report to a file.
pub(super) async fn run(twin: &str, app: &App) -> Result<EvalOutcome, CliError> {
    let env = app.context.env.clone();
    let text = folder::suite(SUITE, app).replace("--patched", twin);
    folder::write(FILE, &text, app);
    let name = folder::path(FILE).display().to_string();
    let file = SuiteFile { name, text: text.into(), base_dir: app.context.cwd.clone() };
    // The suite is built in.
    let consent = Consent::of_the_user();
    let opened = suite::understand(vec![file], &env, Purpose::Run(consent), app)?;
    let plan = plan(&opened.suite, &Selection::default(), 1)
        .map_err(|error| suite::cli_error(error.to_string(), None))?;
    let created = app.context.now();
    let info = RunInfo {
        id: format!("demo-{created}"),
        created,
        description: opened.suite.description.clone(),
        config: opened.suite.config(),
        columns: plan.columns.clone(),
        planned: plan.cases.len(),
        options: Map::new(),
        tags: std::collections::BTreeMap::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        of_traces: false,
    };
    let mut feed = Feed::new(app);
    if let Err(why) = feed.own_file(&folder::path(REPORT), app) {
        // A folder that is not writable must not stop the demo.
        app.console.warn(&why);
    }
    if let Some(console) = quintain_report::find("console") {
        feed.stdout(console, &options(app));
    }
    let world = World { env: Arc::new(env), redactor: app.redactor.clone(), ..World::default() };
    let job = Job {
        consent,
        suite: &opened.suite,
        plan: &plan,
        sources: &opened.sources,
        world: &world,
        settings: &Settings::default(),
        info: &info,
        previous: None,
        recording: None,
        metrics: None,
    };
    let outcome =
        execute(&job, app.stop.clone(), None, &mut |emitted| feed.unmasked(emitted)).await;
    feed.finish_quietly(&app.console);
    Ok(outcome)
}
