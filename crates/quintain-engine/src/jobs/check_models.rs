//! Finds mistakes in the models of a suite before anything is sent: unknown providers, missing keys, invalid options.

use std::collections::HashSet;
use std::sync::Arc;

use quintain_llm::{ConfigError, ModelSpec, UnknownOption, unknown_options};
use quintain_source::{Diagnostic, Diagnostics, Severity, Span};
use quintain_suite::check::{ModelTask, NamedModel};
use quintain_suite::plan::Plan;
use quintain_suite::suite::{ModelTarget, is_of_promptfoo};
use serde_json::{Value, json};

use super::environment::{Jobs, LoadedSuite, Refusal, RequestNotice};
use crate::model_readiness;
use crate::models::{ModelAccess, ModelSettings, NotConfigured};
use crate::role_models;
use crate::world::World;

/// The diagnostic code for a model that cannot be asked.
const CODE: &str = "config::model";

/// Reports every model of the suite that cannot be asked, with its place.
pub(super) fn check_models(
    opened: &LoadedSuite,
    settings: &ModelSettings,
    jobs: &Jobs,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<(), Refusal> {
    let suite = &opened.suite;
    let world = World { env: Arc::new(suite.env.clone()), ..jobs.world.clone() };
    let access = ModelAccess::unconnected(&world);
    let mut dx = Diagnostics::new();
    for target in &suite.targets {
        let Some(model) = target.settings::<ModelTarget>() else { continue };
        warn_of_options(&json!({"id": model.id, "config": model.config}), target.span, &mut dx);
        if let Err(NotConfigured(errors)) = access.of_target(target, model) {
            let what = format!("the model `{}` cannot be asked", target.name());
            report(Severity::Error, &what, errors, target.span, &mut dx);
        }
    }
    // Recorded answers need no judge.
    if settings.replay.is_none()
        && let Some(judge) = &settings.judge
    {
        judge_error(judge, opened, &access, &mut dx);
    }
    finish(&dx, opened, notify)
}

/// Reports assertions that need a judge where none is named, judges that cannot be asked, unknown options of judges, and empty
/// rubrics. In files of promptfoo these are warnings, and an error of each test, as there.
pub(super) fn check_judges(
    opened: &LoadedSuite,
    plan: &Plan,
    settings: &ModelSettings,
    jobs: &Jobs,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<(), Refusal> {
    if !opened.suite.tests.tests.ask_models || settings.replay.is_some() {
        return Ok(());
    }
    let is_lenient = opened.files.iter().any(|file| is_of_promptfoo(&file.name));
    let world = World { env: Arc::new(opened.suite.env.clone()), ..jobs.world.clone() };
    let access = ModelAccess::unconnected(&world);
    let severity = if is_lenient { Severity::Warning } else { Severity::Error };
    let (mut dx, mut seen, mut last) = (Diagnostics::new(), HashSet::new(), None);
    let mut named_at = HashSet::new();
    for planned_case in &plan.cases {
        if last.replace(planned_case.test_idx) == Some(planned_case.test_idx) {
            continue;
        }
        for asked in planned_case.case(&opened.suite).test.models() {
            if !seen.insert((asked.span, asked.kind)) {
                continue;
            }
            if asked.lacks_rubric {
                let title = format!("the rubric of `{}` is empty", asked.asked_by);
                let help = "write it in `value`, or set `rubricPrompt`";
                dx.push(Diagnostic::new(severity, CODE, title).at(asked.span, "").help(help));
            }
            match asked.model {
                Ok(None) if settings.judge.is_none() && !is_lenient => {
                    let title = format!("`{}` needs a judge, and none is named", asked.asked_by);
                    dx.push(Diagnostic::error(CODE, title).at(asked.span, "").help(NEEDS_JUDGE));
                }
                Ok(Some(named)) => {
                    let place = if named.span == Span::default() { asked.span } else { named.span };
                    // One model, named at one place for many tests, is one mistake.
                    if named_at.insert((place, asked.kind)) {
                        warn_of_options(&named.value, place, &mut dx);
                        let errors = mistakes(&named, opened, &access);
                        let what = format!("the judge of `{}` cannot be asked", asked.asked_by);
                        report(severity, &what, errors, place, &mut dx);
                    }
                }
                Ok(None) | Err(_) => {}
            }
        }
    }
    finish(&dx, opened, notify)
}

/// Why the judge that an assertion names cannot be asked, as far as it is known before a case fills in its variables.
fn mistakes(named: &NamedModel, opened: &LoadedSuite, access: &ModelAccess) -> Vec<ConfigError> {
    let value = model_readiness::filled(&named.value, &opened.suite.env);
    let id = value.as_str().or_else(|| value.get("id").and_then(Value::as_str));
    let is_target =
        |name| opened.suite.targets.iter().any(|target| target.name() == name || target.id == name);
    if id.is_none_or(is_target) || value.to_string().contains("{{") {
        return Vec::new();
    }
    match role_models::check_for(named.kind, &value, access) {
        Err(NotConfigured(errors)) => errors,
        Ok(()) => Vec::new(),
    }
}

/// What to do about a missing judge.
const NEEDS_JUDGE: &str = "name one with `provider` of the assertion, `defaultTest.options.provider`, `judge` of the suite \
                           or `--judge ID`";

/// Warns of options that no provider reads.
fn warn_of_options(model: &Value, span: Span, dx: &mut Diagnostics) {
    let Ok(spec) = ModelSpec::read(model) else { return };
    for UnknownOption { key, meant } in unknown_options(&spec) {
        let title = format!("no provider of models has the option `{key}`");
        let help = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "put further fields of the request into `passthrough`".to_owned(),
        };
        dx.push(Diagnostic::warning("config::model-option", title).at(span, "ignored").help(help));
    }
}

/// Shows what was found. Warnings alone do not refuse the run.
fn finish(
    dx: &Diagnostics,
    opened: &LoadedSuite,
    notify: &mut (dyn FnMut(RequestNotice<'_>) + Send),
) -> Result<(), Refusal> {
    if !dx.is_empty() {
        notify(RequestNotice::Diagnostics(&opened.sources, dx));
    }
    if dx.has_errors() { Err(Refusal::Suite) } else { Ok(()) }
}

fn judge_error(judge: &Value, opened: &LoadedSuite, access: &ModelAccess, dx: &mut Diagnostics) {
    let named = judge.as_str();
    let is_target =
        |name| opened.suite.targets.iter().any(|target| target.name() == name || target.id == name);
    if named.is_some_and(is_target) {
        return;
    }
    let span = opened.suite.documents.iter().find_map(|document| document.get("judge"));
    let span = span.map_or_else(Span::default, |node| node.span);
    for model in by_task(judge) {
        warn_of_options(model, span, dx);
        if let Err(NotConfigured(errors)) = role_models::check(model, access) {
            report(Severity::Error, "the judge cannot be asked", errors, span, dx);
        }
    }
}

/// The models of `{text: ..., embedding: ...}`, or the one model that is named.
fn by_task(judge: &Value) -> Vec<&Value> {
    if !ModelTask::are_keys_of(judge) {
        return vec![judge];
    }
    ModelTask::ALL.iter().filter_map(|task| judge.get(task.key())).collect()
}

fn report(
    severity: Severity,
    what: &str,
    errors: Vec<ConfigError>,
    span: Span,
    dx: &mut Diagnostics,
) {
    for ConfigError { message, help, .. } in errors {
        let title = format!("{what}: {message}");
        let diagnostic = Diagnostic::new(severity, CODE, title).at(span, "");
        dx.push(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
    }
}
