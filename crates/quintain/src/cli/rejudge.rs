//! `quintain rejudge`: judge the answers of an earlier run again, without asking anybody.

use std::path::PathBuf;
use std::sync::Arc;

use quintain_engine::run::{Job, Recording, Settings, execute};
use quintain_engine::{World, masked};
use quintain_evidence::event::RunInfo;
use quintain_suite::plan::{Selection, plan};
use quintain_suite::suite::{Consent, Purpose};

use super::conclude::conclude;
use super::eval::{Begun, Progress};
use super::reports::Show;
use super::suite::{self, Wrong, say};
use super::{Desk, runs, store};
use crate::exit::Exit;

/// Judge the answers of an earlier run again
///
/// Takes the assertions of the suite as it was, or of other files named with -c: an edited suite is
/// tried on answers that are there already. Nothing is sent to a target. The result is a run of its
/// own.
///
/// Examples:
///   quintain rejudge latest
///   quintain rejudge eval-abc -c stricter.yaml -o report.html
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Which run
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    /// Suite file to judge by; any number of times
    #[arg(short, long, value_name = "FILE", num_args = 1..)]
    config: Vec<PathBuf>,
    #[command(flatten)]
    show: Show,
    /// Write snapshots that differ anew
    #[arg(short, long)]
    update_snapshots: bool,
    /// Exit code when a test fails [default: 100]
    #[arg(long, value_name = "CODE")]
    fail_exit_code: Option<u8>,
    /// Keep nothing of this run
    #[arg(long)]
    no_write: bool,
}

pub(super) async fn run(args: Args, desk: &Desk) -> Exit {
    let found = async {
        let store = store::open(desk).await?;
        Begun::find(store, &args.run, false).await
    };
    let begun = match found.await {
        Ok(begun) => begun,
        Err(error) => return runs::failed(&error, desk),
    };
    match again(&args, begun, desk).await {
        Ok(exit) => exit,
        Err(wrong) => {
            wrong.report(desk);
            Exit::Usage
        }
    }
}

async fn again(args: &Args, begun: Begun, desk: &Desk) -> Result<Exit, Wrong> {
    // Assertions in code judge here as they do in `eval`.
    let consent = Consent::of_the_user();
    let files = match &args.config[..] {
        [] => begun.files(desk)?,
        files => suite::read(files, Vec::new(), desk)?,
    };
    let env = &suite::masked_env(&files, &desk.context.env, desk);
    let opened = suite::understand(files, env, Purpose::Run(consent), desk)?;
    let repeat = begun.choices().repeat.or(opened.suite.tests.options.repeat).unwrap_or(1);
    let mut plan = plan(&opened.suite, &Selection::default(), repeat);
    let wrong = |error: quintain_engine::store::StoreError| say(error.to_string(), None);
    let (store, earlier) = (begun.store.clone(), begun.run.id.clone());
    let planned = plan.seats.len();
    let recording = Recording::of(begun.store, begun.run, &opened.suite, &mut plan, &desk.redactor);
    let recording = recording.await.map_err(wrong)?;
    if plan.seats.len() < planned {
        let missing = planned - plan.seats.len();
        desk.console.warn(&format!("{missing} of {planned} tests have no recorded answer"));
    }
    if plan.seats.is_empty() {
        let help = "tests are found again by their description and variables";
        desk.console.error(&format!("the run {earlier} answers no test of this suite"), Some(help));
        return Ok(Exit::Nothing);
    }
    let created = desk.context.now();
    let mut options = begun.info.options;
    options.insert("rejudged".to_owned(), earlier.into());
    let info = RunInfo {
        id: format!("rejudge-{}-{created}", desk.context.letters(3)),
        created,
        description: opened.suite.description.clone().or(begun.info.description),
        columns: plan.columns.clone(),
        planned: plan.seats.len(),
        options,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..begun.info
    };
    let info = masked::run(&info, &desk.redactor).into_owned();
    let mut feed = args.show.open(Some(&opened), desk)?;
    let world =
        World { env: Arc::new(env.clone()), redactor: desk.redactor.clone(), ..World::default() };
    let settings = Settings {
        update_snapshots: args.update_snapshots,
        write_new_snapshots: !env.contains_key("CI"),
        ..Settings::default()
    };
    desk.start_logging(false, false);
    let job = Job {
        consent,
        suite: &opened.suite,
        plan: &plan,
        sources: &opened.sources,
        world: &world,
        settings: &settings,
        info: &info,
        earlier: None,
        recording: Some(&recording),
    };
    let texts = suite::texts(&opened.files, &begun.given);
    let writer = (!args.no_write).then(|| store.start(&info, &texts, &desk.redactor));
    let mut progress = Progress::new(&desk.console, true);
    let outcome = execute(&job, desk.stop.clone(), writer, &mut |event| {
        progress.event(&event, || feed.event(&event));
    })
    .await;
    let written = feed.finish(&desk.console);
    Ok(conclude(&outcome, None, written, args.fail_exit_code, desk))
}
