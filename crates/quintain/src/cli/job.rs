//! The commands as clients of the engine: they request a run, show its events, and stop it on Ctrl-C.

use quintain_engine::World;
use quintain_engine::jobs::{
    Jobs, PreparedRun, Refusal, RequestNotice, RunError, RunHandle, RunOutcome, RunRequest, Work,
};
use quintain_engine::masked::MaskedEvent;
use quintain_engine::store::Store;

use super::{App, store, suite};
use crate::exit::Exit;

/// The engine with the environment of this process.
pub(super) fn jobs(app: &App, store: Option<Store>) -> Jobs {
    let world = World { redactor: app.redactor.clone(), ..app.context.world() };
    Jobs::new(world, app.files.clone(), store).with_output(app.redactor.clone())
}

/// A request of the user. The id of the run starts with its kind.
pub(super) fn request(kind: &str, work: Work, app: &App) -> RunRequest {
    app.context.request(kind, work)
}

/// Prepares a request, and prints warnings and errors. Ctrl-C cancels it.
pub(super) async fn prepare(
    jobs: &Jobs,
    request: RunRequest,
    app: &App,
) -> Result<PreparedRun, Refusal> {
    let mut stop = app.stop.clone();
    let mut notify = |notice: RequestNotice<'_>| show_notice(notice, app);
    tokio::select! {
        prepared = jobs.prepare(request, &mut notify) => prepared,
        Ok(_) = stop.wait_for(|stopped| *stopped) => Err(Refusal::Cancelled),
    }
}

/// Prints a warning or an error about a request.
pub(super) fn show_notice(notice: RequestNotice<'_>, app: &App) {
    match notice {
        RequestNotice::Diagnostics(sources, diagnostics) => suite::show(sources, diagnostics, app),
        RequestNotice::Warning(text) => app.console.warn(&text),
        RequestNotice::Error(what, help) => app.console.error(&what, help.as_deref()),
    }
}

/// Prints why there is no run; returns the reason in short, and the exit code.
pub(super) fn refused(refusal: &Refusal, app: &App) -> (String, Exit) {
    let what = refusal.to_string();
    let exit = match refusal {
        // The diagnostics were printed already.
        Refusal::Suite | Refusal::AlreadyReported => Exit::Usage,
        Refusal::Usage { what, help } => {
            app.console.error(what, help.as_deref());
            Exit::Usage
        }
        Refusal::NothingSelected { what, help } => {
            app.console.error(what, help.as_deref());
            Exit::Nothing
        }
        Refusal::Cancelled => {
            app.console.err("interrupted");
            Exit::Interrupted
        }
        Refusal::Store(error) => {
            app.console.error(&error.to_string(), store::help(error));
            Exit::Usage
        }
    };
    (what, exit)
}

/// Starts a run and passes its events to `show` until it ends. Ctrl-C ends it with the results so far.
pub(super) async fn follow(
    prepared: PreparedRun,
    app: &App,
    mut show: impl FnMut(&MaskedEvent),
) -> Result<RunOutcome, RunError> {
    follow_slowly(prepared, app, async |event| show(event)).await
}

/// The same with a `show` that waits, for example for the user. The run waits with it.
pub(super) async fn follow_slowly(
    prepared: PreparedRun,
    app: &App,
    mut show: impl AsyncFnMut(&MaskedEvent),
) -> Result<RunOutcome, RunError> {
    let mut handle = prepared.start()?;
    let mut stop = app.stop.clone();
    let cancel = handle.cancel();
    let stopping = async move {
        if stop.wait_for(|stopped| *stopped).await.is_ok() {
            cancel.stop();
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = stopping => {}
        () = events(&mut handle, &mut show) => {}
    }
    handle.outcome().await
}

async fn events(handle: &mut RunHandle, show: &mut impl AsyncFnMut(&MaskedEvent)) {
    while let Some(event) = handle.next().await {
        show(&event.into()).await;
    }
}
