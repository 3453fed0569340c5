//! Junie, the agent of the JetBrains editors.

use super::section::mcp_servers;
use super::{Client, Location};

pub(super) static JUNIE: Client = Client {
    id: "junie",
    title: "JetBrains Junie",
    locations: &[
        Location::user("~/.junie/mcp/mcp.json"),
        Location::project("{project}/.junie/mcp/mcp.json"),
    ],
    sections: mcp_servers,
};
