//! VS Code: `servers` in a file of their own, or `mcp.servers` in the settings.

use quintain_source::Node;

use super::{Client, Location, Section};

pub(super) static VS_CODE: Client = Client {
    id: "vs-code",
    title: "VS Code",
    locations: &[
        Location::user("{app}/Code/User/mcp.json"),
        Location::user("{app}/Code/User/profiles/*/mcp.json"),
        Location::user("{app}/Code/User/settings.json"),
        Location::user("~/.vscode/mcp.json"),
        Location::project("{project}/.vscode/mcp.json"),
        Location::project("{project}/.vscode/settings.json"),
        Location::project("{project}/*.code-workspace"),
    ],
    sections,
};

pub(super) static VS_CODE_INSIDERS: Client = Client {
    id: "vs-code-insiders",
    title: "VS Code Insiders",
    locations: &[
        Location::user("{app}/Code - Insiders/User/mcp.json"),
        Location::user("{app}/Code - Insiders/User/profiles/*/mcp.json"),
        Location::user("{app}/Code - Insiders/User/settings.json"),
    ],
    sections,
};

pub(super) fn sections(root: &Node) -> Vec<Section<'_>> {
    let mut found = Section::at(root, &["servers"]);
    // Others call a list so: descriptions of HTTP interfaces, for one.
    found.retain(|section| section.servers.as_seq().is_none());
    // The settings of a window are next to its folders.
    for settings in std::iter::once(root).chain(root.get("settings")) {
        found.extend(Section::at(settings, &["mcp", "servers"]));
        let inner = settings.get("mcp").and_then(|mcp| mcp.get("mcpServers"));
        found.extend(inner.map(Section::new));
    }
    found
}
