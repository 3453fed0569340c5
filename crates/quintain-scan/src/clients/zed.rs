//! Zed: `context_servers` of its settings. Servers of its extensions name no command.

use super::{Client, Location, Section};

pub(super) static ZED: Client = Client {
    id: "zed",
    title: "Zed",
    locations: &[
        Location::user("{config}/zed/settings.json"),
        Location::user("{app}/Zed/settings.json"),
        Location::project("{project}/.zed/settings.json"),
    ],
    sections: |root| Section::at(root, &["context_servers"]),
};
