//! Goose: `extensions` in YAML. Those that are built in are no servers.

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
