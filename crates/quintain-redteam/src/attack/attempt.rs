//! One hostile thing to do.

use std::time::Duration;

use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::marks::Nonce;
use super::token::Token;

/// One hostile thing to do, and how to recognise its traces.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The form of the attack in words: `inside double quotes`. Forms are what proofs are told apart by.
    pub form: String,
    /// Attempts of one set are judged together, and repeated together.
    pub set: usize,
    /// Its part in the set: `true`, `false`, `n=20`.
    pub role: String,
    pub action: Action,
    /// What marks its traces: listener hits, files, calls of shims.
    pub nonce: Nonce,
    /// The hostile value.
    pub payload: Option<Value>,
}

impl Attempt {
    /// The answer says what its role foretells and its payload does not hold.
    pub fn foretells(&self) -> Option<Indicator> {
        let text = self.role.lines().next().unwrap_or_default();
        let sent = self.payload.as_ref().map(Value::to_string).unwrap_or_default();
        (!text.is_empty() && !sent.contains(text)).then(|| Indicator::says(text))
    }
}

/// What is done.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Requests of an MCP session, by the identity of that position.
    Steps { steps: Vec<Step>, identity: usize },
    /// Requests of a session of its own: one that may be harmed.
    Alone { steps: Vec<Step>, identity: usize },
    /// The same, with a look at the files of the target after each.
    Watched { steps: Vec<Step>, identity: usize },
    /// Requests of a session of its own, one after the other until one takes longer than this, and does
    /// so again (a part of it for the first); the rest is not sent. Of what is sent twice the quicker
    /// answer counts.
    Until { steps: Vec<Step>, identity: usize, patience: Duration },
    /// A message of these bytes on a session of its own, and then the question whether the server is
    /// still there.
    Frame { bytes: Vec<u8> },
    /// An HTTP request of any shape.
    Http(HttpRequest),
}

impl Action {
    /// The requests of an MCP session; none for what is no session.
    pub fn steps(&self) -> &[Step] {
        match self {
            Self::Steps { steps, .. }
            | Self::Alone { steps, .. }
            | Self::Watched { steps, .. }
            | Self::Until { steps, .. } => steps,
            Self::Frame { .. } | Self::Http(_) => &[],
        }
    }

    /// Who does it, by position.
    pub fn identity(&self) -> usize {
        match self {
            Self::Steps { identity, .. }
            | Self::Alone { identity, .. }
            | Self::Watched { identity, .. }
            | Self::Until { identity, .. } => *identity,
            Self::Http(request) => request.identity.unwrap_or(0),
            Self::Frame { .. } => 0,
        }
    }
}

/// An HTTP request of any shape to the address of the target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HttpRequest {
    pub method: String,
    /// In the place of the path and query of the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Replaces headers of the same name; an empty value takes them away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// Whose credentials and whose session it carries; none for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<usize>,
    /// Whose session it carries, if not that of the same identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_of: Option<usize>,
    /// Begins a session of its own first, with the same credentials and headers. If that is refused,
    /// the refusal is the answer.
    #[serde(default)]
    pub fresh: bool,
    /// What becomes of the credentials of the identity. If that cannot be, nothing is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// The credentials stand in a query parameter of this name, not in their header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_in_query: Option<String>,
}
