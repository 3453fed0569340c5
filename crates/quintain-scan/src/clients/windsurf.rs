//! Windsurf, which reads the `.mcp.json` of a project, too. It calls a URL `serverUrl`.

use super::section::mcp_servers;
use super::{Client, Location};

pub(super) static WINDSURF: Client = Client {
    id: "windsurf",
    title: "Windsurf",
    locations: &[
        Location::user("~/.codeium/windsurf/mcp_config.json"),
        Location::project("{project}/.windsurf/mcp.json"),
    ],
    sections: mcp_servers,
};
