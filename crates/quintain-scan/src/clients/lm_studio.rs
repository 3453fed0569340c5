//! LM Studio.

use super::section::mcp_servers;
use super::{Client, Location};

pub(super) static LM_STUDIO: Client = Client {
    id: "lm-studio",
    title: "LM Studio",
    locations: &[Location::user("~/.lmstudio/mcp.json")],
    sections: mcp_servers,
};
