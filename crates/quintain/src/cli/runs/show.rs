//! `quintain runs show`

use quintain_engine::store::{AnswerLine, AnswerTotal, LOCAL_OWNER, RunState, Store, StoreError};
use quintain_evidence::event::Event;
use quintain_evidence::result::CaseStatus;
use quintain_report::{Options, StoredRun};
use serde_json::{Value, json};

use super::lines;
use crate::cli::App;
use crate::cli::job::jobs;
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
    /// Print case N, or the trace of this name, with all its evidence, as JSON
    #[arg(long, value_name = "N|NAME")]
    case: Option<String>,
    /// Print who answered the questions of checks and attacks, how long it took and what it cost, as JSON
    #[arg(long, conflicts_with_all = ["case", "failures"])]
    answers: bool,
    /// Follow a run that another process executes: print its results so far, then the next ones until it ends
    #[arg(long, conflicts_with_all = ["case", "answers"])]
    follow: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &Store, app: &App) -> Result<Exit, StoreError> {
    let run = store.find(&args.run).await?;
    if args.answers {
        let answers = store.answers(&run).await?;
        app.console.json(&answers.iter().map(answer).collect());
        return Ok(Exit::Passed);
    }
    if let Some(wanted) = &args.case {
        let ordinal = match wanted.parse() {
            Ok(ordinal) => Some(ordinal),
            Err(_) => store.trace_named(&run, wanted).await?,
        };
        let case = match ordinal {
            Some(ordinal) => store.case(&run, ordinal).await?,
            None => None,
        };
        let Some(case) = case else {
            let what = format!("the run {} has no case {wanted}", run.id);
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
        let paint = |id: &str| app.console.paint(Tone::Bold, id);
        let lines = lines(std::slice::from_ref(&run), paint);
        lines.iter().for_each(|line| app.console.out(line));
        if let Some(line) = answers_line(&store.answer_totals(&run).await?) {
            app.console.out(&line);
        }
        app.console.out("");
    }
    let wanted = |event: &Event| match event {
        Event::Case(case) => !args.failures || case.status != CaseStatus::Passed,
        _ => true,
    };
    let mut show = |event: Event| {
        if wanted(&event) {
            feed.unmasked(event);
        }
    };
    if args.follow && matches!(run.state, RunState::Running | RunState::Queued) {
        // The stored events first, then those that the process of the run adds.
        let mut listener = jobs(app, Some(store.clone())).listen(&run.id, 0, LOCAL_OWNER);
        while let Some(event) = listener.next().await? {
            show(event.event);
        }
    } else {
        store.replay(&run, show).await?;
    }
    feed.finish(&app.console);
    Ok(Exit::Passed)
}

fn answer(line: &AnswerLine) -> Value {
    let AnswerLine { case, key, kind, model, cost, duration_ms, record } = line;
    json!({
        "case": case, "key": key, "kind": kind, "model": model, "cost": cost,
        "durationMs": duration_ms, "record": record,
    })
}

/// `answers: 3 of model, 12 of script; 4.2 s, $0.0120`.
fn answers_line(totals: &[AnswerTotal]) -> Option<String> {
    let counts: Vec<String> =
        totals.iter().map(|one| format!("{} of {}", one.count, one.kind)).collect();
    let seconds = totals.iter().map(|one| one.duration_ms).sum::<f64>() / 1e3;
    let cost = totals.iter().filter_map(|one| one.cost).reduce(|sum, cost| sum + cost);
    let cost = cost.map_or_else(String::new, |cost| format!(", ${cost:.4}"));
    (!counts.is_empty()).then(|| format!("answers: {}; {seconds:.1} s{cost}", counts.join(", ")))
}
