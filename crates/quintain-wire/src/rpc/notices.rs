//! Messages that a target sends unasked, in order and limited in number.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use serde_json::Value;

/// A message of the target that is not a response to a waiting call.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// A notification.
    Notification {
        /// The method.
        method: String,
        /// The JSON of its parameters.
        params: Bytes,
    },
    /// Bytes that are not a JSON-RPC message.
    Garbled {
        /// What is wrong with it.
        why: String,
        /// Its first bytes.
        excerpt: Bytes,
    },
    /// A response that no call waits for.
    Stray {
        /// Its id.
        id: String,
    },
    /// A request of the target, and whether we answered it.
    Asked {
        /// The requested method.
        method: String,
        /// Whether the answer was a result.
        answered: bool,
    },
}

impl Notice {
    /// The parameters of a notification, `Null` for anything else.
    pub fn params(&self) -> Value {
        match self {
            Self::Notification { params, .. } => {
                serde_json::from_slice(params).unwrap_or(Value::Null)
            }
            _ => Value::Null,
        }
    }
}

/// A bounded queue of notices; drops the oldest ones and counts them.
pub(crate) struct Notices {
    kept: Mutex<(VecDeque<Notice>, usize)>,
    limit: usize,
}

impl Notices {
    pub(crate) fn new(limit: usize) -> Self {
        Self { kept: Mutex::default(), limit }
    }

    pub(crate) fn push(&self, notice: Notice) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.0.len() >= self.limit {
            kept.0.pop_front();
            kept.1 += 1;
        }
        kept.0.push_back(notice);
    }

    pub(crate) fn take(&self) -> (Vec<Notice>, usize) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let dropped = std::mem::take(&mut kept.1);
        (kept.0.drain(..).collect(), dropped)
    }
}
