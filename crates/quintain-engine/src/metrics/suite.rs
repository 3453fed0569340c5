//! What a suite says about scoring: `metrics`, and `grade` with the policy.

use std::path::{Path, PathBuf};

use quintain_grade::policy::{CallPolicy, FailIf};
use quintain_source::{Diagnostic, Diagnostics, Node, wrong_type};
use quintain_suite::suite::Suite;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{MetricRequest, RouterRequest};

/// The scoring that a suite describes.
#[derive(Debug, Default)]
pub struct SuiteMetrics {
    pub metrics: Vec<MetricRequest>,
    pub calls: CallPolicy,
    /// None if the suite does not say which findings fail a trace.
    pub fail_if: Option<FailIf>,
    pub router: Option<RouterRequest>,
    pub surface: Option<PathBuf>,
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

impl SuiteMetrics {
    /// Reads the documents of a suite. Paths in them begin at `base`.
    pub fn read(suite: &Suite, base: &Path, dx: &mut Diagnostics) -> Self {
        let mut found = Self::default();
        for document in &suite.documents {
            if let Some(node) = document.get("metrics") {
                metrics(node, &mut found.metrics, dx);
            }
            if let Some(node) = document.get("grade") {
                policy(node, base, &mut found, dx);
            }
        }
        found
    }
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

fn policy(node: &Node, base: &Path, found: &mut SuiteMetrics, dx: &mut Diagnostics) {
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
    found.surface = surface.map(|surface| base.join(surface));
}
