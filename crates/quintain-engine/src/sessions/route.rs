//! Chooses the server for a tool call.

use quintain_evidence::connection::ToolFilter;

use super::Link;

/// Why no server was chosen. Existing suites rely on the text of `NotFound`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// No server lists the tool.
    #[error("MCP tool error: Tool '{tool}' not found in any connected MCP server{}", hint(.closest.as_deref()))]
    NotFound {
        /// The tool.
        tool: String,
        /// A tool with a similar name.
        closest: Option<String>,
    },
    /// No server lists the tool, and one of them did not list its tools at all.
    #[error(
        "MCP tool error: Tool '{tool}' not found in any connected MCP server: \
         `{server}` did not list its tools: {why}"
    )]
    NotListed {
        /// The tool.
        tool: String,
        /// The server without a list.
        server: String,
        /// Its error.
        why: String,
    },
    /// A server lists the tool, but the filter of the target hides it.
    #[error(
        "MCP tool error: Tool '{tool}' not found in any connected MCP server: \
         `{server}` has it, but the target's `tools` / `exclude_tools` exclude it"
    )]
    Filtered {
        /// The tool.
        tool: String,
        /// The server that has it.
        server: String,
    },
    /// More than one server lists the tool.
    #[error(
        "MCP tool error: Tool '{tool}' is offered by several servers ({}): \
         choose one with `server`", .servers.join(", ")
    )]
    Ambiguous {
        /// The tool.
        tool: String,
        /// The servers that list it.
        servers: Vec<String>,
    },
    /// The named server is not part of the target.
    #[error("MCP tool error: there is no server `{server}` in this target; it has {}", .known.join(", "))]
    NoSuchServer {
        /// The name.
        server: String,
        /// The servers of the target.
        known: Vec<String>,
    },
    /// A request that names no tool could go to several servers.
    #[error("the target has several servers ({}): choose one with `server`", .0.join(", "))]
    SeveralServers(Vec<String>),
}

fn hint(closest: Option<&str>) -> String {
    closest.map(|name| format!(" (did you mean '{name}'?)")).unwrap_or_default()
}

pub(super) fn server<'a>(links: &'a [Link], name: Option<&str>) -> Result<&'a Link, RouteError> {
    let known = || links.iter().map(|link| link.name().to_owned()).collect();
    match (name, links) {
        (Some(name), _) => links
            .iter()
            .find(|link| link.name() == name)
            .ok_or_else(|| RouteError::NoSuchServer { server: name.to_owned(), known: known() }),
        (None, [only]) => Ok(only),
        (None, _) => Err(RouteError::SeveralServers(known())),
    }
}

pub(super) fn tool<'a>(
    links: &'a [Link],
    filter: &ToolFilter,
    tool: &str,
    name: Option<&str>,
) -> Result<&'a Link, RouteError> {
    let chosen = match name {
        Some(name) => std::slice::from_ref(server(links, Some(name))?),
        None => links,
    };
    let offering: Vec<&Link> = chosen.iter().filter(|link| link.has_tool(tool)).collect();
    match offering[..] {
        [] => {
            let refused = chosen.iter().find_map(|link| Some((link.name(), link.refused_list()?)));
            if let Some((server, why)) = refused {
                let (tool, server) = (tool.to_owned(), server.to_owned());
                return Err(RouteError::NotListed { tool, server, why });
            }
            let known = chosen.iter().flat_map(Link::tool_names).filter(|name| filter.allows(name));
            let known: Vec<String> = known.collect();
            let closest = quintain_source::closest(tool, known.iter().map(String::as_str));
            Err(RouteError::NotFound { tool: tool.to_owned(), closest: closest.map(str::to_owned) })
        }
        [first, ..] if !filter.allows(tool) => {
            Err(RouteError::Filtered { tool: tool.to_owned(), server: first.name().to_owned() })
        }
        [only] => Ok(only),
        ref several => Err(RouteError::Ambiguous {
            tool: tool.to_owned(),
            servers: several.iter().map(|link| link.name().to_owned()).collect(),
        }),
    }
}
