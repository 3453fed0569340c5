//! `server.json` of the registry of MCP servers: packages to start and addresses to reach.

use quintain_source::Node;

use super::Section;
use super::registry_package::identifier;

pub(super) fn sections(root: &Node) -> Vec<Section<'_>> {
    let mut found = Section::at(root, &["packages"]);
    found.retain(|section| section.servers.items().any(|package| identifier(&package).is_some()));
    let remotes = Section::at(root, &["remotes"]);
    found.extend(remotes.into_iter().filter(|section| section.servers.as_seq().is_some()));
    found
}
