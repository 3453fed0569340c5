//! `quintain redteam generate`: writes attack attempts as tests.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use quintain_engine::jobs::{ChosenTarget, OrderRequest, config, text_config};
use quintain_engine::masked::Emitted;
use quintain_engine::models::ModelSettings;
use quintain_engine::redteam::{AttackedTarget, RedteamRun, TextTarget, generate};
use quintain_evidence::event::Event;
use quintain_evidence::redteam_report::NotRun;
use quintain_redteam::orders::{Orders, model_name};
use quintain_redteam::regression::{Regression, generated};
use quintain_redteam::strategies;
use quintain_report::yaml_block;
use quintain_suite::suite::{Needed, Purpose};
use serde_json::{Value, json};

use super::budget::BudgetArgs;
use super::destructive::DestructiveArgs;
use super::orders;
use super::suite::{confines, with_canary};
use super::writing::{self, comment, needs};
use crate::cli::redteam::run::failed_attack;
use crate::cli::target::TargetArgs;
use crate::cli::{App, output_files};
use crate::exit::Exit;

/// Default number of tests for each attack.
const NUM_TESTS: usize = 5;

/// Write attacks as a suite of tests
///
/// Surveys the target and learns from it, but does not attack it. Attempts whose success shows in the response become
/// tests for `quintain eval`; the suite lists the other attacks, which only `quintain redteam run` can judge.
///
/// Examples:
///   quintain redteam generate -c quintain.yaml -o redteam.yaml
///   quintain redteam generate --plugins pii,sql-injection --num-tests 3 -- python3 server.py
///   quintain eval -c redteam.yaml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// File to write the suite to
    #[arg(short, long, value_name = "FILE", default_value = "redteam.yaml")]
    output: PathBuf,
    /// Attacks and collections, separated by commas [default: those of the suite, else all]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    plugins: Vec<String>,
    /// Maximum number of tests for each attack [default: that of the suite, else 5]
    #[arg(long, value_name = "N")]
    num_tests: Option<usize>,
    /// Strategies, separated by commas [default: those of the suite]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    strategies: Vec<String>,
    /// Random seed; the same seed writes the same tests [default: random]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    destructive: DestructiveArgs,
    /// Call a target that is not on this machine; you need permission to test it
    #[arg(long)]
    allow_remote: bool,
    /// Overwrite existing files
    #[arg(long)]
    force: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    // Last, because its heading would also cover the options that follow it.
    #[command(flatten)]
    target: TargetArgs,
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    match attempt(&args, app).await {
        Ok(exit) | Err(exit) => exit,
    }
}

async fn attempt(args: &Args, app: &App) -> Result<Exit, Exit> {
    if app.context.cwd.join(&args.output).exists() && !args.force {
        let what = format!("`{}` already exists", args.output.display());
        return Err(usage(
            &what,
            "name another file with `-o`, or overwrite it with `--force`",
            app,
        ));
    }
    let purpose = Purpose::Read(Needed::TargetAndIdentities(args.target.chosen()));
    let (chosen, world, opened) = args.target.resolve_attacked(purpose, app, args.json)?;
    output_files::check([args.output.as_path()], app).map_err(|wrong| {
        wrong.report(app);
        Exit::Usage
    })?;
    let suite = opened.as_ref().map(|opened| &opened.suite);
    let (target, name) = match (&chosen, suite) {
        (ChosenTarget::Mcp(target), _) => {
            let name = target.servers.first().map_or("mcp", |server| server.name.as_str());
            (AttackedTarget::Mcp(target), name.to_owned())
        }
        (ChosenTarget::Text(at), Some(suite)) => {
            let target = &suite.targets[*at];
            (AttackedTarget::Text(TextTarget { target, suite }), target.name().to_owned())
        }
        (ChosenTarget::Text(_), None) => return Err(Exit::Nothing),
    };
    let orders = orders::of_suite_for(target.receiver(), opened.as_ref(), app)?;
    let orders = adjusted(args, orders, app)?;
    let redteam_run = RedteamRun {
        consent: None,
        target,
        name: &name,
        world: &world,
        orders: &orders,
        reproduce: &|_| None,
        previous: None,
        models: &ModelSettings::default(),
    };
    let generated_run = generate(&redteam_run, &mut |emitted| {
        if let Emitted::Event(Event::Phase(phase)) = emitted {
            app.console.note(phase.word());
        }
    })
    .await
    .map_err(|error| failed_attack(&error, target.as_mcp(), app))?;
    let config = match &chosen {
        ChosenTarget::Mcp(target) => config(&name, target, &Orders::default(), &app.redactor),
        ChosenTarget::Text(at) => text_config(opened.as_ref(), *at, &app.redactor),
    };
    let mut targets = config["targets"].as_array().cloned().unwrap_or_default();
    let stem = args.output.file_stem().and_then(|stem| stem.to_str()).unwrap_or("redteam");
    let canary = format!("{stem}.canary");
    let folder = app.context.cwd.join(&args.output);
    let folder = folder.parent().unwrap_or(&app.context.cwd);
    let no_canary = confines(&targets, folder, app)
        .then_some("the suite is in a folder that the server may read");
    let most = |attack: &str| {
        let order = orders.plugins.iter().find(|plugin| plugin.attack.meta().id == attack);
        order.and_then(|plugin| plugin.num_tests).unwrap_or(NUM_TESTS)
    };
    let several = target.as_mcp().is_some_and(|target| target.servers.len() > 1);
    let made = generated(&generated_run.drafts, &most, (&canary, no_canary), several);
    if made.tests.is_empty() {
        let help = "use `quintain redteam run`, which observes more than responses";
        app.console.error("no attempt can be judged by its response alone", Some(help));
        return Err(Exit::Nothing);
    }
    if let Some(value) = &made.environment {
        targets.iter_mut().for_each(|target| with_canary(target, value));
    }
    let left = left(&orders, &made, generated_run.not_run);
    let text = text(args, &name, &orders, &targets, &made, &left);
    let beside = args.output.parent().unwrap_or(Path::new("")).to_owned();
    let mut files = vec![(args.output.clone(), text)];
    files.extend(made.files.iter().map(|(name, text)| (beside.join(name), text.clone())));
    for (path, text) in &files {
        writing::write(path, text, true, app).map_err(|what| {
            app.console.error(&what, None);
            Exit::Usage
        })?;
    }
    print_summary(args, &files, &made, &left, app);
    Ok(Exit::Passed)
}

fn usage(what: &str, help: &str, app: &App) -> Exit {
    app.console.error(what, Some(help));
    Exit::Usage
}

/// Overrides the suite with the command line.
fn adjusted(args: &Args, mut orders: Orders, app: &App) -> Result<Orders, Exit> {
    let request = OrderRequest {
        plugins: args.plugins.clone(),
        num_tests: args.num_tests,
        budget_calls: args.budget.calls(),
        budget_seconds: args.budget.seconds(),
        destructive: args.destructive.asked(),
        allow_remote: args.allow_remote,
        ..OrderRequest::default()
    };
    orders::apply(&request, &mut orders, app)?;
    if !args.strategies.is_empty() {
        let names: Vec<Value> = args.strategies.iter().map(|name| name.trim().into()).collect();
        let parsed = strategies::parse_all(&names).map_err(|mistakes| {
            let flaws: Vec<String> = mistakes.iter().map(|it| it.flaw.to_string()).collect();
            usage(&flaws.join("; "), "`quintain redteam strategies` lists all of them", app)
        })?;
        orders.strategies = parsed.into();
    }
    // The markers of the tests derive from the seed, so by default a target must not be able to guess it.
    let chosen = args.seed.or(Some(orders.seed).filter(|seed| *seed != 0));
    orders.seed = chosen.unwrap_or_else(|| app.context.random_seed());
    // A suite from a stranger must not send the user's keys to a model of its choice, so only the target is asked.
    orders.not_run.extend(orders.model.take().map(|model| NotRun {
        what: format!("proposals of {}", model_name(&model)),
        why: "is used only by `redteam run`".to_owned(),
    }));
    orders.allow_remote = args.allow_remote;
    Ok(orders)
}

/// The attacks that only `redteam run` can make, and why.
fn left(orders: &Orders, made: &Regression, not_run: Vec<NotRun>) -> Vec<NotRun> {
    let tested = |id: &str| made.tests.iter().any(|test| test["metadata"]["pluginId"] == id);
    let known = |id: &str| not_run.iter().any(|one| one.what == id);
    let ids = orders.plugins.iter().map(|plugin| plugin.attack.meta().id.to_owned());
    let unseen: Vec<NotRun> = ids
        .filter(|id| !tested(id) && !known(id))
        .map(|what| NotRun {
            what,
            why: "does not show in a response alone, or has no place here".to_owned(),
        })
        .collect();
    unseen.into_iter().chain(not_run).collect()
}

fn text(
    args: &Args,
    name: &str,
    orders: &Orders,
    targets: &[Value],
    made: &Regression,
    left: &[NotRun],
) -> String {
    let file = args.output.display();
    let mut text = comment(&format!(
        "Attack attempts on {name} as tests: a test fails if its attempt succeeds. Seed {}.\n\
         Written by `quintain redteam generate`; run it with `quintain eval -c {file}`.",
        orders.seed
    ));
    text += &needs(made);
    let mut head = json!({"description": format!("Attack attempts on {name}"), "targets": targets,
        "prompts": ["{{prompt}}"]});
    if let Some(purpose) = &orders.purpose {
        head["defaultTest"] = json!({"metadata": {"purpose": purpose}});
    }
    let tests = yaml_block(&Value::from(made.tests.clone()), 2);
    let _ = writeln!(text, "{}\ntests:{tests}", yaml_block(&head, 0));
    if !left.is_empty() {
        text.push('\n');
        text += &comment("Only `quintain redteam run` can try these:");
        for one in left {
            text += &comment(&format!("  {} {}", one.what, one.why));
        }
    }
    text
}

fn print_summary(
    args: &Args,
    files: &[(PathBuf, String)],
    made: &Regression,
    left: &[NotRun],
    app: &App,
) {
    if args.json {
        let files: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
        app.console.json(&json!({"files": files, "tests": made.tests.len(), "left": left}));
        return;
    }
    for (path, _) in files {
        app.console.out(&path.display().to_string());
    }
    app.console.note(&format!(
        "{} tests written; {} attacks can only run with `redteam run`",
        made.tests.len(),
        left.len()
    ));
    app.console.note(&format!("next: quintain eval -c {}", args.output.display()));
}
