//! One hostile action, and how to recognise its effects.

use std::time::Duration;

use quintain_evidence::indicator::Indicator;
use quintain_evidence::probe::Step;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chat::Chat;
use super::marks::Nonce;
use super::token::Token;

/// One hostile action, and how to recognise its effects.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// The form of the attack in words: `inside double quotes`. Identifies a proof.
    pub form: String,
    /// Attempts of one set are judged and repeated together.
    pub set: usize,
    /// Its part in the set: `true`, `false`, `n=20`.
    pub role: String,
    pub action: Action,
    /// Marks its effects: connections to the listener, files, calls of shims.
    pub nonce: Nonce,
    /// The hostile value.
    pub payload: Option<Value>,
}

impl Attempt {
    /// The sign that the response contains the text of its role, if its payload does not contain that text.
    pub fn foretells(&self) -> Option<Indicator> {
        let text = self.role.lines().next().unwrap_or_default();
        let sent = self.payload.as_ref().map(Value::to_string).unwrap_or_default();
        (!text.is_empty() && !sent.contains(text)).then(|| Indicator::says(text))
    }
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Requests in an MCP session, with the identity at that index.
    Steps { steps: Vec<Step>, identity: usize },
    /// Requests in a separate session, which may be harmed.
    Alone { steps: Vec<Step>, identity: usize },
    /// The same, and the target's files are compared after each request.
    Watched { steps: Vec<Step>, identity: usize },
    /// Requests in a separate session, in order, until one takes longer than `slow_after` twice (for the first request a
    /// fraction of it is enough); the rest is not sent. Of a request that is sent twice the faster response counts.
    Until { steps: Vec<Step>, identity: usize, slow_after: Duration },
    /// A message of these bytes in a separate session, followed by a check whether the server still responds.
    Frame { bytes: Vec<u8> },
    /// An HTTP request of any shape.
    Http(HttpRequest),
    /// A conversation with a target that takes text.
    Chat(Chat),
    /// A conversation whose messages a strategy writes, with the hostile text as its objective. The number is the
    /// position of the strategy in the orders.
    Talk { chat: Chat, strategy: usize },
}

impl Action {
    /// The requests in an MCP session; empty for other actions.
    pub fn steps(&self) -> &[Step] {
        match self {
            Self::Steps { steps, .. }
            | Self::Alone { steps, .. }
            | Self::Watched { steps, .. }
            | Self::Until { steps, .. } => steps,
            Self::Frame { .. } | Self::Http(_) | Self::Chat(_) | Self::Talk { .. } => &[],
        }
    }

    /// The conversation with a target that takes text.
    pub fn chat(&self) -> Option<&Chat> {
        match self {
            Self::Chat(chat) | Self::Talk { chat, .. } => Some(chat),
            _ => None,
        }
    }

    /// Index of the identity.
    pub fn identity(&self) -> usize {
        match self {
            Self::Steps { identity, .. }
            | Self::Alone { identity, .. }
            | Self::Watched { identity, .. }
            | Self::Until { identity, .. } => *identity,
            Self::Http(request) => request.identity.unwrap_or(0),
            Self::Frame { .. } | Self::Chat(_) | Self::Talk { .. } => 0,
        }
    }
}

/// An HTTP request of any shape to the target's address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HttpRequest {
    pub method: String,
    /// Replaces the path and query of the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Replaces headers of the same name; an empty value removes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// The identity whose credentials and session it carries; none for no credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<usize>,
    /// The identity whose session it carries, if it is a different one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_of: Option<usize>,
    /// Opens a new session first, with the same credentials and headers. If the server refuses that, the refusal is the
    /// response.
    #[serde(default)]
    pub fresh: bool,
    /// How to change the identity's credentials. If that is impossible, nothing is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// Sends the credentials in a query parameter of this name instead of their header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_in_query: Option<String>,
}
