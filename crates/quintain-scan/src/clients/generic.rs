//! Files of no particular client, and of clients that the file name does not identify.

use quintain_source::Node;

use super::section::looks_like_one;
use super::{Client, Location, Section, bundle, claude_code, continue_dev, registry, vs_code};

pub(super) static GENERIC: Client = Client {
    id: "generic",
    title: "MCP configuration",
    locations: &[Location::user("{config}/mcp/mcp.json")],
    sections,
};

/// The first form that the content has.
fn sections(root: &Node) -> Vec<Section<'_>> {
    let forms: [fn(&Node) -> Vec<Section<'_>>; 8] = [
        bundle::sections,
        claude_code::sections,
        continue_dev::sections,
        vs_code::sections,
        |root| Section::at(root, &["mcp_servers"]),
        |root| Section::at(root, &["context_servers"]),
        registry::sections,
        opencode_or_goose,
    ];
    forms.iter().map(|form| form(root)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Their words are common, so that at least one server has to be there.
fn opencode_or_goose(root: &Node) -> Vec<Section<'_>> {
    let mut found = Section::at(root, &["mcp"]);
    found.extend(Section::at(root, &["extensions"]));
    found.retain(|section| {
        let entries = section.servers.as_map().unwrap_or_default();
        entries.iter().any(|(_, node)| looks_like_one(node))
    });
    found
}
