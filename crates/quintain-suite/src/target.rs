//! A target: what is under test, as a suite defines it. Data only; the readers are in `suite`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use quintain_evidence::code::Code;
use quintain_evidence::connection::{Auth, McpTarget};
use quintain_source::Span;
use secrecy::SecretString;
use serde_json::{Map, Value};

#[derive(Debug, Clone)]
pub struct Target {
    /// As written: `mcp`, `mcp:payments`, `openai:gpt-5`, ...
    pub id: String,
    pub label: Option<String>,
    pub kind: TargetKind,
    /// `tools` and `functions` of its `config`, which a model is offered. None for servers.
    pub offered: Map<String, Value>,
    /// Labels or ids of the prompts it is limited to; empty for all.
    pub prompts: Option<Vec<String>>,
    /// Applied to every output before anything else.
    pub transform: Option<Code>,
    /// Delay before every call.
    pub delay: Option<Duration>,
    /// `env` as written, if the suite is only read; otherwise the templates are expanded with it already.
    pub env: BTreeMap<String, String>,
    pub span: Span,
}

impl Target {
    /// The name in reports and for `--target`.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.id)
    }

    pub fn as_mcp(&self) -> Option<&McpTarget> {
        if let TargetKind::Mcp(target) = &self.kind { Some(target) } else { None }
    }

    pub fn as_mcp_mut(&mut self) -> Option<&mut McpTarget> {
        if let TargetKind::Mcp(target) = &mut self.kind { Some(target) } else { None }
    }
}

#[derive(Debug, Clone)]
pub enum TargetKind {
    Mcp(Box<McpTarget>),
    /// Returns the prompt.
    Echo,
    Http(Box<HttpTarget>),
    Exec(Box<ExecTarget>),
    Code(Box<CodeTarget>),
    /// A model, or another provider that Quintain does not support.
    Other,
}

/// The request to an HTTP endpoint. All texts are templates in which environment variables are expanded already.
#[derive(Debug, Clone)]
pub struct HttpTarget {
    pub url: String,
    /// The default is `GET`.
    pub method: Option<String>,
    pub headers: Vec<(String, SecretString)>,
    pub query: Vec<(String, SecretString)>,
    pub body: Option<Value>,
    /// The raw request as text, which replaces all of the above.
    pub request: Option<String>,
    pub use_https: bool,
    /// Credentials sent with every request: bearer, basic or API key.
    pub auth: Auth,
    /// Computes what is sent instead of the prompt, from `prompt`, `vars` and `context`.
    pub transform_request: Option<Code>,
    /// Computes the output from `json`, `text` and `context`.
    pub transform_response: Option<Code>,
    /// Decides whether a status is a success; without it, every status is.
    pub validate_status: Option<Code>,
}

/// `exec:command`: a program that is started for every prompt, with the prompt as an argument.
#[derive(Debug, Clone)]
pub struct ExecTarget {
    pub command: String,
    pub args: Vec<String>,
    /// Its working directory.
    pub base_dir: PathBuf,
    /// `config` as written.
    pub config: Map<String, Value>,
}

/// `file://provider.py`, `python:provider.py`, `file://provider.js`, ...
#[derive(Debug, Clone)]
pub struct CodeTarget {
    pub code: Code,
    /// `config`; for Python and Ruby with `file://` references replaced by the content of the files.
    pub config: Map<String, Value>,
    /// The interpreter, if it is not the default one.
    pub executable: Option<String>,
}
