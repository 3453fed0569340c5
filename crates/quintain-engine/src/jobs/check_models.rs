//! Finds mistakes in the models of a suite before anything is sent: unknown providers, missing keys, invalid options.

use std::sync::Arc;

use quintain_llm::ConfigError;
use quintain_source::{Diagnostic, Diagnostics, Span};
use quintain_suite::suite::ModelTarget;
use serde_json::Value;

use super::environment::{Jobs, LoadedSuite, Refusal, RequestNotice};
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
        if let Err(NotConfigured(errors)) = access.of_target(target, model) {
            let what = format!("the model `{}` cannot be asked", target.name());
            report(&what, errors, target.span, &mut dx);
        }
    }
    // Recorded answers need no judge.
    if settings.replay.is_none()
        && let Some(judge) = &settings.judge
    {
        judge_error(judge, opened, &access, &mut dx);
    }
    if dx.is_empty() {
        return Ok(());
    }
    notify(RequestNotice::Diagnostics(&opened.sources, &dx));
    Err(Refusal::Suite)
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
    if let Err(NotConfigured(errors)) = role_models::check(judge, access) {
        report("the judge cannot be asked", errors, span, dx);
    }
}

fn report(what: &str, errors: Vec<ConfigError>, span: Span, dx: &mut Diagnostics) {
    for ConfigError { message, help, .. } in errors {
        let diagnostic = Diagnostic::error(CODE, format!("{what}: {message}")).at(span, "");
        dx.push(match help {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
    }
}
