//! `quintain redteam run`: one campaign, from the orders to an exit code.

use std::path::{Path, PathBuf};
use std::time::Duration;

use quintain_core::event::{Column, Event, RunInfo};
use quintain_core::finding::{Confidence, Severity};
use quintain_core::probe::Step;
use quintain_core::redteam::{Orders, Suppression, read_suppressions};
use quintain_core::result::TargetName;
use quintain_core::suite::Launch;
use quintain_engine::redteam::{Campaign, RedteamError, execute};
use quintain_source::{Diagnostics, Renderer, SourceFile, Sources};
use serde_json::{Map, Value};

use super::orders;
use crate::cli::eval::Progress;
use crate::cli::reports::Show;
use crate::cli::suite::Opened;
use crate::cli::target::{self, TargetArgs};
use crate::cli::{Desk, runs, store};
use crate::exit::Exit;

/// Attack a target: survey, learn, attack, confirm, report
///
/// Only a target that you name is attacked, with benign payloads. One that is not on this machine needs
/// --allow-remote; tools that may destroy something need --include-destructive.
///
/// Examples:
///   quintain redteam run -- python3 server.py
///   quintain redteam run --plugins sql-injection,path-traversal --url http://127.0.0.1:3000/mcp
///   quintain redteam run -c quintain.yaml -o findings.json --fail-on medium
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Attacks and collections, separated by commas [default: those of the suite, else all]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    plugins: Vec<String>,
    /// Places that each attack is tried on at most
    #[arg(long, value_name = "N")]
    num_tests: Option<usize>,
    /// Calls of the whole run at most
    #[arg(long, value_name = "N")]
    budget_calls: Option<usize>,
    /// Seconds of the whole run at most
    #[arg(long, value_name = "N")]
    budget_seconds: Option<u64>,
    /// Where chance begins; the same seed makes the same attempts
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Bouts at the same time [default: 4]
    #[arg(short = 'j', long, value_name = "N")]
    jobs: Option<usize>,
    /// Call tools that may destroy something, too
    #[arg(long)]
    include_destructive: bool,
    /// Attack a target that is not on this machine; you must be allowed to
    #[arg(long)]
    allow_remote: bool,
    /// Exit with 100 if a confirmed finding is as severe as this: info, low, medium, high, critical
    /// [default: that of the suite, else low]
    #[arg(long, value_name = "SEVERITY", value_parser = ["info", "low", "medium", "high", "critical"])]
    fail_on: Option<String>,
    /// In the place of exit code 100
    #[arg(long, value_name = "CODE")]
    fail_exit_code: Option<u8>,
    /// Findings that are accepted: a YAML or JSON list of `fingerprint`, `reason`, `expires`
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Keep nothing in the store
    #[arg(long)]
    no_write: bool,
    /// Show no progress
    #[arg(long)]
    no_progress_bar: bool,
    #[command(flatten)]
    show: Show,
    // Last, since its heading would cover the options after it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(super) async fn run(args: Args, desk: &Desk) -> Exit {
    let (target, world, opened) = match args.target.resolve_with_suite(desk, args.show.json) {
        Ok(resolved) => resolved,
        Err(exit) => return exit,
    };
    let orders = match adjusted(&args, opened.as_ref(), desk) {
        Ok(orders) => orders,
        Err(exit) => return exit,
    };
    let mut feed = match args.show.open(&[], desk) {
        Ok(feed) => feed,
        Err(what) => {
            desk.console.error(&what, None);
            return Exit::Usage;
        }
    };
    let store = if args.no_write { None } else { store::open(desk).await.ok() };
    let name = target.servers.first().map_or("mcp", |server| server.name.as_str()).to_owned();
    let reproduce = |step: &Step| reproduction(step, &target.servers.first()?.launch);
    let campaign = Campaign {
        target: &target,
        name: &name,
        world: &world,
        orders: &orders,
        reproduce: &reproduce,
        past: None,
    };
    let mut progress = Progress::new(&desk.console, !args.no_progress_bar && !args.show.json);
    let info = |planned| info(&name, &orders, planned, desk);
    let outcome = execute(
        &campaign,
        info,
        desk.stop.clone(),
        |info| store.as_ref().map(|store| store.start(info, &[])),
        &mut |event: Event<'_>| {
            progress.event(event, || feed.event(event));
        },
    )
    .await;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => return failed(&error, &target, desk),
    };
    let written = feed.finish(&desk.console);
    if let Some(why) = &outcome.unsaved {
        desk.console.error(&format!("the run could not be kept: {why}"), None);
    }
    let Some(report) = &outcome.summary.redteam else { return Exit::Nothing };
    if outcome.summary.interrupted {
        desk.console.err("interrupted; what was found is reported");
        return Exit::Interrupted;
    }
    if !written {
        return Exit::Usage;
    }
    let limit = args.fail_on.as_deref().and_then(Severity::find);
    let limit = limit.or(orders.fail_on).unwrap_or(Severity::Low);
    let counts = |finding: &&quintain_core::finding::Finding| {
        finding.confidence == Confidence::Confirmed
            && finding.severity >= limit
            && finding.note.is_none()
    };
    if report.findings.iter().any(|finding| counts(&finding)) {
        return args.fail_exit_code.map_or(Exit::Failed, Exit::FailedWith);
    }
    if report.attacks.iter().all(|attack| attack.bouts == 0) {
        desk.console.err("nothing could be attacked");
        return Exit::Nothing;
    }
    Exit::Passed
}

pub(in crate::cli) fn failed(
    error: &RedteamError,
    target: &quintain_core::suite::McpTarget,
    desk: &Desk,
) -> Exit {
    match error {
        RedteamError::Remote => {
            let help = "--allow-remote attacks it all the same; you must be allowed to";
            desk.console.error(&error.to_string(), Some(help));
            Exit::Usage
        }
        RedteamError::Open(open) => {
            desk.console.error(&open.to_string(), target::advice(open, target).as_deref());
            target::exit_of(open)
        }
        RedteamError::Ground(_) => {
            desk.console.error(&error.to_string(), None);
            Exit::Unreachable
        }
        RedteamError::Store(store) => {
            desk.console.error(&store.to_string(), runs::help(store));
            Exit::Usage
        }
    }
}

/// What the suite orders, with what the command line says over it.
fn adjusted(args: &Args, opened: Option<&Opened>, desk: &Desk) -> Result<Orders, Exit> {
    let mut orders = orders::of_suite(opened, desk)?;
    if !args.plugins.is_empty() {
        orders.plugins.clear();
        orders.not_run.clear();
        for name in &args.plugins {
            if let Err(meant) = orders.add(name.trim(), None, None) {
                let help = match meant {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => "`quintain redteam plugins` shows all of them".to_owned(),
                };
                desk.console.error(&format!("there is no attack `{name}`"), Some(&help));
                return Err(Exit::Usage);
            }
        }
    }
    if args.num_tests.is_some() {
        orders.plugins.iter_mut().for_each(|plugin| plugin.num_tests = args.num_tests);
    }
    orders.budget_calls = args.budget_calls.or(orders.budget_calls);
    let seconds = args.budget_seconds.map(Duration::from_secs);
    orders.budget_time = seconds.or(orders.budget_time);
    orders.seed = args.seed.unwrap_or(orders.seed);
    orders.concurrency = args.jobs.unwrap_or(orders.concurrency);
    orders.destructive |= args.include_destructive;
    orders.allow_remote = args.allow_remote;
    if let Some(file) = &args.baseline {
        orders.suppressions = suppressions(file, desk)?;
        orders.today = desk.context.now().chars().take(10).collect();
    }
    Ok(orders)
}

/// The accepted findings of a file.
fn suppressions(file: &Path, desk: &Desk) -> Result<Vec<Suppression>, Exit> {
    let text = std::fs::read_to_string(desk.context.cwd.join(file)).map_err(|error| {
        desk.console.error(&format!("cannot read `{}`: {error}", file.display()), None);
        Exit::Usage
    })?;
    let (mut sources, mut dx) = (Sources::new(), Diagnostics::new());
    let id = sources.add(SourceFile::new(file.display().to_string(), text));
    let found = quintain_source::read(&sources, id, &mut dx)
        .map(|node| read_suppressions(&node, &mut dx))
        .unwrap_or_default();
    if !dx.is_empty() {
        desk.console.err(Renderer::plain().render_all(&sources, &dx).trim_end());
    }
    if dx.has_errors() { Err(Exit::Usage) } else { Ok(found) }
}

pub(in crate::cli) fn info(name: &str, orders: &Orders, planned: usize, desk: &Desk) -> RunInfo {
    let created = desk.context.now();
    let mut options = Map::new();
    options.insert("seed".into(), orders.seed.into());
    options.insert("maxConcurrency".into(), orders.concurrency.into());
    let plugins: Vec<Value> =
        orders.plugins.iter().map(|plugin| plugin.attack.meta().id.into()).collect();
    options.insert("plugins".into(), plugins.into());
    RunInfo {
        id: format!("redteam-{}-{created}", desk.context.letters(3)),
        created,
        description: orders.purpose.clone(),
        config: Value::Null,
        columns: vec![Column {
            target: TargetName { id: name.to_owned(), label: None },
            prompt_idx: 0,
            raw: "{{prompt}}".to_owned(),
            label: "{{prompt}}".to_owned(),
        }],
        planned,
        options,
        tags: std::collections::BTreeMap::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// A command line that sends a step again.
pub(in crate::cli) fn reproduction(step: &Step, launch: &Launch) -> Option<String> {
    let quoted = |text: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@,+".contains(c);
        if !text.is_empty() && text.chars().all(plain) {
            text.to_owned()
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    };
    let what = match step {
        Step::Call(call) => {
            let args = Value::Object(call.args.clone()).to_string();
            format!("{} {}", quoted(&call.tool), quoted(&args))
        }
        Step::Request { method, params, .. } => {
            let request = serde_json::json!({"method": method, "params": params});
            format!("--raw {}", quoted(&request.to_string()))
        }
    };
    let place = match launch {
        Launch::Command { command, args, .. } => {
            let words = std::iter::once(command).chain(args).map(|word| quoted(word));
            format!("-- {}", words.collect::<Vec<_>>().join(" "))
        }
        Launch::Path { path, runtime, args, .. } => {
            let words = args.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
            format!("-- {} {} {words}", runtime.command(), quoted(&path.display().to_string()))
        }
        Launch::Url { url, .. } => {
            return Some(format!("quintain call --url {} {what}", quoted(url)));
        }
    };
    Some(format!("quintain call {what} {}", place.trim_end()))
}
