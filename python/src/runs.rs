//! Runs of the engine: a suite, an attack, a grading. Python reads the events and decides when to stop.

use std::sync::Mutex;
use std::time::Duration;

use pyo3::prelude::*;
use quintain::Embedded;
use quintain_engine::jobs::{
    Cancel, Refusal, RequestNotice, RunError, RunHandle, SubmitError, Work,
};
use quintain_source::Renderer;
use serde::Deserialize;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::problem::{QuintainError, SuiteError, TargetError};

/// What Python requests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    work: Work,
    #[serde(default)]
    stored: bool,
    #[serde(default)]
    description: Option<String>,
}

/// A run under way.
#[pyclass(frozen)]
pub(crate) struct Run {
    #[pyo3(get)]
    id: String,
    /// Warnings about the request.
    #[pyo3(get)]
    warnings: Vec<String>,
    cancel: Cancel,
    state: Mutex<State>,
}

struct State {
    runtime: Runtime,
    handle: Option<RunHandle>,
}

/// Prepares and starts a run. The request is JSON: `{work: {kind, …}, stored}`.
#[pyfunction]
pub(crate) fn start(py: Python<'_>, request: &str) -> PyResult<Run> {
    let request: Request =
        serde_json::from_str(request).map_err(|error| SuiteError::new_err(error.to_string()))?;
    py.detach(|| Run::start(request))
}

impl Run {
    fn start(request: Request) -> PyResult<Self> {
        let failed = |error: std::io::Error| QuintainError::new_err(error.to_string());
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let embedded = Embedded::of_process();
        let kind = match &request.work {
            Work::Eval(_) => "eval",
            Work::Rejudge(_) => "rejudge",
            Work::Redteam(_) => "redteam",
            Work::Replay(_) => "replay",
            Work::Grade(_) => "grade",
        };
        let mut notices = Notices::default();
        let handle = runtime.block_on(async {
            let store = if request.stored {
                Some(
                    embedded
                        .store()
                        .await
                        .map_err(|error| SubmitError::from(Refusal::Store(error)))?,
                )
            } else {
                None
            };
            let mut run = embedded.request(kind, request.work);
            run.stored = request.stored;
            run.description = request.description;
            let mut notify = |notice: RequestNotice<'_>| notices.add(notice);
            embedded.jobs(store).submit(run, &mut notify).await
        });
        let handle = handle.map_err(|error| notices.error(&error))?;
        let state = State { runtime, handle: None };
        let run = Self {
            id: handle.id.clone(),
            warnings: notices.warnings,
            cancel: handle.cancel(),
            state: Mutex::new(state),
        };
        run.lock().handle = Some(handle);
        Ok(run)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[pymethods]
impl Run {
    /// The next event as JSON; an empty text if none came within the time, `None` after the last one.
    fn next_event(&self, py: Python<'_>, milliseconds: u64) -> Option<String> {
        py.detach(|| {
            let mut state = self.lock();
            let State { runtime, handle } = &mut *state;
            let handle = handle.as_mut()?;
            let wait = Duration::from_millis(milliseconds);
            let event = runtime.block_on(async { tokio::time::timeout(wait, handle.next()).await });
            match event {
                Err(_) => Some(String::new()),
                Ok(None) => None,
                Ok(Some(event)) => Some(json!(event).to_string()),
            }
        })
    }

    /// Asks the run to stop. It keeps its results so far.
    fn stop(&self) {
        self.cancel.stop();
    }

    /// Waits for the end of the run: `{summary, unreachable, timeLimitReached, storeError}`.
    fn outcome(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let mut state = self.lock();
            let State { runtime, handle } = &mut *state;
            let handle =
                handle.take().ok_or_else(|| QuintainError::new_err("the run has ended"))?;
            let outcome = runtime.block_on(handle.outcome()).map_err(|error| run_error(&error))?;
            Ok(json!({
                "summary": outcome.summary, "unreachable": outcome.unreachable,
                "timeLimitReached": outcome.time_limit_reached, "storeError": outcome.store_error,
            })
            .to_string())
        })
    }
}

fn run_error(error: &RunError) -> PyErr {
    match error {
        RunError::Redteam(error) => TargetError::new_err(error.to_string()),
        other => QuintainError::new_err(other.to_string()),
    }
}

/// What the engine says about a request.
#[derive(Default)]
struct Notices {
    warnings: Vec<String>,
    errors: Vec<String>,
}

impl Notices {
    fn add(&mut self, notice: RequestNotice<'_>) {
        match notice {
            RequestNotice::Diagnostics(sources, diagnostics) => {
                let text = Renderer::plain().render_all(sources, diagnostics).trim_end().to_owned();
                let list =
                    if diagnostics.has_errors() { &mut self.errors } else { &mut self.warnings };
                list.push(text);
            }
            RequestNotice::Warning(text) => self.warnings.push(text),
            RequestNotice::Error(what, help) => self.errors.push(with_help(what, help)),
        }
    }

    fn error(&self, error: &SubmitError) -> PyErr {
        let refusal = match error {
            SubmitError::Run(error) => return run_error(error),
            SubmitError::Refused(refusal) => refusal,
        };
        let message = match refusal {
            Refusal::Suite | Refusal::AlreadyReported if !self.errors.is_empty() => {
                self.errors.join("\n")
            }
            Refusal::Usage { what, help } | Refusal::NothingSelected { what, help } => {
                with_help(what.clone(), help.clone())
            }
            other => other.to_string(),
        };
        SuiteError::new_err(message)
    }
}

fn with_help(what: String, help: Option<String>) -> String {
    help.map_or(what.clone(), |help| format!("{what}\nhelp: {help}"))
}
