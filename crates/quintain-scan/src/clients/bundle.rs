//! Bundles (`.mcpb`, earlier `.dxt`): a server with a `manifest.json` that says how to start it.

use quintain_source::Node;

use super::{Client, Location, Section};

pub(super) static BUNDLE: Client = Client {
    id: "mcp-bundle",
    title: "MCP bundles",
    locations: &[Location::plugin("{app}/Claude/Claude Extensions/*/manifest.json")],
    sections,
};

pub(super) fn sections(root: &Node) -> Vec<Section<'_>> {
    let launch = root.get("server").and_then(|server| server.get("mcp_config"));
    let name = root.get("name").and_then(Node::raw).unwrap_or("bundle");
    launch.map(|launch| Section::one(name, launch)).into_iter().collect()
}
