//! A package in a `server.json` of the registry of MCP servers.

use quintain_source::Node;

pub(super) fn identifier(package: &Node) -> Option<&str> {
    package.get("registryType").and_then(Node::raw)?;
    package.get("identifier").and_then(Node::raw)
}

/// The command that clients make of a package.
pub(super) fn command(package: &Node) -> Option<Vec<String>> {
    let identifier = identifier(package)?;
    let version = package.get("version").and_then(Node::raw);
    let with = |between: &str| match version {
        Some(version) => format!("{identifier}{between}{version}"),
        None => identifier.to_owned(),
    };
    let mut words: Vec<String> = match package.get("registryType").and_then(Node::raw)? {
        "npm" => vec!["npx".into(), "-y".into(), with("@")],
        "pypi" => vec!["uvx".into(), with("==")],
        // Newer descriptors write the tag or the digest into the name.
        "oci" | "docker" => {
            let image = if identifier.rsplit('/').next().is_some_and(|last| last.contains(':')) {
                identifier.to_owned()
            } else {
                with(":")
            };
            ["docker", "run", "-i", "--rm"].map(String::from).into_iter().chain([image]).collect()
        }
        "nuget" => vec!["dnx".into(), with("@"), "--yes".into()],
        _ => return None,
    };
    for argument in package.get("packageArguments").and_then(Node::as_seq).into_iter().flatten() {
        let name = argument.get("name").and_then(Node::raw).filter(|name| name.starts_with('-'));
        words.extend(name.map(str::to_owned));
        let value = argument.get("value").or_else(|| argument.get("default"));
        words.extend(value.and_then(Node::raw).map(str::to_owned));
    }
    Some(words)
}
