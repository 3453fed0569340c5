//! The options of `quintain eval`.

use std::path::PathBuf;

use quintain_engine::jobs::Overrides;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::cli::model_args::ModelArgs;
use crate::cli::reports::Show;

/// Run a suite: make its calls, check the responses, report
///
/// Reads quintain.yaml, else promptfooconfig.yaml, or the files named with -c as one suite.
///
/// Examples:
///   quintain eval
///   quintain eval -c suite.yaml -j 8 -o report.html -o results.junit.xml
///   quintain eval --filter-pattern refund --repeat 5
///   quintain eval -c strangers.yaml --dry-run
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(in crate::cli) struct Args {
    /// Suite file; repeatable
    #[arg(short, long, value_name = "FILE", num_args = 1..)]
    pub(super) config: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) show: Show,
    /// Maximum number of calls in parallel [default: 4]
    #[arg(short = 'j', long, value_name = "N")]
    pub(super) max_concurrency: Option<usize>,
    /// Run every test N times
    #[arg(long, value_name = "N")]
    pub(super) repeat: Option<u32>,
    /// Milliseconds to wait after each test
    #[arg(long, value_name = "MS")]
    pub(super) delay: Option<u64>,
    /// Maximum number of tests per second
    #[arg(long, value_name = "N", value_parser = rate)]
    pub(super) rate: Option<f64>,
    /// Number of retries after a lost connection
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(super) retries: u32,
    /// Time limit of each test in milliseconds
    #[arg(long, value_name = "MS")]
    pub(super) timeout: Option<u64>,
    /// Time limit of the whole run in milliseconds
    #[arg(long, value_name = "MS")]
    pub(super) max_time: Option<u64>,
    /// Treat a tool result with `isError` as an error of the test
    #[arg(long)]
    pub(super) fail_on_tool_error: bool,
    /// Overwrite snapshots that differ
    #[arg(short, long)]
    pub(super) update_snapshots: bool,
    /// Variable for all tests; repeatable
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub(super) vars: Vec<String>,
    /// Description of this run
    #[arg(long, value_name = "TEXT")]
    pub(super) description: Option<String>,
    /// Tag of this run; repeatable
    #[arg(long = "tag", value_name = "NAME=VALUE")]
    pub(super) tags: Vec<String>,
    /// File with additional environment variables, one NAME=VALUE per line; `$` is not expanded
    #[arg(long, value_name = "FILE")]
    pub(super) env_file: Vec<PathBuf>,
    /// Exit code when a test fails [default: 100]
    #[arg(long, value_name = "CODE")]
    pub(super) fail_exit_code: Option<u8>,
    /// Do not store this run
    #[arg(long)]
    pub(super) no_write: bool,
    /// Show what the suite would start, run, read, write and contact, and run nothing
    #[arg(long, conflicts_with_all = ["watch", "resume", "retry_errors"])]
    pub(super) dry_run: bool,
    /// Resume an interrupted run [default: the latest]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest")]
    pub(super) resume: Option<String>,
    /// Rerun the tests that ended in an error [default: of the latest run]
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest", conflicts_with = "resume")]
    pub(super) retry_errors: Option<String>,
    /// Run again whenever a file of the suite or the program of a server changes
    #[arg(short, long)]
    pub(super) watch: bool,
    /// Show no progress
    #[arg(long)]
    pub(super) no_progress_bar: bool,
    #[command(flatten)]
    pub(super) models: ModelArgs,
    #[command(flatten)]
    pub(super) filters: Filters,
    #[command(flatten)]
    pub(super) ignored: Ignored,
}

/// Which tests to run
#[derive(Debug, Clone, Default, clap::Args, Serialize)]
#[command(next_help_heading = "Filters")]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the fields have the names of the flags")]
pub(super) struct Filters {
    /// Only tests whose description matches
    #[arg(long, value_name = "REGEX")]
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_pattern: Option<String>,
    /// Only the first N tests
    #[arg(short = 'n', long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_first_n: Option<usize>,
    /// Only tests from START up to END, counted from 0
    #[arg(long, value_name = "START:END")]
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_range: Option<String>,
    /// Only N randomly chosen tests
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_sample: Option<usize>,
    /// Random seed of --filter-sample
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_sample_seed: Option<u64>,
    /// Only targets whose id or label matches
    #[arg(long, visible_alias = "filter-providers", value_name = "REGEX")]
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_targets: Option<String>,
    /// Only prompts whose label or id matches
    #[arg(long, value_name = "REGEX")]
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_prompts: Option<String>,
    /// Only tests with this metadata; repeatable
    #[arg(long, value_name = "KEY=VALUE")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    filter_metadata: Vec<String>,
    /// Only tests that failed or ended in an error in a run
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest")]
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_failing: Option<String>,
    /// Only tests that failed in a run
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest")]
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_failing_only: Option<String>,
    /// Only tests that ended in an error in a run
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest")]
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_errors_only: Option<String>,
}

/// Options of promptfoo without effect: Quintain never shares responses.
#[derive(Debug, clap::Args)]
pub(super) struct Ignored {
    #[arg(long, hide = true)]
    no_share: bool,
    #[arg(long, hide = true)]
    table: bool,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "expected a number above 0".to_owned())
}

impl Args {
    /// The options that select cases, under the names in the store.
    pub(super) fn choices(&self) -> Map<String, Value> {
        let mut choices = match serde_json::to_value(&self.filters) {
            Ok(Value::Object(choices)) => choices,
            _ => Map::new(),
        };
        choices.extend(self.repeat.map(|repeat| ("repeat".to_owned(), repeat.into())));
        choices
    }

    /// The options that override the suite.
    pub(super) fn overrides(&self) -> Overrides {
        Overrides {
            concurrency: self.max_concurrency,
            delay_ms: self.delay,
            timeout_ms: self.timeout,
            max_time_ms: self.max_time,
            rate: self.rate,
            retries: self.retries,
            fail_on_tool_error: self.fail_on_tool_error,
            update_snapshots: self.update_snapshots,
        }
    }

    /// Splits the `NAME=VALUE` pairs of an option.
    pub(super) fn pairs(flag: &str, pairs: &[String]) -> Result<Vec<(String, String)>, String> {
        let split = |pair: &String| match pair.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            _ => Err(format!("{flag} expects NAME=VALUE, not `{pair}`")),
        };
        pairs.iter().map(split).collect()
    }
}
