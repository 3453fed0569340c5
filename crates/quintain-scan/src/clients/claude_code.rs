//! Claude Code: servers of the user, of single projects, of plugins, of the machine.

use quintain_source::Node;

use super::section::{mcp_servers, wrapped_or_flat};
use super::{Client, Location, Section};

pub(super) static CLAUDE_CODE: Client = Client {
    id: "claude-code",
    title: "Claude Code",
    locations: &[
        Location::user("~/.claude.json"),
        Location::user("$CLAUDE_CONFIG_DIR/.claude.json"),
        Location::project("{ancestors}/.mcp.json"),
        Location::plugin("~/.claude/plugins/cache/**/.mcp.json"),
        Location::plugin("~/.claude/plugins/repos/**/.mcp.json"),
        Location::plugin("~/.claude/plugins/cache/**/plugin.json"),
        Location::plugin("~/.claude/plugins/repos/**/plugin.json"),
        Location::system("/etc/claude-code/managed-mcp.json"),
        Location::system("/Library/Application Support/ClaudeCode/managed-mcp.json"),
        Location::system("$ProgramFiles/ClaudeCode/managed-mcp.json"),
    ],
    sections,
};

pub(super) fn sections(root: &Node) -> Vec<Section<'_>> {
    let Some(projects) = root.get("projects").and_then(Node::as_map) else {
        return wrapped_or_flat(root);
    };
    let mut found = mcp_servers(root);
    for (folder, project) in projects {
        for section in mcp_servers(project) {
            found.push(Section { project: Some(&folder.text), ..section });
        }
    }
    found
}
