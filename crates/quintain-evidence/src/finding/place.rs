//! Where on the surface of a target a weakness is.

use std::fmt;

use quintain_content::json_value;
use serde::{Deserialize, Serialize};

/// A place on the surface of a target. Also the aim of an attack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Place {
    /// A value in the arguments of a tool; `pointer` is a JSON pointer into them.
    Argument {
        server: String,
        tool: String,
        pointer: String,
    },
    /// A tool as a whole.
    Tool {
        server: String,
        tool: String,
    },
    /// A listed resource.
    Resource {
        server: String,
        uri: String,
    },
    /// A variable of a resource template.
    Variable {
        server: String,
        template: String,
        variable: String,
    },
    /// The URI of a `resources/read`, listed or not.
    Uri {
        server: String,
    },
    PromptArgument {
        server: String,
        prompt: String,
        argument: String,
    },
    Prompt {
        server: String,
        prompt: String,
    },
    /// The completion of an argument; `of` is a prompt or a resource template.
    Completion {
        server: String,
        of: String,
        argument: String,
    },
    /// A header of HTTP requests.
    Header {
        server: String,
        header: String,
    },
    /// An aspect of the HTTP transport, such as its sessions.
    Http {
        server: String,
        aspect: String,
    },
    /// A message of the protocol.
    Message {
        server: String,
        message: String,
    },
    /// What the server reports about itself.
    Server {
        server: String,
    },
    /// A variable of a prompt, of a target that takes text. `prompt` is empty if the suite has only one.
    Input {
        server: String,
        prompt: String,
        variable: String,
    },
    /// How a client starts or reaches the server: `args[1]`, `env.TOKEN`, `url`.
    Launch {
        server: String,
        part: String,
    },
    /// Several servers or tools together, in this order.
    Flow {
        steps: Vec<String>,
    },
}

impl Place {
    pub fn server(&self) -> &str {
        match self {
            Self::Argument { server, .. }
            | Self::Tool { server, .. }
            | Self::Resource { server, .. }
            | Self::Variable { server, .. }
            | Self::Uri { server }
            | Self::PromptArgument { server, .. }
            | Self::Prompt { server, .. }
            | Self::Completion { server, .. }
            | Self::Header { server, .. }
            | Self::Http { server, .. }
            | Self::Message { server, .. }
            | Self::Server { server }
            | Self::Input { server, .. }
            | Self::Launch { server, .. } => server,
            Self::Flow { .. } => "",
        }
    }

    pub fn tool(&self) -> Option<&str> {
        match self {
            Self::Argument { tool, .. } | Self::Tool { tool, .. } => Some(tool),
            _ => None,
        }
    }

    /// The argument as reports show it: a plain name if it is at the top level, or else a JSON pointer.
    pub fn argument(&self) -> Option<String> {
        match self {
            Self::Argument { pointer, .. } => Some(argument_name(pointer)),
            Self::Variable { variable, .. } | Self::Input { variable, .. } => {
                Some(variable.clone())
            }
            Self::PromptArgument { argument, .. } | Self::Completion { argument, .. } => {
                Some(argument.clone())
            }
            Self::Header { header, .. } => Some(header.clone()),
            _ => None,
        }
    }

    /// The place without the name of the server, for fingerprints.
    pub fn key(&self) -> String {
        match self {
            Self::Argument { tool, pointer, .. } => format!("tool:{tool}{pointer}"),
            Self::Tool { tool, .. } => format!("tool:{tool}"),
            Self::Resource { uri, .. } => format!("resource:{}", portable(uri)),
            Self::Variable { template, variable, .. } => format!("template:{template}:{variable}"),
            Self::Uri { .. } => "resources/read".to_owned(),
            Self::PromptArgument { prompt, argument, .. } => format!("prompt:{prompt}:{argument}"),
            Self::Prompt { prompt, .. } => format!("prompt:{prompt}"),
            Self::Completion { of, argument, .. } => format!("completion:{of}:{argument}"),
            Self::Header { header, .. } => format!("header:{}", header.to_ascii_lowercase()),
            Self::Http { aspect, .. } => format!("http:{aspect}"),
            Self::Message { message, .. } => format!("message:{message}"),
            Self::Server { .. } => "server".to_owned(),
            Self::Input { prompt, variable, .. } => format!("input:{prompt}:{variable}"),
            Self::Launch { part, .. } => format!("launch:{part}"),
            Self::Flow { steps } => format!("flow:{}", steps.join(">")),
        }
    }
}

/// A file by its name alone: its folder differs between machines.
fn portable(uri: &str) -> &str {
    let file = uri.starts_with("file:").then(|| uri.trim_end_matches('/').rsplit('/').next());
    file.flatten().unwrap_or(uri)
}

/// `/path` is `path`, `/filter/name` stays a pointer.
fn argument_name(pointer: &str) -> String {
    match pointer.strip_prefix('/') {
        Some(name) if !name.contains('/') => json_value::pointer_key(name),
        _ => pointer.to_owned(),
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument { tool, pointer, .. } => match argument_name(pointer) {
                name if name.starts_with('/') => write!(f, "{tool} {name}"),
                name => write!(f, "{tool}.{name}"),
            },
            Self::Tool { tool, .. } => f.write_str(tool),
            Self::Resource { uri, .. } => write!(f, "resource {uri}"),
            Self::Variable { template, variable, .. } => write!(f, "{template} {{{variable}}}"),
            Self::Uri { .. } => f.write_str("the URI of resources/read"),
            Self::PromptArgument { prompt, argument, .. } => {
                write!(f, "prompt {prompt}.{argument}")
            }
            Self::Prompt { prompt, .. } => write!(f, "prompt {prompt}"),
            Self::Completion { of, argument, .. } => write!(f, "completion {of}.{argument}"),
            Self::Header { header, .. } => write!(f, "header {header}"),
            Self::Http { aspect, .. } => write!(f, "HTTP {aspect}"),
            Self::Message { message, .. } => write!(f, "message {message}"),
            Self::Server { server } if server.is_empty() => f.write_str("the server"),
            Self::Server { server } => write!(f, "server {server}"),
            Self::Input { prompt, variable, .. } if prompt.is_empty() => {
                write!(f, "input {variable}")
            }
            Self::Input { prompt, variable, .. } => write!(f, "input {variable} of {prompt}"),
            Self::Launch { part, .. } => f.write_str(part),
            Self::Flow { steps } => f.write_str(&steps.join(" → ")),
        }
    }
}
