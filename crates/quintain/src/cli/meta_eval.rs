//! `quintain meta-eval`: how well metrics agree with people.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use quintain_engine::jobs::{GradeWork, RunRequest, Work};
use quintain_evidence::event::Event;
use quintain_grade::meta_eval::{
    Agreement, Comparison, McNemar, MetaEvaluator, Method, read_labels,
};
use serde_json::json;

use super::model_args::ModelArgs;
use super::suite::{CliError, cli_error};
use super::trace_args::{self, TraceArgs};
use super::{App, job, output_files};
use crate::console::counted;
use crate::exit::Exit;

/// Metrics that are compared if none is named.
const DEFAULT: [&str; 2] = ["mcp-task-completion", "mcp-use"];

/// Compare metrics with the labels of people
///
/// Grades labelled traces and prints how well each metric agrees with the labels: accuracy, Cohen's
/// kappa with its 95 % interval, MCC, precision and recall of failures, AUC and calibration error.
/// LABELS is JSONL with `id` and `success`; `quintain grade --annotate` writes such a file. Without
/// `--metrics`, compares `mcp-task-completion` and `mcp-use`.
///
/// Examples:
///   quintain meta-eval traces.jsonl labels.jsonl
///   quintain meta-eval traces.jsonl labels.jsonl --metrics task-completion --judge openai:chat:gpt-5 --calibrate judge.json
///   quintain meta-eval traces.jsonl labels.jsonl --surface tools.json --metrics mcp-use -o result.json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// File with traces, with ids or names as in the labels
    #[arg(value_name = "TRACES")]
    traces: PathBuf,
    /// JSONL file with a label for each trace: `{"id": ..., "success": true}`
    #[arg(value_name = "LABELS")]
    labels: PathBuf,
    #[command(flatten)]
    read: TraceArgs,
    /// Write how scores relate to the labels to a file, for `quintain grade --calibration`
    #[arg(long, value_name = "FILE")]
    calibrate: Option<PathBuf>,
    #[command(flatten)]
    models: ModelArgs,
    /// Leave calls through a router as they are
    #[arg(long)]
    no_router: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// File for the result as JSON; repeatable
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
}

pub(super) async fn run(args: Args, app: &App) -> Exit {
    match compare(&args, app).await {
        Ok(exit) => exit,
        Err(wrong) => {
            wrong.report(app);
            Exit::Usage
        }
    }
}

async fn compare(args: &Args, app: &App) -> Result<Exit, CliError> {
    let mut evaluator = args.labelled(app)?;
    let work = Work::Grade(Box::new(args.work(app)?));
    let request = RunRequest { stored: false, ..job::request("meta-eval", work, app) };
    let prepared = match job::prepare(&job::jobs(app, None), request, app).await {
        Ok(prepared) => prepared,
        Err(refusal) => return Ok(job::refused(&refusal, app).1),
    };
    let named = args.output.iter().chain(&args.calibrate).chain(&args.models.judge_record);
    output_files::check(named.map(PathBuf::as_path), app)?;
    let mut judge_record = args.models.record(app)?;
    app.start_logging(false, false);
    let outcome = job::follow(prepared, app, |event| {
        if let Some(record) = &mut judge_record {
            record.event(event);
        }
        let Event::Case(case) = &**event else { return };
        match &case.graded {
            Some(graded) => evaluator.add(graded.label_id(), &graded.metrics),
            None => app.console.warn(case.error.as_deref().unwrap_or_default()),
        }
    })
    .await
    .map_err(|error| cli_error(error.to_string(), None))?;
    for why in &outcome.unreachable {
        app.console.error(why, None);
    }
    if evaluator.unlabelled() > 0 {
        let count = evaluator.unlabelled();
        let has = if count == 1 { "has" } else { "have" };
        app.console.warn(&format!("{} {has} no label", counted(count, "trace")));
    }
    if evaluator.unseen() > 0 {
        let count = evaluator.unseen();
        let has = if count == 1 { "has" } else { "have" };
        app.console.warn(&format!("{} {has} no trace", counted(count, "label")));
    }
    if let Some(file) = &args.calibrate {
        write_calibration(&evaluator, file, app)?;
    }
    let is_incomplete = !outcome.unreachable.is_empty() || outcome.summary.errored > 0;
    if args.json {
        app.console.json(&json!(evaluator.finish()));
    } else {
        table(&evaluator, app);
    }
    for path in &args.output {
        let text = format!("{:#}\n", json!(evaluator.finish()));
        output_files::write(path, &text, app)?;
        app.console.note(&format!("wrote {}", path.display()));
    }
    let written = judge_record.is_none_or(|record| record.finish(&app.console));
    Ok(match evaluator.names() {
        [] => Exit::Nothing,
        _ if is_incomplete => Exit::Unreachable,
        _ if !written => Exit::Usage,
        _ => Exit::Passed,
    })
}

/// Writes the calibration, and reports which metrics have none.
fn write_calibration(evaluator: &MetaEvaluator, file: &Path, app: &App) -> Result<(), CliError> {
    let (calibration, errors) = evaluator.calibrate(Method::Auto);
    for (metric, error) in errors {
        app.console.warn(&format!("{metric} is not calibrated: {error}"));
    }
    output_files::write(file, &calibration.text(), app)?;
    app.console.note(&format!("wrote {}", file.display()));
    Ok(())
}

impl Args {
    fn labelled(&self, app: &App) -> Result<MetaEvaluator, CliError> {
        let shown = self.labels.display();
        let full = app.context.cwd.join(&self.labels);
        app.files.looked_at(&full);
        let file = File::open(full);
        let file =
            file.map_err(|error| cli_error(format!("cannot read `{shown}`: {error}"), None))?;
        let (labels, errors) = read_labels(BufReader::new(file));
        for error in &errors {
            app.console.error(&format!("{shown}:{}: {}", error.line, error.message), None);
        }
        if !errors.is_empty() {
            return Err(CliError::AlreadyReported);
        }
        Ok(MetaEvaluator::new(labels))
    }

    fn work(&self, app: &App) -> Result<GradeWork, CliError> {
        let mut work =
            self.read.work(vec![trace_args::input(&self.traces)], self.read.metrics.iter(), app)?;
        trace_args::record_inputs(&work.inputs, app);
        if work.metrics.is_empty() {
            work.metrics.extend(DEFAULT.map(trace_args::metric));
        }
        work.models = self.models.settings(app)?.or(work.models);
        work.router = (!self.no_router).then(|| work.router.unwrap_or_default());
        Ok(work)
    }
}

fn table(evaluator: &MetaEvaluator, app: &App) {
    let names = evaluator.names();
    let width = names.iter().map(String::len).max().unwrap_or_default().max("metric".len());
    app.console.out(&format!(
        "{:width$}  {:>4}  {:>8}  {:>20}  {:>5}  {:>18}  {:>15}",
        "metric", "n", "accuracy", "kappa (95 %)", "MCC", "failure precision", "failure recall"
    ));
    for name in names {
        let Some(agreement) = evaluator.agreement(name) else { continue };
        let Agreement { n, accuracy, kappa, kappa_ci, mcc, .. } = agreement;
        let interval =
            kappa_ci.map_or_else(String::new, |(low, high)| format!(" {low:.2}–{high:.2}"));
        app.console.out(&format!(
            "{name:width$}  {n:>4}  {:>8}  {:>20}  {:>5}  {:>18}  {:>15}",
            figure(accuracy),
            format!("{}{interval}", figure(kappa)),
            figure(mcc),
            figure(agreement.failure_precision),
            figure(agreement.failure_recall),
        ));
    }
    if let Some(baseline) = evaluator.finish().baseline {
        app.console.out(&format!("always pass: accuracy {baseline:.2}"));
    }
    for Comparison { first, second, test } in evaluator.comparisons() {
        let McNemar { worse, better, p, .. } = test;
        app.console.out(&format!(
            "only {first} is right: {worse}, only {second} is right: {better} (McNemar p = {p:.3})"
        ));
    }
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.2}"))
}
