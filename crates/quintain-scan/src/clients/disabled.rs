//! Lists of names next to the servers that disable some of them.

use quintain_source::Node;

use super::{Config, Scope};

/// Servers that are not used.
const DENIED: [&[&str]; 4] = [
    &["disabledMcpServers"],
    &["disabledMcpjsonServers"],
    &["excludeMCPServers"],
    &["mcp", "excluded"],
];
/// If there is such a list, all others are not used.
const ALLOWED: [&[&str]; 2] = [&["allowMCPServers"], &["mcp", "allowed"]];

/// What a list says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The folder it counts for; everywhere, if there is none.
    pub project: Option<String>,
    /// Whether it names the only ones that are used, rather than those that are not.
    allows: bool,
    names: Vec<String>,
}

impl Rule {
    fn disables(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name) != self.allows
    }
}

/// The lists of a configuration, and those of single folders in it.
pub(super) fn rules(root: &Node) -> Vec<Rule> {
    let mut found = of(root, None);
    for (folder, node) in root.get("projects").and_then(Node::as_map).unwrap_or_default() {
        found.extend(of(node, Some(&folder.text)));
    }
    found
}

fn of(node: &Node, project: Option<&str>) -> Vec<Rule> {
    let list = |way: &[&str], allows: bool| {
        let list = way.iter().try_fold(node, |node, key| node.get(key))?.as_seq()?;
        let names: Vec<String> = list.iter().filter_map(Node::raw).map(str::to_owned).collect();
        // An empty list of allowed ones is what clients write where nobody has chosen any.
        let project = project.map(str::to_owned);
        (!names.is_empty()).then_some(Rule { project, allows, names })
    };
    let denied = DENIED.iter().filter_map(|way| list(way, false));
    denied.chain(ALLOWED.iter().filter_map(|way| list(way, true))).collect()
}

/// Marks what lists disable: servers of the same file, and of files in the folders that lists name.
pub fn apply(configs: &mut [Config]) {
    let rules: Vec<(usize, Rule)> = configs
        .iter()
        .enumerate()
        .flat_map(|(at, config)| config.rules.iter().map(move |rule| (at, rule.clone())))
        .collect();
    for (at, config) in configs.iter_mut().enumerate() {
        let folder = config.path.parent().map(|folder| folder.display().to_string());
        let folder = folder.filter(|_| config.scope == Scope::Project);
        for entry in &mut config.entries {
            let concerns = |(from, rule): &&(usize, Rule)| {
                let here = *from == at && rule.project == entry.project;
                here || (rule.project.is_some() && rule.project == folder)
            };
            let named = rules.iter().filter(concerns);
            entry.disabled |= named.into_iter().any(|(_, rule)| rule.disables(&entry.name));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{all, read};
    use super::*;

    fn config(id: &str, scope: Scope, path: &str, text: &str) -> Config {
        let client = all().iter().find(|client| client.id == id).unwrap();
        read(client, scope, Path::new(path), text)
    }

    fn disabled(configs: &[Config]) -> Vec<&str> {
        let entries = configs.iter().flat_map(|config| &config.entries);
        entries.filter(|entry| entry.disabled).map(|entry| entry.name.as_str()).collect()
    }

    #[test]
    fn lists_beside_the_servers_disable_them() {
        let gemini = r#"{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}, "c": {"command": "z"}},
            "mcp": {"excluded": ["b"], "allowed": ["a", "b"]}}"#;
        let mut configs = [config("gemini-cli", Scope::User, "/h/.gemini/settings.json", gemini)];
        assert_eq!(disabled(&configs), [""; 0], "a file alone says what it says");
        apply(&mut configs);
        assert_eq!(disabled(&configs), ["b", "c"]);
    }

    #[test]
    fn lists_of_a_folder_count_for_its_own_file() {
        let user = r#"{"mcpServers": {"a": {"command": "x"}}, "projects": {"/w": {
            "mcpServers": {"a": {"command": "y"}, "d": {"command": "y"}},
            "disabledMcpServers": ["d"], "disabledMcpjsonServers": ["p"]}}}"#;
        let project = r#"{"mcpServers": {"p": {"command": "x"}, "q": {"command": "y"}}}"#;
        let mut configs = [
            config("claude-code", Scope::User, "/h/.claude.json", user),
            config("claude-code", Scope::Project, "/w/.mcp.json", project),
            config("claude-code", Scope::Project, "/other/.mcp.json", project),
        ];
        apply(&mut configs);
        assert_eq!(disabled(&configs), ["d", "p"]);
    }

    #[test]
    fn what_is_no_list_of_names_disables_nothing() {
        let text = r#"{"mcpServers": {"a": {"command": "x"}}, "disabledMcpServers": "a",
            "mcp": {"allowed": []}, "projects": 7}"#;
        let mut configs = [config("cursor", Scope::User, "/h/mcp.json", text)];
        apply(&mut configs);
        assert_eq!(disabled(&configs), [""; 0]);
    }
}
