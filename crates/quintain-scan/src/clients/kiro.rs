//! Kiro.

use super::section::mcp_servers;
use super::{Client, Location};

pub(super) static KIRO: Client = Client {
    id: "kiro",
    title: "Kiro",
    locations: &[
        Location::user("~/.kiro/settings/mcp.json"),
        Location::user("~/.kiro/agents/*.json"),
        Location::project("{project}/.kiro/settings/mcp.json"),
    ],
    sections: mcp_servers,
};
