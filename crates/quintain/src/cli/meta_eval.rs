//! `quintain meta-eval`: how well metrics agree with people.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use quintain_engine::jobs::{
    GradeWork, MetricRequest, RouterRequest, RunRequest, TraceInput, Work,
};
use quintain_evidence::event::Event;
use quintain_grade::meta_eval::{Agreement, MetaEvaluator, read_labels};
use serde_json::{Map, json};

use super::suite::{CliError, cli_error};
use super::{App, grade_suite, job};
use crate::exit::Exit;

/// Metrics that are compared if none is named.
const DEFAULT: [&str; 2] = ["mcp-task-completion", "mcp-use"];

/// Compare metrics with the labels of people
///
/// Grades labelled traces and prints how well each metric agrees with the labels: accuracy, Cohen's
/// kappa with its 95 % interval, MCC, precision and recall of failures, AUC and calibration error.
/// LABELS is JSONL with `id` and `success`.
///
/// Examples:
///   quintain meta-eval traces.jsonl labels.jsonl
///   quintain meta-eval traces.jsonl labels.jsonl --surface tools.json --metrics mcp-use --json
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Args {
    /// File with traces; each needs an id
    #[arg(value_name = "TRACES")]
    traces: PathBuf,
    /// JSONL file with a label for each trace: `{"id": ..., "success": true}`
    #[arg(value_name = "LABELS")]
    labels: PathBuf,
    /// Metrics by name, separated by commas [default: mcp-task-completion,mcp-use]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Suite file with `metrics`
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Format of the traces; detected if not given
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// File with the tools of the servers
    #[arg(long, value_name = "FILE")]
    surface: Option<PathBuf>,
    /// Leave calls through a router as they are
    #[arg(long)]
    no_router: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
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
    app.start_logging(false, false);
    let mut anonymous = 0;
    let outcome = job::follow(prepared, app, |event| {
        let Event::Case(case) = &**event else { return };
        match &case.graded {
            Some(graded) => match &graded.id {
                Some(id) => evaluator.add(id, &graded.metrics),
                None => anonymous += 1,
            },
            None => app.console.warn(case.error.as_deref().unwrap_or_default()),
        }
    })
    .await
    .map_err(|error| cli_error(error.to_string(), None))?;
    for why in &outcome.unreachable {
        app.console.error(why, None);
    }
    if anonymous > 0 {
        app.console.warn(&format!("{anonymous} traces have no id and are left out"));
    }
    if evaluator.unlabelled() > 0 {
        app.console.warn(&format!("{} traces have no label", evaluator.unlabelled()));
    }
    if evaluator.unseen() > 0 {
        app.console.warn(&format!("{} labels have no trace", evaluator.unseen()));
    }
    let is_incomplete = !outcome.unreachable.is_empty() || outcome.summary.errored > 0;
    if args.json {
        app.console.json(&json!(evaluator.finish()));
    } else {
        table(&evaluator, app);
    }
    Ok(match evaluator.names() {
        [] => Exit::Nothing,
        _ if is_incomplete => Exit::Unreachable,
        _ => Exit::Passed,
    })
}

impl Args {
    fn labelled(&self, app: &App) -> Result<MetaEvaluator, CliError> {
        let shown = self.labels.display();
        let file = File::open(app.context.cwd.join(&self.labels));
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
        let suite = match &self.config {
            Some(file) => grade_suite::read(file, app)?,
            None => grade_suite::GradeSuite::default(),
        };
        let mut metrics = suite.metrics;
        let plain = |name: &str| MetricRequest { name: name.to_owned(), options: Map::new() };
        metrics.extend(self.metrics.iter().map(|name| plain(name)));
        if metrics.is_empty() {
            metrics.extend(DEFAULT.map(plain));
        }
        Ok(GradeWork {
            inputs: vec![TraceInput::File(self.traces.clone())],
            format: self.format.clone(),
            router: (!self.no_router).then(|| suite.router.unwrap_or_else(RouterRequest::default)),
            surface: self.surface.clone().or(suite.surface),
            metrics,
            calls: suite.calls,
            fail_if: suite.fail_if.unwrap_or_default(),
        })
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
}

fn figure(value: Option<f64>) -> String {
    value.map_or_else(|| "n/a".to_owned(), |value| format!("{value:.2}"))
}
