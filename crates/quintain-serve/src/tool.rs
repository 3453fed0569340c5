//! A tool of the server: one file in `tools/` each, registered in [`crate::tools::TOOLS`].

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

pub use crate::error::{ErrorCode, ToolError};
use crate::host::Host;
use crate::platform::Platform;
use crate::principal::{Principal, Scope};

/// What is known about a tool without calling it.
#[derive(Debug)]
pub struct ToolMeta {
    pub name: &'static str,
    pub title: &'static str,
    /// What it does and when to use it, for the model of a host.
    pub description: &'static str,
    /// Whether the small set of tools contains it.
    pub core: bool,
    pub scope: Scope,
    pub hints: Hints,
    /// Other names of arguments: `(accepted, ours)`.
    pub argument_aliases: &'static [(&'static str, &'static str)],
    /// Whether a call may take long, so that clients may run it as a task.
    pub is_long: bool,
}

/// The annotations of a tool. They must be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hints {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    /// Contacts something outside of this server.
    pub open_world: bool,
}

/// A tool.
pub trait Tool: Send + Sync {
    fn meta(&self) -> &'static ToolMeta;

    /// JSON Schema of the arguments.
    fn input_schema(&self) -> Value;

    /// JSON Schema of the structured content.
    fn output_schema(&self) -> Value;

    /// Does the work. The arguments are valid: aliases are replaced, and the input schema holds.
    fn call<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Result<Reply, ToolError>>;
}

/// One call of a tool.
pub struct Call<'a> {
    pub platform: &'a Platform,
    pub principal: &'a Principal,
    pub host: &'a dyn Host,
    pub arguments: Map<String, Value>,
}

/// The result of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Matches the output schema.
    pub structured: Value,
    /// The same in short, for hosts that show text. At most 2 kB; text of targets is made visible and marked.
    pub text: String,
    /// Resources with what is too large to send: `(uri, name, MIME type)`.
    pub links: Vec<(String, String, String)>,
}

impl Reply {
    pub fn new(structured: Value, text: impl Into<String>) -> Self {
        Self { structured, text: text.into(), links: Vec::new() }
    }

    #[must_use]
    pub fn with_link(mut self, uri: String, name: &str, mime_type: &str) -> Self {
        self.links.push((uri, name.to_owned(), mime_type.to_owned()));
        self
    }
}
