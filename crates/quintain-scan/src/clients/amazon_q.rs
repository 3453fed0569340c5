//! Amazon Q.

use super::section::mcp_servers;
use super::{Client, Location};

pub(super) static AMAZON_Q: Client = Client {
    id: "amazon-q",
    title: "Amazon Q",
    locations: &[
        Location::user("~/.aws/amazonq/mcp.json"),
        Location::user("~/.aws/amazonq/agents/*.json"),
        Location::project("{project}/.amazonq/mcp.json"),
    ],
    sections: mcp_servers,
};
