//! One MCP server: how to start or reach it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quintain_source::Span;
use secrecy::SecretString;

use super::Auth;

#[derive(Debug, Clone)]
pub struct Server {
    /// Unique within its target: the given name, or else the URL, path or command.
    pub name: String,
    pub launch: Launch,
    pub span: Span,
}

/// How a server is started or reached.
#[derive(Debug, Clone)]
pub enum Launch {
    Command {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, SecretString>,
        cwd: Option<PathBuf>,
    },
    /// A script whose runtime follows from its suffix; absolute, or relative to the caller's folder.
    Path {
        path: PathBuf,
        runtime: Runtime,
        args: Vec<String>,
        env: BTreeMap<String, SecretString>,
        cwd: Option<PathBuf>,
    },
    Url {
        url: String,
        /// In the order of the file; each may be a credential.
        headers: Vec<(String, SecretString)>,
        auth: Auth,
        transport: Transport,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runtime {
    Node,
    Python,
}

impl Runtime {
    pub fn command(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Python => "python3",
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Transport {
    /// Streamable HTTP, then the older HTTP+SSE if the server does not support it.
    #[default]
    Auto,
    StreamableHttp,
    Sse,
}

impl Launch {
    /// The program to start and its arguments; none for a URL.
    pub fn command_line(&self) -> Option<(&Path, Vec<&Path>)> {
        match self {
            Self::Command { command, args, .. } => {
                Some((Path::new(command), args.iter().map(Path::new).collect()))
            }
            Self::Path { path, runtime, args, .. } => {
                let script = std::iter::once(path.as_path());
                let args = script.chain(args.iter().map(Path::new)).collect();
                Some((Path::new(runtime.command()), args))
            }
            Self::Url { .. } => None,
        }
    }
}
