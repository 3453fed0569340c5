//! The command line of GitHub Copilot.

use super::section::mcp_servers;
use super::{Client, Location};

pub(super) static COPILOT_CLI: Client = Client {
    id: "copilot-cli",
    title: "GitHub Copilot CLI",
    locations: &[Location::user("~/.copilot/mcp-config.json")],
    sections: mcp_servers,
};
