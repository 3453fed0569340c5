//! `quintain redteam suite`: writes findings as tests.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use quintain_engine::jobs::quoted;
use quintain_engine::jobs::target_label;
use quintain_engine::jobs::{ChosenTarget, config, text_config};
use quintain_engine::redteam::ENV_CANARY;
use quintain_engine::store::{RunKind, StoreError};
use quintain_evidence::finding::{Finding, Place, Severity};
use quintain_redteam::regression::{Regression, RegressionContext, regression};
use quintain_report::yaml_block;
use serde_json::{Value, json};

use super::writing::{self, comment, needs};
use crate::cli::target::TargetArgs;
use crate::cli::{App, runs, store};
use crate::exit::Exit;

/// Write the findings of a run as a suite of tests
///
/// A test fails while its weakness exists, and passes once it is fixed. Findings whose proof is not in a response
/// (connections, files, times) are listed in the suite, with the command that tries them again.
///
/// Examples:
///   quintain redteam suite
///   quintain redteam suite findings.json -o tests/regression.yaml -- python3 server.py
///   quintain eval -c regression.yaml
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// Run with the findings: an id, `latest`, or a JSON report
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    /// File to write the suite to; `-` prints it
    #[arg(short, long, value_name = "FILE", default_value = "regression.yaml")]
    output: PathBuf,
    /// Write tests for suspected findings, too
    #[arg(long)]
    suspected: bool,
    /// Minimum severity of findings: info, low, medium, high, critical
    #[arg(long, value_name = "SEVERITY", default_value = "info", value_parser = ["info", "low", "medium", "high", "critical"])]
    min_severity: String,
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

/// A run from the store or from a report.
struct Known {
    run: String,
    findings: Vec<Finding>,
    tools: Vec<String>,
    targets: Vec<Value>,
    /// Whether the run is in the store, with its identities.
    stored: bool,
}

impl Known {
    /// The options of `quintain replay` for this run: a stored run knows its identities, a suite of tests only its
    /// targets.
    fn again(&self, file: &str) -> String {
        let label = self.targets.first().and_then(|target| target["label"].as_str());
        match label.filter(|_| self.targets.len() > 1) {
            _ if self.stored => format!("--run {}", quoted(&self.run)),
            Some(label) => format!("-c {} --target {}", quoted(file), quoted(label)),
            None => format!("-c {}", quoted(file)),
        }
    }
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    match attempt(&args, app).await {
        Ok(exit) | Err(exit) => exit,
    }
}

async fn attempt(args: &Args, app: &App) -> Result<Exit, Exit> {
    let mut known = known(args, app).await?;
    if known.findings.is_empty() {
        app.console.error(&format!("{} has no findings", known.run), None);
        return Err(Exit::Nothing);
    }
    if args.target.is_named() {
        let takes_text = |finding: &Finding| matches!(finding.place, Place::Input { .. });
        let config = if known.findings.iter().any(takes_text) {
            match args.target.read_attacked(app, args.json)? {
                (ChosenTarget::Text(at), opened) => text_config(opened.as_ref(), at, &app.redactor),
                (ChosenTarget::Mcp(_), _) => {
                    let what = "the findings are about prompts, and this target takes no text";
                    return Err(usage(what, None, app));
                }
            }
        } else {
            let (target, _) = args.target.resolve(app, args.json)?;
            let name = known.findings.first().map_or("target", |finding| finding.target.as_str());
            let orders = quintain_redteam::orders::Orders::default();
            config(name, &target, &orders, &app.redactor)
        };
        known.targets = config["targets"].as_array().cloned().unwrap_or_default();
        known.stored = false;
    }
    if known.targets.is_empty() {
        let help = "name the target: `-- COMMAND ARG...`, `--url URL` or `-c FILE`";
        let what = format!("{} does not say how its target was started", known.run);
        return Err(usage(&what, Some(help), app));
    }
    let printed = args.output == Path::new("-");
    let made = tests(args, &known, printed, app);
    let text = text(args, &mut known, &made);
    if made.tests.is_empty() && !args.json {
        let help = "try them again with `quintain replay --all`";
        let what = format!("no finding of {} has its proof in a response", known.run);
        app.console.error(&what, Some(help));
        return Err(Exit::Nothing);
    }
    if printed {
        app.console.out(text.trim_end());
        return Ok(Exit::Passed);
    }
    let folder = args.output.parent().unwrap_or(Path::new("")).to_owned();
    let mut files = vec![(args.output.clone(), text)];
    files.extend(made.files.iter().map(|(name, text)| (folder.join(name), text.clone())));
    if let Some((there, _)) =
        files.iter().find(|(path, _)| !args.force && app.context.cwd.join(path).exists())
    {
        let what = format!("`{}` already exists", there.display());
        return Err(usage(
            &what,
            Some("name another file with `-o`, or overwrite it with `--force`"),
            app,
        ));
    }
    for (path, text) in &files {
        writing::write(path, text, true, app).map_err(|what| usage(&what, None, app))?;
    }
    if args.json {
        let left: Vec<Value> = made
            .left
            .iter()
            .map(|left| json!({"finding": left.id, "title": left.title, "why": left.why}))
            .collect();
        let files: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
        app.console.json(&json!({"run": known.run, "files": files,
            "tests": made.tests.len(), "left": left}));
    } else {
        for (path, _) in &files {
            app.console.out(&path.display().to_string());
        }
        let left = match made.left.len() {
            0 => String::new(),
            1 => "; 1 finding has no test (listed at the end of the file)".to_owned(),
            left => format!("; {left} findings have no test (listed at the end of the file)"),
        };
        let tests = if made.tests.len() == 1 { "test" } else { "tests" };
        app.console.note(&format!("{} {tests} written{left}", made.tests.len()));
        app.console.note(&format!("next: quintain eval -c {}", args.output.display()));
    }
    Ok(Exit::Passed)
}

fn usage(what: &str, help: Option<&str>, app: &App) -> Exit {
    app.console.error(what, help);
    Exit::Usage
}

/// Finds the run in the store, or in a report.
async fn known(args: &Args, app: &App) -> Result<Known, Exit> {
    let path = app.context.cwd.join(&args.run);
    if path.extension().is_some_and(|ending| ending == "json") || path.is_file() {
        return of_file(&path, &args.run, app);
    }
    let found = async {
        let store = store::open(app).await?;
        let run = store.find_of(&args.run, Some(RunKind::Redteam)).await?;
        let info = store.info(&run).await?;
        let summary = store.summary(&run).await?;
        Ok::<_, StoreError>((run, info, summary))
    };
    let (run, info, summary) = found.await.map_err(|error| runs::failed(&error, app))?;
    let Some(report) = summary.and_then(|summary| summary.redteam) else {
        runs::no_attacks(&run, app);
        return Err(Exit::Nothing);
    };
    Ok(Known {
        run: run.id,
        findings: report.findings,
        tools: report.tools.into_iter().map(|tool| tool.tool).collect(),
        targets: info.config["targets"].as_array().cloned().unwrap_or_default(),
        stored: true,
    })
}

fn of_file(path: &Path, name: &str, app: &App) -> Result<Known, Exit> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| usage(&format!("cannot read `{name}`: {error}"), None, app))?;
    let report: Value = serde_json::from_str(&text)
        .map_err(|error| usage(&format!("`{name}` is not valid JSON: {error}"), None, app))?;
    let findings = report.get("findings").cloned().ok_or_else(|| {
        let help = "write one with `quintain redteam run -o findings.json`";
        usage(&format!("`{name}` is not a report of a red-team run"), Some(help), app)
    })?;
    let findings = serde_json::from_value(findings).map_err(|error| {
        usage(&format!("the findings of `{name}` cannot be read: {error}"), None, app)
    })?;
    let tools = report.pointer("/coverage/tools").and_then(Value::as_array);
    let tools = tools.into_iter().flatten().filter_map(|tool| tool["tool"].as_str());
    Ok(Known {
        run: name.to_owned(),
        findings,
        tools: tools.map(str::to_owned).collect(),
        targets: report["config"]["targets"].as_array().cloned().unwrap_or_default(),
        stored: false,
    })
}

fn tests(args: &Args, known: &Known, printed: bool, app: &App) -> Regression {
    let labels: Vec<&str> =
        known.targets.iter().filter_map(|target| target["label"].as_str()).collect();
    let target_of = |identity: Option<&str>| match identity {
        None => labels.first().map(|label| (*label).to_owned()),
        Some(name) => {
            let wanted = target_label(labels.first()?, name);
            labels.contains(&wanted.as_str()).then_some(wanted)
        }
    };
    let stem = args.output.file_stem().and_then(|stem| stem.to_str()).unwrap_or("regression");
    let folder = app.context.cwd.join(&args.output);
    let folder = folder.parent().unwrap_or(&app.context.cwd);
    let no_canary = if printed {
        Some("it needs a file next to the suite; `-o FILE` writes both")
    } else if confines(&known.targets, folder, app) {
        Some("the suite is in a folder that the server may read; use `-o` to write it elsewhere")
    } else {
        None
    };
    let first = known.targets.first();
    let context = RegressionContext {
        listed: &known.tools,
        target_of: &target_of,
        several_targets: known.targets.len() > 1,
        several_servers: first.is_some_and(|target| target["config"].get("servers").is_some()),
        canary: &format!("{stem}.canary"),
        no_canary,
        suspected: args.suspected,
        least: Severity::find(&args.min_severity).unwrap_or(Severity::Info),
    };
    regression(&known.findings, &context)
}

/// Whether a folder is inside one that the command line of a target names.
pub(super) fn confines(targets: &[Value], folder: &Path, app: &App) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let servers = targets.iter().flat_map(|target| {
        let config = &target["config"];
        let several = config["servers"].as_array().map(Vec::as_slice).unwrap_or_default();
        config.get("server").into_iter().chain(several)
    });
    let args = servers.flat_map(|server| server["args"].as_array().into_iter().flatten());
    let mut folders = args
        .filter_map(|arg| app.context.cwd.join(arg.as_str()?).canonicalize().ok())
        .filter(|path| path.is_dir());
    folders.any(|root| folder.starts_with(root))
}

fn text(args: &Args, known: &mut Known, made: &Regression) -> String {
    if let Some(value) = &made.environment {
        known.targets.iter_mut().for_each(|target| with_canary(target, value));
    }
    let name = known.findings.first().map_or("", |finding| finding.target.as_str());
    let file = args.output.display();
    let mut text = comment(&format!(
        "Tests for the findings of {} in {name}. A test fails while its weakness exists.\n\
         Written by `quintain redteam suite`; run it with `quintain eval -c {file}`.",
        known.run
    ));
    text += &needs(made);
    let head = json!({"description": format!("Weaknesses of {name}"), "targets": known.targets,
        "prompts": ["{{prompt}}"]});
    let _ = write!(text, "{}\ntests:", yaml_block(&head, 0));
    let _ = write!(text, "{}", yaml_block(&Value::from(made.tests.clone()), 2));
    text.push('\n');
    if !made.left.is_empty() {
        text.push('\n');
        text += &comment("Not tested here; these commands try them again:");
        let again = known.again(&file.to_string());
        for left in &made.left {
            text += &comment(&format!(
                "  quintain replay {} {again}\n    {}\n    {}",
                left.id, left.title, left.why
            ));
        }
    }
    text
}

/// Adds the canary to the environment of every started server.
pub(super) fn with_canary(target: &mut Value, value: &str) {
    let config = &mut target["config"];
    let servers: Vec<&mut Value> = match config.get_mut("servers").and_then(Value::as_array_mut) {
        Some(servers) => servers.iter_mut().collect(),
        None => config.get_mut("server").into_iter().collect(),
    };
    for server in servers.into_iter().filter(|server| server.get("url").is_none()) {
        let mut env = server["env"].as_object().cloned().unwrap_or_default();
        env.insert(ENV_CANARY.to_owned(), value.into());
        server["env"] = env.into();
    }
}
