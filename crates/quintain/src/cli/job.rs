//! The commands as clients of the engine: they request a run, show its events, and stop it on Ctrl-C.

use quintain_engine::Policy;
use quintain_engine::World;
use quintain_engine::jobs::{
    Jobs, Notice, Outcome, Prepared, Refusal, RunError, RunHandle, RunRequest, Work,
};
use quintain_engine::masked::MaskedEvent;
use quintain_engine::store::{LOCAL_OWNER, Store};

use super::{Desk, runs, suite};
use crate::exit::Exit;

/// The engine with the environment of this process.
pub(super) fn jobs(desk: &Desk, store: Option<Store>) -> Jobs {
    let world = World {
        env: desk.context.env.clone().into(),
        cwd: desk.context.cwd.clone(),
        state_dir: desk.context.state_dir(),
        request_timeout: desk.context.request_timeout(),
        redactor: desk.redactor.clone(),
        ..World::default()
    };
    Jobs::new(world, desk.files.clone(), store)
}

/// A request of the user. The id of the run starts with its kind.
pub(super) fn request(kind: &str, work: Work, desk: &Desk) -> RunRequest {
    let created = desk.context.now();
    RunRequest {
        id: format!("{kind}-{}-{created}", desk.context.letters(3)),
        created,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        owner: LOCAL_OWNER.to_owned(),
        policy: Policy::everything(),
        stored: true,
        description: None,
        tags: std::collections::BTreeMap::new(),
        work,
    }
}

/// Prepares a request, and prints warnings and errors.
pub(super) async fn prepare(
    jobs: &Jobs,
    request: RunRequest,
    desk: &Desk,
) -> Result<Prepared, Refusal> {
    jobs.prepare(request, &mut |notice| tell(notice, desk)).await
}

/// Prints a warning or an error about a request.
pub(super) fn tell(notice: Notice<'_>, desk: &Desk) {
    match notice {
        Notice::Diagnostics(sources, diagnostics) => suite::show(sources, diagnostics, desk),
        Notice::Warning(text) => desk.console.warn(&text),
        Notice::Error(what, help) => desk.console.error(&what, help.as_deref()),
    }
}

/// Prints why there is no run; returns the reason in short, and the exit code.
pub(super) fn refused(refusal: &Refusal, desk: &Desk) -> (String, Exit) {
    let what = refusal.to_string();
    let exit = match refusal {
        // The diagnostics were printed already.
        Refusal::Suite | Refusal::Said => Exit::Usage,
        Refusal::Usage { what, help } => {
            desk.console.error(what, help.as_deref());
            Exit::Usage
        }
        Refusal::Nothing { what, help } => {
            desk.console.error(what, help.as_deref());
            Exit::Nothing
        }
        Refusal::Store(error) => {
            desk.console.error(&error.to_string(), runs::help(error));
            Exit::Usage
        }
    };
    (what, exit)
}

/// Starts a run and passes its events to `show` until it ends. Ctrl-C ends it with the results so far.
pub(super) async fn follow(
    prepared: Prepared,
    desk: &Desk,
    mut show: impl FnMut(&MaskedEvent),
) -> Result<Outcome, RunError> {
    let mut handle = prepared.start()?;
    let mut stop = desk.stop.clone();
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

async fn events(handle: &mut RunHandle, show: &mut impl FnMut(&MaskedEvent)) {
    while let Some(event) = handle.next().await {
        show(&event.into());
    }
}
