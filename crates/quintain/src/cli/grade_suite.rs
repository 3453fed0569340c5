//! What a suite says about grading: `metrics`, and `grade` with the policy.

use std::path::PathBuf;

use quintain_engine::jobs::{MetricRequest, RouterRequest};
use quintain_engine::models::ModelSettings;
use quintain_grade::policy::{CallPolicy, FailIf};
use quintain_source::{Diagnostic, Diagnostics, Node, wrong_type};
use quintain_suite::suite::{Needed, Purpose};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::App;
use super::suite::{self, CliError, LoadedSuite};

/// The grading that a suite describes.
#[derive(Debug, Default)]
pub(super) struct GradeSuite {
    pub(super) metrics: Vec<MetricRequest>,
    pub(super) calls: CallPolicy,
    pub(super) fail_if: Option<FailIf>,
    pub(super) router: Option<RouterRequest>,
    pub(super) surface: Option<PathBuf>,
    /// The model that judges.
    pub(super) judge: Option<Value>,
}

/// `grade` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    allow: Vec<String>,
    deny: Vec<String>,
    trusted: Vec<String>,
    fail_if: Option<FailIf>,
    router: Option<RouterRequest>,
    surface: Option<PathBuf>,
}

/// Reads the files. Prints all mistakes.
pub(super) fn read(files: &[PathBuf], app: &App) -> Result<GradeSuite, CliError> {
    let env = &app.context.env;
    let opened = suite::open(files, Vec::new(), env, Purpose::Read(Needed::Nothing), app)?;
    let mut dx = Diagnostics::default();
    let mut found = GradeSuite::default();
    for document in &opened.suite.documents {
        if let Some(node) = document.get("metrics") {
            metrics(node, &mut found.metrics, &mut dx);
        }
        if let Some(node) = document.get("grade") {
            policy(node, &mut found, &opened, &mut dx);
        }
    }
    found.judge = ModelSettings::default().or_suite(&opened.suite).judge;
    suite::show(&opened.sources, &dx, app);
    if dx.is_empty() { Ok(found) } else { Err(CliError::AlreadyReported) }
}

/// A list of names, or of maps with `type` and options.
fn metrics(node: &Node, found: &mut Vec<MetricRequest>, dx: &mut Diagnostics) {
    let Some(items) = node.as_seq() else {
        wrong_type("metrics", "a list", node, dx);
        return;
    };
    for item in items {
        if let Some(name) = item.as_str() {
            found.push(MetricRequest { name: name.to_owned(), options: Map::new() });
            continue;
        }
        let mut options = item.to_json_map();
        if let Some(Value::String(name)) = options.shift_remove("type") {
            found.push(MetricRequest { name, options });
        } else {
            let title = "a metric needs a `type`";
            let diagnostic = Diagnostic::error("grade::metric-type", title).at(item.span, "");
            dx.push(diagnostic.help("`quintain list metrics` lists the types"));
        }
    }
}

fn policy(node: &Node, found: &mut GradeSuite, opened: &LoadedSuite, dx: &mut Diagnostics) {
    let written = match serde_json::from_value::<Written>(node.to_json()) {
        Ok(written) => written,
        Err(error) => {
            let title = format!("`grade` is invalid: {error}");
            dx.push(Diagnostic::error("grade::policy", title).at(node.span, ""));
            return;
        }
    };
    let Written { allow, deny, trusted, fail_if, router, surface } = written;
    found.calls = CallPolicy { allow, deny, trusted };
    found.fail_if = fail_if;
    found.router = router;
    let base = opened.files.first().map(|file| file.base_dir.clone()).unwrap_or_default();
    found.surface = surface.map(|surface| base.join(surface));
}
