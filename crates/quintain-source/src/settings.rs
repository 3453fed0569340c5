//! Reads settings of other programs, in the format of their suffix.

use std::path::Path;

use crate::diagnostic::Diagnostics;
use crate::file::{FileId, Sources};
use crate::node::Node;
use crate::{json, toml, yaml};

/// Reads TOML, YAML, or otherwise JSON with comments and trailing commas. An empty file is valid. For
/// invalid TOML, the valid rest is returned.
pub fn read_settings(sources: &Sources, id: FileId, dx: &mut Diagnostics) -> Option<Node> {
    let file = sources.get(id)?;
    if file.text().trim().is_empty() {
        return Some(Node::default());
    }
    let suffix = Path::new(file.name()).extension().and_then(|suffix| suffix.to_str());
    let suffix = suffix.unwrap_or_default().to_ascii_lowercase();
    if matches!(suffix.as_str(), "yaml" | "yml") {
        return yaml::read(sources, id, dx);
    }
    if let Some(diagnostic) = yaml::unreadable(file, id) {
        dx.push(diagnostic);
        return None;
    }
    if suffix == "toml" {
        return Some(toml::read(file.text(), id, dx));
    }
    json::read_relaxed(file.text(), id, dx)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::SourceFile;

    fn parse(name: &str, text: &str) -> (Option<Value>, Vec<(String, String)>) {
        let mut sources = Sources::new();
        let id = sources.add(SourceFile::new(name, text));
        let mut dx = Diagnostics::new();
        let node = read_settings(&sources, id, &mut dx);
        let place = |span| sources.describe(span).unwrap_or_default();
        let reported = dx.iter().map(|d| (d.span().map_or_else(String::new, place), d.text()));
        (node.map(|node| node.to_json()), reported.collect())
    }

    #[test]
    fn comments_and_trailing_commas_are_understood() {
        let text = "// settings\n{\"a\": [1, /* two */ 2,], // three\n \"b\": true/**/, \"c\": \"//\",\n}\n/* end";
        assert_eq!(
            parse("settings.json", text),
            (Some(json!({"a": [1, 2], "b": true, "c": "//"})), vec![])
        );
    }

    #[test]
    fn errors_are_reported_with_their_place() {
        let (node, reported) = parse("mcp.json", "{\n  \"a\": ,\n}");
        assert_eq!(node, None);
        assert_eq!(reported[0].0, "mcp.json:2:8");
        assert!(parse("mcp.json", "{,}").0.is_none());
        assert!(parse("mcp.json", "{} x").0.is_none());
    }

    #[test]
    fn toml_keeps_its_order_and_what_is_sound() {
        let text = "z = 1_000\na = 'x'\n[t.\"q r\"]\nlist = [true, 1.5]\n";
        let (node, reported) = parse("config.toml", text);
        let node = node.unwrap();
        assert_eq!(node, json!({"z": 1000, "a": "x", "t": {"q r": {"list": [true, 1.5]}}}));
        assert_eq!(node.as_object().unwrap().keys().collect::<Vec<_>>(), ["z", "a", "t"]);
        assert_eq!(reported, []);
        let (node, reported) = parse("config.toml", "[a]\nx = \n[b]\ny = 2\n");
        assert_eq!(node.unwrap()["b"], json!({"y": 2}));
        assert!(reported[0].0.starts_with("config.toml:2:"), "{reported:?}");
    }

    #[test]
    fn an_empty_file_is_no_mistake() {
        assert_eq!(parse("mcp.json", " \n"), (Some(Value::Null), vec![]));
    }
}
