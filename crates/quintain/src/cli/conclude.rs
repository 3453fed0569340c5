//! Turns the result of a run into an exit code.

use quintain_engine::jobs::RunOutcome;
use quintain_engine::models::RejectedModel;

use super::App;
use crate::exit::Exit;

/// Prints what the reports do not contain. `kept` is the id of the run in the store.
pub(super) fn conclude(
    outcome: &RunOutcome,
    kept: Option<&str>,
    written: bool,
    fail_exit_code: Option<u8>,
    app: &App,
) -> Exit {
    let summary = &outcome.summary;
    if let Some(why) = &outcome.store_error {
        app.console.error(&format!("the run could not be stored: {why}"), None);
    }
    for why in &outcome.unreachable {
        app.console.error(&quintain_source::visible(why), None);
    }
    for RejectedModel { model, why, help, place } in &outcome.rejected {
        let place = place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        let title = format!("the model `{model}`{place} refuses all requests: {why}");
        app.console.error(&quintain_source::visible(&title), Some(help));
    }
    if summary.interrupted {
        app.console.err("interrupted; finished tests are reported");
        if let Some(id) = kept.filter(|_| outcome.store_error.is_none()) {
            app.console.note(&format!("resume with `quintain eval --resume {id}`"));
        }
        return Exit::Interrupted;
    }
    if outcome.time_limit_reached {
        app.console.error("time limit reached before all tests were run", None);
        return Exit::Unreachable;
    }
    if !outcome.unreachable.is_empty() || summary.missing > 0 {
        return Exit::Unreachable;
    }
    // A run that is not in the store is missing like a report.
    if !written || outcome.store_error.is_some() {
        return Exit::Usage;
    }
    let total = summary.total().max(1) as f64;
    let rate = summary.passed as f64 / total * 100.0;
    let wanted = app.context.number("PROMPTFOO_PASS_RATE_THRESHOLD").unwrap_or(100.0);
    if rate >= wanted {
        return Exit::Passed;
    }
    let code = fail_exit_code.or_else(|| {
        let code = app.context.number("PROMPTFOO_FAILED_TEST_EXIT_CODE")?;
        (0.0..=255.0).contains(&code).then_some(code as u8)
    });
    code.map_or(Exit::Failed, Exit::FailedWith)
}
