//! Replies to requests of a server to its client. Quintain answers only what is declared here.

use serde_json::{Map, Value};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Responders {
    pub roots: Option<Vec<Root>>,
    pub sampling: Option<Sampling>,
    pub elicitation: Option<Elicitation>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    pub uri: String,
    pub name: Option<String>,
}

/// Texts in the order of the requests; the last one repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampling {
    pub replies: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Elicitation {
    /// Accepts with the defaults of the requested schema.
    Defaults,
    /// Replies in the order of the requests; the last one repeats.
    Script(Vec<ElicitationReply>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct ElicitationReply {
    pub action: ElicitationAction,
    /// Sent with `accept` only.
    pub content: Map<String, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElicitationAction {
    Accept,
    Decline,
    Cancel,
}
