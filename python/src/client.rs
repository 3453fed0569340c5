//! A session with MCP servers.

use std::future::Future;
use std::pin::pin;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use quintain::Embedded;
use quintain_engine::Sessions;
use quintain_engine::jobs::{Refusal, TargetRequest, adjust, choose};
use quintain_evidence::evidence::Outcome;
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use crate::problem::{QuintainError, SuiteError, TargetError};

/// How often a waiting call lets Python look for signals.
const SIGNALS: Duration = Duration::from_millis(100);

/// An open session. Calls of several threads overlap.
#[pyclass(frozen)]
pub(crate) struct Client {
    state: Mutex<Option<Arc<State>>>,
    /// A process that was forked has no part of the session.
    process: u32,
}

struct State {
    runtime: Runtime,
    sessions: Sessions,
}

#[pymethods]
impl Client {
    /// Connects to a target: JSON with `url`, or `command` and its arguments, and the other settings of a target.
    #[new]
    fn new(py: Python<'_>, target: &str) -> PyResult<Self> {
        let request: TargetRequest =
            serde_json::from_str(target).map_err(|error| SuiteError::new_err(error.to_string()))?;
        let state = py.detach(|| open(&request))?;
        Ok(Self { state: Mutex::new(Some(Arc::new(state))), process: process::id() })
    }

    /// Sends a request and returns its result as JSON: `{"result": …}` or `{"error": …}`.
    fn request(&self, py: Python<'_>, method: &str, params: &str) -> PyResult<String> {
        let params: Map<String, Value> = serde_json::from_str(params)
            .map_err(|error| SuiteError::new_err(format!("params: {error}")))?;
        let state = self.state()?;
        py.detach(|| {
            let State { runtime, sessions } = &*state;
            let link =
                sessions.link(None).map_err(|error| TargetError::new_err(error.to_string()))?;
            let exchange = wait(runtime, link.exchange(method, params))?;
            answer(exchange.outcome).map(|answer| answer.to_string())
        })
    }

    /// Everything that the target lists, by server: `[[name, surface]]`.
    fn surface(&self, py: Python<'_>) -> PyResult<String> {
        let state = self.state()?;
        py.detach(|| {
            let State { runtime, sessions } = &*state;
            Ok(json!(wait(runtime, sessions.surfaces(true))?).to_string())
        })
    }

    /// Whether the session was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.lock().is_none()
    }

    /// Ends the session and the servers that it started. A call that is under way ends with an error.
    fn close(&self, py: Python<'_>) {
        let state = self.lock().take();
        let Some(state) = state else { return };
        if self.process != process::id() {
            // The parent closes it; here even its runtime is only a copy.
            std::mem::forget(state);
            return;
        }
        py.detach(|| state.runtime.block_on(state.sessions.close()));
    }
}

impl Client {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<State>>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> PyResult<Arc<State>> {
        if self.process != process::id() {
            return Err(QuintainError::new_err(
                "the session belongs to the process that opened it; connect again after a fork",
            ));
        }
        self.lock().clone().ok_or_else(|| QuintainError::new_err("the session is closed"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if self.process != process::id() {
            std::mem::forget(self.lock().take());
        }
    }
}

/// Waits for a future, and ends early if Ctrl-C or another signal raises an exception.
// The path of the method has one lifetime, where any is wanted.
#[allow(clippy::redundant_closure_for_method_calls)]
fn wait<T>(runtime: &Runtime, work: impl Future<Output = T>) -> PyResult<T> {
    let mut work = pin!(work);
    loop {
        match runtime.block_on(async { timeout(SIGNALS, work.as_mut()).await }) {
            Ok(done) => return Ok(done),
            Err(_) => Python::attach(|py| py.check_signals())?,
        }
    }
}

fn open(request: &TargetRequest) -> PyResult<State> {
    let failed = |error: std::io::Error| QuintainError::new_err(error.to_string());
    let refused = |refusal: Refusal| SuiteError::new_err(refusal.to_string());
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let mut target = choose(request, None).map_err(refused)?;
    adjust(request, &mut target).map_err(SuiteError::new_err::<String>)?;
    let world = Embedded::of_process().world();
    let sessions = wait(&runtime, Sessions::open(&target, &world))?;
    let sessions = sessions.map_err(|error| TargetError::new_err(error.to_string()))?;
    Ok(State { runtime, sessions })
}

/// What the server answered. Anything else is an error of the target.
fn answer(outcome: Outcome) -> PyResult<Value> {
    let why = match outcome {
        Outcome::Reply(result) | Outcome::ToolError(result) => {
            return Ok(json!({"result": result}));
        }
        Outcome::RpcError { code, message, data } => {
            return Ok(json!({"error": {"code": code, "message": message, "data": data}}));
        }
        Outcome::TimedOut { after } => format!("no response within {} ms", after.as_millis()),
        Outcome::Closed { why } | Outcome::Garbled { why, .. } | Outcome::Refused { why } => why,
    };
    Err(TargetError::new_err(why))
}
