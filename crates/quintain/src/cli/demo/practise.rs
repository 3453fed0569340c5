//! A suite over the practice target, as `quintain eval` would run it.

use std::path::Path;
use std::sync::Arc;

use quintain_engine::World;
use quintain_engine::run::{Job, Outcome, Settings, execute};
use quintain_evidence::event::RunInfo;
use quintain_suite::plan::{Selection, plan};
use quintain_suite::suite::{Consent, Purpose, SuiteFile};
use serde_json::Map;

use crate::cli::Desk;
use crate::cli::reports::{Feed, options};
use crate::cli::suite::{self, Wrong};

const SUITE: &str = include_str!("suite.yaml");
/// Where the report goes, beside the user.
const REPORT: &str = "quintain-demo/suite.html";

/// Runs the suite over a twin; the table goes to standard output, the whole to a file.
pub(super) async fn run(twin: &str, desk: &Desk) -> Result<Outcome, Wrong> {
    let mut env = desk.context.env.clone();
    let program = desk.context.program.display().to_string();
    env.insert("QUINTAIN_DEMO_PROGRAM".to_owned(), program);
    env.insert("QUINTAIN_DEMO_TWIN".to_owned(), twin.to_owned());
    let base_dir = desk.context.cwd.clone();
    let file = SuiteFile { name: "demo".to_owned(), text: SUITE.into(), base_dir };
    // The suite is our own.
    let consent = Consent::of_the_user();
    let opened = suite::understand(vec![file], &env, Purpose::Run(consent), desk)?;
    let plan = plan(&opened.suite, &Selection::default(), 1);
    let created = desk.context.now();
    let info = RunInfo {
        id: format!("demo-{created}"),
        created,
        description: opened.suite.description.clone(),
        config: opened.suite.config(),
        columns: plan.columns.clone(),
        planned: plan.seats.len(),
        options: Map::new(),
        tags: std::collections::BTreeMap::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let mut feed = Feed::new(desk);
    if let Err(why) = feed.file(Path::new(REPORT), desk) {
        // A folder that cannot be written to must not keep anybody from the demonstration.
        desk.console.warn(&why);
    }
    if let Some(console) = quintain_report::find("console") {
        feed.stdout(console, &options(desk));
    }
    let world = World { env: Arc::new(env), redactor: desk.redactor.clone(), ..World::default() };
    let job = Job {
        consent,
        suite: &opened.suite,
        plan: &plan,
        sources: &opened.sources,
        world: &world,
        settings: &Settings::default(),
        info: &info,
        earlier: None,
        recording: None,
    };
    let outcome = execute(&job, desk.stop.clone(), None, &mut |event| feed.event(&event)).await;
    feed.finish(&desk.console);
    Ok(outcome)
}
