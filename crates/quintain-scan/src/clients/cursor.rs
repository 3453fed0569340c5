//! Cursor, which reads the `.mcp.json` of a project, too.

use super::section::mcp_servers;
use super::{Client, Location};

pub(super) static CURSOR: Client = Client {
    id: "cursor",
    title: "Cursor",
    locations: &[
        Location::user("~/.cursor/mcp.json"),
        Location::user("{app}/Cursor/User/mcp.json"),
        Location::project("{project}/.cursor/mcp.json"),
    ],
    sections: mcp_servers,
};
