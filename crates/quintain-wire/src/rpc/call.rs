//! A call from the caller's view: its request, its deadline and its result.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::StatusCode;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::notices::Notice;
use crate::message::RpcError;
use crate::transport::{Headers, TransportError};

/// How long a caller waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// Measured from the call, or from the last progress if `reset_on_progress`.
    pub request: Duration,
    /// Whether progress restarts the time limit.
    pub reset_on_progress: bool,
    /// Measured from the call, regardless of progress.
    pub max_total: Option<Duration>,
}

impl Deadline {
    /// A simple time limit.
    pub fn after(request: Duration) -> Self {
        Self { request, reset_on_progress: false, max_total: None }
    }

    pub(super) fn end(&self, started: Instant, progressed: Instant) -> Instant {
        let from = if self.reset_on_progress { progressed } else { started };
        let end = from + self.request;
        self.max_total.map_or(end, |total| end.min(started + total))
    }
}

/// A request to send.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The method.
    pub method: &'a str,
    /// The parameters; a progress token is added to their `_meta`.
    pub params: Map<String, Value>,
    /// HTTP headers, in addition to those of the connection.
    pub headers: Headers,
    /// Time limit of the response.
    pub deadline: Deadline,
    /// Whether the response may open a session.
    pub opens_session: bool,
    /// Whether to notify the target when the caller stops waiting; a handshake must not be cancelled.
    pub cancellable: bool,
}

impl<'a> Request<'a> {
    /// A request without optional settings.
    pub fn new(method: &'a str, params: Map<String, Value>, deadline: Deadline) -> Self {
        Self {
            method,
            params,
            headers: Vec::new(),
            deadline,
            opens_session: false,
            cancellable: true,
        }
    }
}

/// A successful response.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The whole message, as received.
    pub frame: Bytes,
    /// The JSON of its `result`.
    pub result: Bytes,
    /// Time from passing the request to the transport to the arrival of the response.
    pub took: Duration,
    /// What the target reported about this request in the meantime.
    pub notices: Vec<Notice>,
    pub(super) parts_limit: usize,
}

impl Reply {
    /// The result as a JSON value.
    ///
    /// # Errors
    /// When the result is nested too deeply, or has too many parts to parse.
    pub fn value(&self) -> Result<Value, CallError> {
        let unreadable = |why| CallError::Unreadable { why, frame: self.frame.clone() };
        // A part takes tens of bytes in memory, but as few as two bytes in the message.
        let parts = self.result.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        if parts > self.parts_limit {
            return Err(unreadable(format!("it has more than {} parts", self.parts_limit)));
        }
        serde_json::from_slice(&self.result).map_err(|error| unreadable(error.to_string()))
    }

    /// The result of a finished task, taken from its last state.
    pub(crate) fn of_task(mut self) -> Result<Self, CallError> {
        #[derive(serde::Deserialize)]
        struct State<'a> {
            #[serde(borrow)]
            result: Option<&'a RawValue>,
            #[serde(borrow)]
            error: Option<&'a RawValue>,
        }
        let unreadable = |why: String| CallError::Unreadable { why, frame: self.frame.clone() };
        let state: State<'_> =
            serde_json::from_slice(&self.result).map_err(|error| unreadable(error.to_string()))?;
        match (state.result, state.error) {
            (Some(result), _) => {
                self.result = self.result.slice_ref(result.get().as_bytes());
                Ok(self)
            }
            (None, Some(error)) => {
                let error = RpcError::from_json(error.get().as_bytes());
                Err(CallError::Rpc { error, status: None })
            }
            (None, None) => Err(unreadable("the task ended without a result".to_owned())),
        }
    }
}

/// Why a request has no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// The target responded with an error.
    #[error("{error}")]
    Rpc {
        /// The error.
        error: RpcError,
        /// The HTTP status of the response, if it is an error, too.
        status: Option<StatusCode>,
    },
    /// The target did not respond in time.
    #[error("MCP error -32001: Request timed out after {} ms", .after.as_millis())]
    TimedOut {
        /// How long we waited.
        after: Duration,
    },
    /// The response cannot be read as JSON.
    #[error("the response cannot be read: {why}")]
    Unreadable {
        /// What is wrong with it.
        why: String,
        /// The response.
        frame: Bytes,
    },
    /// A listing that does not end.
    #[error("{method} does not end: {why}")]
    Endless {
        /// The method of the listing.
        method: String,
        /// The limit that was reached.
        why: String,
    },
    /// The transport lost the request or its response.
    #[error(transparent)]
    Transport(#[from] TransportError),
}
