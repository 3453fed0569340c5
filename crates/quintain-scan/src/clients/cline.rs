//! Cline and Roo Code, which descends from it: extensions of VS Code.

use super::section::mcp_servers;
use super::{Client, Location};

pub(super) static CLINE: Client = Client {
    id: "cline",
    title: "Cline",
    locations: &[
        Location::user(
            "{app}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        Location::user("~/Documents/Cline/MCP/cline_mcp_settings.json"),
    ],
    sections: mcp_servers,
};

pub(super) static ROO_CODE: Client = Client {
    id: "roo-code",
    title: "Roo Code",
    locations: &[
        Location::user(
            "{app}/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        ),
        Location::project("{project}/.roo/mcp.json"),
    ],
    sections: mcp_servers,
};
