//! A recorded conversation of an application with its user, and the MCP calls that it made. Readers of many formats build
//! it; checks and metrics read it.

pub mod call;
pub mod server;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::call::{Args, Call, CallKind, CallOutcome, ExpectedCall};
pub use self::server::{Listing, Listings, TraceServer};

/// One conversation. What a format does not record is absent; checks that need it do not apply then.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<TraceServer>,
    /// Messages and calls in the order in which they happened.
    pub steps: Vec<TraceStep>,
    /// Whether the source lists the calls of a turn by kind (tools, resources, prompts), so that nothing is known about
    /// the order between kinds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_listed_by_kind: bool,
    #[serde(default, skip_serializing_if = "Expected::is_empty")]
    pub expected: Expected,
    /// Tags, scores of people and whatever else the source says about the conversation.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub labels: Map<String, Value>,
    /// Violations of the protocol that the reader of a capture saw; frames are not part of a trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protocol: Vec<ProtocolFault>,
    /// Whether frames were recorded, so that an empty list of faults says something.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_capture: bool,
}

/// What happens in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceStep {
    Message(Message),
    Call(Box<Call>),
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    pub text: String,
    /// Seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the developer.
    System,
    User,
    Assistant,
}

/// What the author of a test case expects.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Expected {
    /// None if nothing is said; an empty list expects no calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<ExpectedCall>>,
    /// The calls that are compared with them, if the source records them apart from MCP calls (`tools_called`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<Vec<ExpectedCall>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

impl Expected {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A violation of the protocol, found in the frames of a capture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProtocolFault {
    /// The end of the check's id: `protocol.RULE`.
    pub rule: String,
    /// The position of the call to which the frame belongs, if it belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<usize>,
    pub message: String,
    /// The start of the frame.
    pub evidence: String,
}

impl Trace {
    /// All calls in order. The position of a call in this order is how findings refer to it.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.steps.iter().filter_map(TraceStep::as_call)
    }

    pub fn messages(&self) -> impl Iterator<Item = &Message> {
        self.steps.iter().filter_map(TraceStep::as_message)
    }

    /// What the application said last, after its last call.
    pub fn answer(&self) -> Option<&str> {
        let last = self.steps.iter().rev().map_while(TraceStep::as_message);
        let mut last = last.filter(|message| message.role == Role::Assistant);
        last.next().map(|message| message.text.as_str())
    }

    /// What the user asked for first.
    pub fn request(&self) -> Option<&str> {
        let mut users = self.messages().filter(|message| message.role == Role::User);
        users.next().map(|message| message.text.as_str())
    }

    pub fn server(&self, name: &str) -> Option<&TraceServer> {
        self.servers.iter().find(|server| server.name.as_deref() == Some(name))
    }

    pub fn say(&mut self, role: Role, text: impl Into<String>) {
        self.steps.push(TraceStep::Message(Message { role, text: text.into(), at: None }));
    }

    pub fn call(&mut self, call: Call) {
        self.steps.push(TraceStep::Call(Box::new(call)));
    }
}

impl TraceStep {
    pub fn as_call(&self) -> Option<&Call> {
        match self {
            Self::Call(call) => Some(call),
            Self::Message(_) => None,
        }
    }

    pub fn as_message(&self) -> Option<&Message> {
        match self {
            Self::Message(message) => Some(message),
            Self::Call(_) => None,
        }
    }
}
