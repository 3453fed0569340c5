//! Different servers that share a name.

use quintain_content::registry::Meta;
use quintain_evidence::connection::Launch;
use quintain_evidence::finding::Severity;
use quintain_evidence::weakness::Weakness;

use super::program::written;
use super::{Concern, LaunchCheck, Scene};
use crate::clients::{Config, Entry, Scope};

pub(super) static CONFLICTING_SERVERS: LaunchCheck = LaunchCheck { meta: Meta {
    id: "conflicting-servers",
    aliases: &[],
    summary: "Different servers share a name",
    docs: "\
# What it does
Compares servers of one name across all configurations that were found: whether they have the same command or URL. Where
a project's configuration replaces a server of the user, the severity is medium.

# Why it matters
You may have reviewed the server in one client, while another client runs a different server under the same name. A freshly cloned
project can replace a server that the user trusts.

# What counts as proof
The commands or URLs differ; Quintain ignores environment variables and headers.

# Example
```json
{\"mcpServers\": {\"notes\": {\"command\": \"node\", \"args\": [\"/srv/notes.js\"]}}}
```

# References
- CWE-694, OWASP MCP09
",
    since: "0.1.0",
}, weakness: Weakness { severity: Severity::Low, cwe: &[694], frameworks: &["MCP09", "ASI04"] }, look };

/// Reports a pair once, at the later of the two.
fn look(scene: &Scene<'_>) -> Vec<Concern> {
    let own = identity(scene.launch);
    let others = scene
        .configs
        .iter()
        .flat_map(|config| config.entries.iter().map(move |entry| (config, entry)));
    let before = others.take_while(|(_, entry)| !std::ptr::eq(*entry, scene.entry));
    let mut different: Vec<(&Config, &Entry)> = before
        .filter(|(_, entry)| entry.name == scene.entry.name && !entry.disabled)
        .filter(|(_, entry)| entry.launch.as_ref().is_some_and(|other| identity(other) != own))
        .collect();
    different.dedup_by_key(|(config, _)| config.client.id);
    if different.is_empty() {
        return Vec::new();
    }
    let name = &scene.entry.name;
    let of = |(config, _): &(&Config, &Entry)| {
        format!("{} ({})", config.client.title, config.path.display())
    };
    let places: Vec<String> = different.iter().map(of).collect();
    let concern = Concern::new(
        "name",
        "Another server has the same name",
        format!("`{name}` is another server in {}", places.join(", ")),
    )
    .help("rename one of them if both are intended");
    let project = scene.config.scope == Scope::Project || scene.entry.project.is_some();
    let replaces = project
        && different.iter().any(|(config, entry)| {
            std::ptr::eq(config.client, scene.config.client) && entry.project.is_none()
        });
    vec![if replaces { concern.severity(Severity::Medium) } else { concern }]
}

/// What distinguishes servers.
fn identity(launch: &Launch) -> Vec<String> {
    match launch {
        Launch::Url { url, .. } => vec![url.trim_end_matches('/').to_owned()],
        other => written(other).into_iter().map(|word| word.text).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch_checks::testing::{config, look_at};

    const NOTES: &str = r#"{"notes": {"command": "node", "args": ["a.js"], "env": {"A": "1"}}}"#;

    #[test]
    fn the_later_of_two_is_told() {
        let other = r#"{"notes": {"command": "node", "args": ["b.js"]}}"#;
        let configs = [
            config("cursor", Scope::User, NOTES),
            config("zed", Scope::User, "{}"),
            config("cursor", Scope::Project, other),
        ];
        assert_eq!(look_at(&CONFLICTING_SERVERS, &configs, 0), []);
        let [concern] = &look_at(&CONFLICTING_SERVERS, &configs, 2)[..] else {
            panic!("not reported")
        };
        assert_eq!(concern.severity, Some(Severity::Medium));
        assert!(concern.what.contains("Cursor (/home/me/mcp.json)"));
    }

    #[test]
    fn equal_launches_and_disabled_ones_do_not_count() {
        let same = r#"{"notes": {"command": "node", "args": ["a.js"]}}"#;
        let off = r#"{"notes": {"command": "x", "disabled": true}}"#;
        let configs = [
            config("kiro", Scope::User, off),
            config("cursor", Scope::User, NOTES),
            config("windsurf", Scope::User, same),
        ];
        assert_eq!(look_at(&CONFLICTING_SERVERS, &configs, 2), []);
    }
}
