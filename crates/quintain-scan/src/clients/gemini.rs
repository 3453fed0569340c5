//! Gemini CLI and Antigravity. `httpUrl` is a streamable address, `url` an older one.

use super::section::mcp_servers;
use super::{Client, Location};

pub(super) static GEMINI_CLI: Client = Client {
    id: "gemini-cli",
    title: "Gemini CLI",
    locations: &[
        Location::user("~/.gemini/settings.json"),
        Location::project("{project}/.gemini/settings.json"),
    ],
    sections: mcp_servers,
};

pub(super) static ANTIGRAVITY: Client = Client {
    id: "antigravity",
    title: "Antigravity",
    locations: &[
        Location::user("~/.gemini/antigravity/mcp_config.json"),
        Location::user("~/.gemini/config/mcp_config.json"),
    ],
    sections: mcp_servers,
};
