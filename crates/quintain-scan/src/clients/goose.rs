//! Goose: `extensions` in YAML. Those that are built in are no servers.

use quintain_source::Node;

use super::{Client, Location, Section};

pub(super) static GOOSE: Client = Client {
    id: "goose",
    title: "Goose",
    locations: &[
        Location::user("{config}/goose/config.yaml"),
        Location::user("{app}/Block/goose/config/config.yaml"),
    ],
    sections: |root| Section::at(root, &["extensions"]),
};

/// Whether an extension is part of the program.
pub(super) fn is_built_in(node: &Node) -> bool {
    let kind = node.get("type").and_then(Node::raw).unwrap_or_default();
    matches!(kind, "builtin" | "platform" | "frontend" | "inline_python")
}
