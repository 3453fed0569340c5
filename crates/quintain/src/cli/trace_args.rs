//! Options of the commands that read and score traces.

use std::path::PathBuf;

use quintain_engine::jobs::{GradeWork, MetricRequest, TraceInput};
use quintain_engine::metrics::SuiteMetrics;
use quintain_engine::models::ModelSettings;
use serde_json::Map;

use super::App;
use super::grade_suite::{self, GradeSuite};
use super::suite::CliError;

#[derive(Debug, clap::Args)]
pub(super) struct TraceArgs {
    /// Metrics by name, separated by commas; `quintain list metrics` lists them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) metrics: Vec<String>,
    /// Suite file with `metrics` and `grade`
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Format of the traces; detected if not given
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// File with the tools of the servers, for traces that do not record them
    #[arg(long, value_name = "FILE")]
    surface: Option<PathBuf>,
}

impl TraceArgs {
    /// What to grade, and how, by these options and the suite. `names` are the metrics of the command line.
    pub(super) fn work<'n>(
        &self,
        inputs: Vec<TraceInput>,
        names: impl Iterator<Item = &'n String>,
        app: &App,
    ) -> Result<GradeWork, CliError> {
        let GradeSuite { suite, judge } = match &self.config {
            Some(file) => grade_suite::read(std::slice::from_ref(file), app)?,
            None => GradeSuite::default(),
        };
        let SuiteMetrics { mut metrics, calls, fail_if, router, surface } = suite;
        metrics.extend(names.map(|name| metric(name)));
        Ok(GradeWork {
            inputs,
            format: self.format.clone(),
            router,
            surface: self.surface.clone().or(surface),
            metrics,
            calls,
            fail_if: fail_if.unwrap_or_default(),
            models: ModelSettings { judge, ..ModelSettings::default() },
            ..GradeWork::default()
        })
    }
}

/// A metric without options.
pub(super) fn metric(name: &str) -> MetricRequest {
    MetricRequest { name: name.to_owned(), options: Map::new() }
}

/// A file with traces as the user names it.
pub(super) fn input(file: &std::path::Path) -> TraceInput {
    let is_stdin = file.as_os_str() == "-";
    TraceInput::File(if is_stdin { PathBuf::from("/dev/stdin") } else { file.to_owned() })
}

/// Records the files with traces, which are read during the run, so that no output overwrites them.
pub(super) fn record_inputs(inputs: &[TraceInput], app: &App) {
    for input in inputs {
        if let TraceInput::File(file) = input {
            app.files.looked_at(&app.context.cwd.join(file));
        }
    }
}
