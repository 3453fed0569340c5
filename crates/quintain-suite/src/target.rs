//! A target: what is under test, as a suite describes it. Data; the readers are in `suite`.

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
    /// `tools` and `functions` of its `config`: what a model is offered to call. None for servers.
    pub offered: Map<String, Value>,
    /// Labels or ids of the prompts it is meant for; all if none.
    pub prompts: Option<Vec<String>>,
    /// Applied to every output before anything else.
    pub transform: Option<Code>,
    /// To wait before every call.
    pub delay: Option<Duration>,
    /// `env` as it is written, if the suite is only read; else its templates are filled in with it.
    pub env: BTreeMap<String, String>,
    pub span: Span,
}

impl Target {
    /// What reports and `--target` call it.
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
    /// Answers with the prompt.
    Echo,
    Http(Box<HttpTarget>),
    Exec(Box<ExecTarget>),
    Code(Box<CodeTarget>),
    /// A model, or something else that cannot be asked here.
    Other,
}

/// How to ask. All texts are templates; those of the environment are filled in already.
#[derive(Debug, Clone)]
pub struct HttpTarget {
    pub url: String,
    /// `GET` if it does not say.
    pub method: Option<String>,
    pub headers: Vec<(String, SecretString)>,
    pub query: Vec<(String, SecretString)>,
    pub body: Option<Value>,
    /// The whole request as text, in place of all of the above.
    pub request: Option<String>,
    pub use_https: bool,
    /// Credentials that are sent along: bearer, basic and API keys.
    pub auth: Auth,
    /// Makes of `prompt`, `vars` and `context` what is sent in place of the prompt.
    pub transform_request: Option<Code>,
    /// Makes the output of `json`, `text` and `context`.
    pub transform_response: Option<Code>,
    /// Says whether a status is a good one; all are without it.
    pub validate_status: Option<Code>,
}

/// `exec:command`: started anew for every prompt, which it gets as an argument.
#[derive(Debug, Clone)]
pub struct ExecTarget {
    pub command: String,
    pub args: Vec<String>,
    /// Where it is started.
    pub base_dir: PathBuf,
    /// `config` as written.
    pub config: Map<String, Value>,
}

/// `file://provider.py`, `python:provider.py`, `file://provider.js`, ...
#[derive(Debug, Clone)]
pub struct CodeTarget {
    pub code: Code,
    /// `config`; for Python and Ruby with what stands in files.
    pub config: Map<String, Value>,
    /// The interpreter to use, if it is not the usual one.
    pub executable: Option<String>,
}
