//! opencode: `mcp`, with the command as a list.

use super::{Client, Location, Section};

pub(super) static OPENCODE: Client = Client {
    id: "opencode",
    title: "opencode",
    locations: &[
        Location::user("{config}/opencode/opencode.json"),
        Location::user("{config}/opencode/opencode.jsonc"),
        Location::user("~/.opencode/opencode.json"),
        Location::user("~/.opencode/opencode.jsonc"),
        Location::user("$OPENCODE_CONFIG"),
        Location::user("$OPENCODE_CONFIG_DIR/opencode.json"),
        Location::system("/etc/opencode/opencode.json"),
        Location::system("/etc/opencode/opencode.jsonc"),
        Location::project("{project}/opencode.json"),
        Location::project("{project}/opencode.jsonc"),
    ],
    sections: |root| Section::at(root, &["mcp"]),
};
