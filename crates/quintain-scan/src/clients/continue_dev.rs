//! Continue: `mcpServers` as a list in YAML, another form in its older JSON.

use quintain_source::Node;

use super::{Client, Location, Section};

pub(super) static CONTINUE: Client = Client {
    id: "continue",
    title: "Continue",
    locations: &[
        Location::user("~/.continue/config.yaml"),
        Location::user("~/.continue/config.json"),
        Location::user("~/.continue/mcpServers/*.yaml"),
        Location::user("~/.continue/mcpServers/*.json"),
        Location::project("{project}/.continue/mcpServers/*.yaml"),
        Location::project("{project}/.continue/mcpServers/*.json"),
    ],
    sections,
};

pub(super) fn sections(root: &Node) -> Vec<Section<'_>> {
    let mut found = Section::at(root, &["mcpServers"]);
    found.extend(Section::at(root, &["experimental", "modelContextProtocolServers"]));
    found
}
