//! What a target tells us unasked: kept in order and bounded.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use serde_json::Value;

/// A notification, or a frame that is not JSON-RPC at all.
#[derive(Debug, Clone, PartialEq)]
pub enum Notice {
    /// The target notified us.
    Notification {
        /// The method.
        method: String,
        /// The JSON of its parameters.
        params: Bytes,
    },
    /// The target wrote something that is no message.
    Garbled {
        /// What is wrong with it.
        why: String,
        /// The start of it.
        excerpt: Bytes,
    },
    /// A response that nobody waits for.
    Stray {
        /// The id it carries.
        id: String,
    },
    /// The target asked us something, and this is what we answered.
    Asked {
        /// The method it asked.
        method: String,
        /// Whether we answered with a result.
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

/// A bounded queue of notices; a flood pushes out the oldest and is counted.
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
