//! Codex: `[mcp_servers.NAME]` in TOML.

use super::{Client, Location, Section, section};

pub(super) static CODEX: Client = Client {
    id: "codex",
    title: "Codex",
    locations: &[
        Location::user("$CODEX_HOME/config.toml"),
        Location::user("~/.codex/config.toml"),
        Location::user("~/.codex/*.config.toml"),
        Location::system("/etc/codex/config.toml"),
        Location::project("{project}/.codex/config.toml"),
        Location::plugin("~/.codex/plugins/**/.mcp.json"),
    ],
    sections,
};

fn sections(root: &quintain_source::Node) -> Vec<Section<'_>> {
    let own = Section::at(root, &["mcp_servers"]);
    // Plugins use the form of other clients.
    if own.is_empty() { section::wrapped_or_flat(root) } else { own }
}
