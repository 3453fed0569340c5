//! Claude Desktop.

use super::section::mcp_servers;
use super::{Client, Location};

pub(super) static CLAUDE_DESKTOP: Client = Client {
    id: "claude-desktop",
    title: "Claude Desktop",
    locations: &[Location::user("{app}/Claude/claude_desktop_config.json")],
    sections: mcp_servers,
};
