//! What a suite says about scoring: `metrics`, and `grade` with the policy.

use std::path::{Path, PathBuf};

use quintain_evidence::graded::Level;
use quintain_grade::checks;
use quintain_grade::metrics::compile;
use quintain_grade::policy::{CallPolicy, FailIf};
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Severity, closest, wrong_type};
use quintain_suite::suite::Suite;
use serde_json::Value;

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
        let mut options = item.to_json_map();
        let name = match item.as_str() {
            Some(name) => Some(name.to_owned()),
            None => match options.shift_remove("type") {
                Some(Value::String(name)) => Some(name),
                _ => None,
            },
        };
        if let Some(name) = name {
            let mistakes = compile(&name, &options).err().map(|errors| errors.0);
            for mistake in mistakes.unwrap_or_default() {
                let diagnostic = Diagnostic::error("grade::metric", mistake.to_string());
                let help = "`quintain list metrics` lists the metrics, `quintain explain NAME` their options";
                dx.push(diagnostic.at(item.span, "").help(help));
            }
            found.push(MetricRequest { name, options });
        } else {
            let title = "a metric needs a `type`";
            let diagnostic = Diagnostic::error("grade::metric-type", title).at(item.span, "");
            dx.push(diagnostic.help("`quintain list metrics` lists the types"));
        }
    }
}

/// `grade`: reports all mistakes.
fn policy(node: &Node, base: &Path, found: &mut SuiteMetrics, dx: &mut Diagnostics) {
    let Some(mut fields) = Fields::of(node, "`grade`", dx) else { return };
    found.calls = CallPolicy {
        allow: fields.strings("allow", dx).unwrap_or_default(),
        deny: fields.strings("deny", dx).unwrap_or_default(),
        trusted: fields.strings("trusted", dx).unwrap_or_default(),
    };
    found.fail_if = fields.map("failIf", dx).and_then(|node| fail_if(node, dx));
    found.router = fields.map("router", dx).and_then(|node| router(node, dx));
    found.surface = fields.string("surface", dx).map(|surface| base.join(surface));
    fields.finish(Severity::Error, dx);
}

fn fail_if(node: &Node, dx: &mut Diagnostics) -> Option<FailIf> {
    let mut fields = Fields::of(node, "`failIf`", dx)?;
    let mut rules = FailIf::default();
    let words = Level::ALL.map(|level| (level.word(), level));
    let is_null = node.as_map().is_some_and(|entries| {
        entries.iter().any(|(key, value)| key.text == "severity" && value.is_null())
    });
    let severity = fields.choice("severity", &words, dx);
    rules.severity = if is_null { None } else { severity.or(rules.severity) };
    for named in fields.scalars("checks", dx).unwrap_or_default() {
        let name = named.raw().unwrap_or_default();
        if !checks::is_named(name) {
            let words: Vec<&str> = checks::names().collect();
            let title = format!("`{name}` is not a check or a family of checks");
            let diagnostic = Diagnostic::error("grade::unknown-check", title).at(named.span, "");
            dx.push(diagnostic.help(match closest(name, words) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "`quintain list checks` lists them".to_owned(),
            }));
        }
        rules.checks.push(name.to_owned());
    }
    rules.metrics = fields.bool("metrics", dx).unwrap_or(rules.metrics);
    fields.finish(Severity::Error, dx);
    Some(rules)
}

fn router(node: &Node, dx: &mut Diagnostics) -> Option<RouterRequest> {
    let mut fields = Fields::of(node, "`router`", dx)?;
    let request = RouterRequest {
        tool: fields.string("tool", dx),
        server_arg: fields.string("serverArg", dx),
        tool_arg: fields.string("toolArg", dx),
        params_arg: fields.string("paramsArg", dx),
    };
    fields.finish(Severity::Error, dx);
    Some(request)
}
