//! Classifies values by their name, description and schema.

use quintain_evidence::lexicon::words;
use serde_json::Value;

use super::Kind;

/// Words in names, and the kinds they indicate, most likely first.
const NAMES: &[(&[&str], Kind)] = &[
    (
        &[
            "path",
            "file",
            "filename",
            "filepath",
            "dir",
            "directory",
            "folder",
            "cwd",
            "root",
            "source",
            "destination",
            "dest",
            "output",
            "input",
            "repo",
            "workspace",
            "document",
            "image",
            "attachment",
            "location",
            "config",
            "log",
            "report",
            "invoice",
            "statement",
        ],
        Kind::Path,
    ),
    (
        &[
            "url", "uri", "endpoint", "link", "webhook", "callback", "href", "feed", "site",
            "address",
        ],
        Kind::Url,
    ),
    (&["host", "hostname", "domain", "ip", "server", "target", "gateway", "proxy"], Kind::Host),
    (
        &["command", "cmd", "shell", "script", "args", "arguments", "flags", "options", "program"],
        Kind::Command,
    ),
    (&["sql", "statement", "cypher", "kql", "graphql"], Kind::Query),
    (
        &[
            "query", "filter", "where", "search", "table", "column", "sort", "order", "field",
            "term", "keyword", "status", "category", "criteria", "selector",
        ],
        Kind::Filter,
    ),
    (
        &["expression", "expr", "formula", "template", "code", "eval", "calculation", "script"],
        Kind::Expression,
    ),
    (&["pattern", "regex", "regexp", "glob", "mask"], Kind::Pattern),
    (
        &[
            "name",
            "branch",
            "ref",
            "revision",
            "commit",
            "tag",
            "key",
            "package",
            "module",
            "container",
            "namespace",
            "resource",
            "service",
            "user",
            "username",
            "label",
            "job",
            "device",
            "emulator",
            "app",
            "bundle",
            "remote",
            "version",
            "pod",
            "image",
        ],
        Kind::Name,
    ),
    (&["id", "uuid", "guid", "number", "identifier"], Kind::Id),
    (
        &[
            "text",
            "message",
            "content",
            "body",
            "note",
            "comment",
            "description",
            "title",
            "prompt",
        ],
        Kind::Text,
    ),
];

/// Words in descriptions that indicate a kind.
const DESCRIPTIONS: &[(&[&str], Kind)] = &[
    (&["path", "file", "directory", "folder"], Kind::Path),
    (&["url", "uri", "http"], Kind::Url),
    (&["host", "hostname", "domain"], Kind::Host),
    (&["command", "shell"], Kind::Command),
    (&["expression", "template", "formula"], Kind::Expression),
    (&["filter", "search", "query"], Kind::Filter),
    (&["regular", "regex", "pattern"], Kind::Pattern),
];

/// What a value appears to mean, most likely first.
pub fn classify(name: &str, description: Option<&str>, schema: &Value) -> Vec<Kind> {
    let mut kinds = Vec::new();
    let mut add = |kind: Kind| {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    };
    match schema.get("format").and_then(Value::as_str) {
        Some("uri" | "url" | "uri-reference" | "iri") => add(Kind::Url),
        Some("hostname" | "ipv4" | "ipv6") => add(Kind::Host),
        Some("regex") => add(Kind::Pattern),
        Some("uuid") => add(Kind::Id),
        _ => {}
    }
    if matches!(schema.get("type").and_then(Value::as_str), Some("number" | "integer")) {
        add(Kind::Number);
    }
    let name_words = words(name);
    // The last word names the thing, the others qualify it.
    for word in name_words.iter().rev() {
        let singular = word.strip_suffix('s').unwrap_or(word);
        for (known, kind) in NAMES {
            if known.contains(&word.as_str()) || known.contains(&singular) {
                add(*kind);
            }
        }
    }
    let described = words(description.unwrap_or_default());
    for (known, kind) in DESCRIPTIONS {
        if described.iter().any(|word| known.contains(&word.as_str())) {
            add(*kind);
        }
    }
    add(Kind::Other);
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_word_of_a_name_counts_most() {
        let first = |name: &str| classify(name, None, &json!({"type": "string"}))[0];
        assert_eq!(first("file_path"), Kind::Path);
        assert_eq!(first("source_url"), Kind::Url);
        assert_eq!(first("customerId"), Kind::Id);
        assert_eq!(first("branch_name"), Kind::Name);
        assert_eq!(first("xyz"), Kind::Other);
    }

    #[test]
    fn formats_and_descriptions_speak_too() {
        assert_eq!(classify("x", None, &json!({"format": "uri"}))[0], Kind::Url);
        let kinds = classify("what", Some("Path of the file to show"), &json!({}));
        assert_eq!(kinds[0], Kind::Path);
    }
}
