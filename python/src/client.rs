//! A session with MCP servers.

use std::sync::Mutex;

use pyo3::prelude::*;
use quintain::Embedded;
use quintain_engine::Sessions;
use quintain_engine::jobs::{Refusal, TargetRequest, adjust, choose};
use quintain_evidence::evidence::Outcome;
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::problem::{QuintainError, SuiteError, TargetError};

/// An open session.
#[pyclass(frozen)]
pub(crate) struct Client {
    state: Mutex<Option<State>>,
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
        Ok(Self { state: Mutex::new(Some(state)) })
    }

    /// Sends a request and returns its result as JSON: `{"result": …}` or `{"error": …}`.
    fn request(&self, py: Python<'_>, method: &str, params: &str) -> PyResult<String> {
        let params: Map<String, Value> = serde_json::from_str(params)
            .map_err(|error| SuiteError::new_err(format!("params: {error}")))?;
        self.with(py, |State { runtime, sessions }| {
            let link =
                sessions.link(None).map_err(|error| TargetError::new_err(error.to_string()))?;
            let exchange = runtime.block_on(link.exchange(method, params));
            answer(exchange.outcome).map(|answer| answer.to_string())
        })
    }

    /// Everything that the target lists, by server: `[[name, surface]]`.
    fn surface(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |State { runtime, sessions }| {
            Ok(json!(runtime.block_on(sessions.surfaces(true))).to_string())
        })
    }

    /// Ends the session and the servers that it started.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            if let Some(State { runtime, sessions }) = self.lock().take() {
                runtime.block_on(sessions.close());
            }
        });
    }
}

impl Client {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&State) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let state = self.lock();
            let open = state.as_ref();
            work(open.ok_or_else(|| QuintainError::new_err("the session is closed"))?)
        })
    }
}

fn open(request: &TargetRequest) -> PyResult<State> {
    let failed = |error: std::io::Error| QuintainError::new_err(error.to_string());
    let refused = |refusal: Refusal| SuiteError::new_err(refusal.to_string());
    let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let mut target = choose(request, None).map_err(refused)?;
    adjust(request, &mut target).map_err(SuiteError::new_err::<String>)?;
    let world = Embedded::of_process().world();
    let sessions = runtime.block_on(Sessions::open(&target, &world));
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
