//! Changes one entry of a configuration so that another program is started in front of its server, or another URL is
//! reached. Only the words of that entry change; every other byte of the file stays.
//!
//! A changed file is read again, and refused unless it says what was intended. So files that cannot be edited in this
//! way (TOML, YAML, unusual forms) are shown and not changed.

use std::ops::Range;
use std::path::Path;

use quintain_evidence::connection::Launch;
use quintain_source::Node;

use super::entry::{is_line, words};
use super::{Client, Config, Document, Scope, read};

/// The new way to start or reach a server.
#[derive(Debug, Clone)]
pub enum NewLaunch {
    /// A program with words that precede the recorded command.
    Before {
        program: String,
        words: Vec<String>,
    },
    Url(String),
}

/// Which entry to change.
#[derive(Debug, Clone, Copy)]
pub struct EntryName<'a> {
    pub name: &'a str,
    /// The folder it counts for, if the configuration names one.
    pub project: Option<&'a str>,
}

/// A changed configuration.
#[derive(Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole file.
    pub text: String,
    /// The changed entry, before and after.
    pub before: String,
    pub after: String,
}

/// Why an entry cannot be changed here.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("the entry is not in the file any more")]
    NotFound,
    #[error("{0} files cannot be edited without changing their layout")]
    Format(&'static str),
    #[error("the form of the entry cannot be edited")]
    Form,
}

/// Changes an entry of a JSON configuration, with or without comments.
///
/// # Errors
/// When the entry cannot be changed safely. Then the user has to do it.
pub fn edit(
    client: &'static Client,
    path: &Path,
    text: &str,
    entry: EntryName<'_>,
    new: &NewLaunch,
) -> Result<Edited, EditError> {
    let suffix = path.extension().map(|suffix| suffix.to_string_lossy().to_ascii_lowercase());
    match suffix.as_deref() {
        Some("toml") => return Err(EditError::Format("TOML")),
        Some("yaml" | "yml") => return Err(EditError::Format("YAML")),
        _ => {}
    }
    let before = entry_text(client, path, text, entry).ok_or(EditError::NotFound)?;
    let document = Document::parse(path, text);
    let node = find(client, &document.root, entry).ok_or(EditError::NotFound)?;
    let mut changes = changes(node, text, new).ok_or(EditError::Form)?;
    changes.sort_by_key(|(place, _)| place.start);
    let mut edited = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (place, new) in changes {
        edited.push_str(text.get(at..place.start).ok_or(EditError::Form)?);
        edited.push_str(&new);
        at = place.end;
    }
    edited.push_str(text.get(at..).ok_or(EditError::Form)?);
    let old = read(client, Scope::File, path, text);
    let changed = read(client, Scope::File, path, &edited);
    if !is_as_intended(&old, &changed, entry, new) {
        return Err(EditError::Form);
    }
    let after = entry_text(client, path, &edited, entry).ok_or(EditError::Form)?;
    Ok(Edited { text: edited, before, after })
}

fn find<'n>(client: &Client, root: &'n Node, entry: EntryName<'_>) -> Option<&'n Node> {
    let sections = (client.sections)(root);
    let mut sections = sections.into_iter().filter(|section| section.project == entry.project);
    sections.find_map(|section| match section.name {
        Some(name) => (name == entry.name).then_some(section.servers),
        None => section.servers.get(entry.name),
    })
}

fn entry_text(client: &Client, path: &Path, text: &str, entry: EntryName<'_>) -> Option<String> {
    let document = Document::parse(path, text);
    let node = find(client, &document.root, entry)?;
    text.get(node.span.start..node.span.end).map(str::to_owned)
}

type Change = (Range<usize>, String);

fn changes(node: &Node, text: &str, new: &NewLaunch) -> Option<Vec<Change>> {
    let place = |node: &Node| node.span.start..node.span.end;
    let node = node.get("transport").filter(|inner| inner.as_map().is_some()).unwrap_or(node);
    let (program, front) = match new {
        NewLaunch::Url(url) => {
            let keys = ["url", "serverUrl", "httpUrl", "uri"];
            let old =
                keys.iter().find_map(|key| node.get(key)).filter(|old| old.raw().is_some())?;
            return Some(vec![(place(old), json(url))]);
        }
        NewLaunch::Before { program, words } => (program, words),
    };
    let command = ["command", "cmd"].iter().find_map(|key| node.get(key))?;
    if let Some(items) = command.as_seq() {
        let all: Vec<String> = std::iter::once(program).chain(front).cloned().collect();
        return Some(vec![insertion(command, items.is_empty(), text, &all)?]);
    }
    // An older form of Zed: `command: {path, args, env}`.
    let (holder, command) = match command.as_map() {
        Some(_) => (command, command.get("path")?),
        None => (node, command),
    };
    let line = command.raw()?;
    let old = if is_line(line) { words(line) } else { vec![line.to_owned()] };
    let front: Vec<String> = front.iter().cloned().chain(old).collect();
    let started = (place(command), json(program));
    let arguments = match holder.get("args") {
        None => {
            let list: Vec<String> = front.iter().map(|word| json(word)).collect();
            let text = format!("{}, \"args\": [{}]", started.1, list.join(", "));
            return Some(vec![(started.0, text)]);
        }
        Some(args) => match (args.as_seq(), args.as_str()) {
            (Some(items), _) => insertion(args, items.is_empty(), text, &front)?,
            (None, Some(line)) => {
                let all = front.into_iter().chain(words(line)).map(|word| json(&word));
                (place(args), format!("[{}]", all.collect::<Vec<_>>().join(", ")))
            }
            (None, None) => return None,
        },
    };
    Some(vec![started, arguments])
}

/// Adds items at the start of a list, in the layout of the items that follow.
fn insertion(list: &Node, is_empty: bool, text: &str, items: &[String]) -> Option<Change> {
    let start = list.span.start + 1;
    if !text.get(list.span.start..list.span.end)?.starts_with('[') {
        return None;
    }
    let rest = text.get(start..)?;
    let space = &rest[..rest.len() - rest.trim_start().len()];
    let between = if is_empty || space.is_empty() || !space.contains('\n') { ", " } else { space };
    let between = if between == ", " { between.to_owned() } else { format!(",{between}") };
    let mut new = items.iter().map(|item| json(item)).collect::<Vec<_>>().join(&between);
    if is_empty {
        return Some((start..start, new));
    }
    new.push_str(&between);
    // The space before the first item stays before the new first item.
    let at = start + space.len();
    Some((at..at, new))
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Whether the change is complete, and nothing else changed.
fn is_as_intended(old: &Config, changed: &Config, entry: EntryName<'_>, new: &NewLaunch) -> bool {
    if changed.entries.len() != old.entries.len() || changed.problems != old.problems {
        return false;
    }
    old.entries.iter().zip(&changed.entries).all(|(old, changed)| {
        let is_this = old.name == entry.name && old.project.as_deref() == entry.project;
        if old.name != changed.name || old.project != changed.project {
            return false;
        }
        if !is_this {
            return format!("{:?}", old.launch) == format!("{:?}", changed.launch);
        }
        match (&old.launch, &changed.launch, new) {
            (
                Some(Launch::Command { command, args, env, cwd }),
                Some(Launch::Command { command: program, args: words, env: new_env, cwd: new_cwd }),
                NewLaunch::Before { program: wanted, words: front },
            ) => {
                let expected = front.iter().chain(std::iter::once(command)).chain(args);
                program == wanted
                    && words.iter().eq(expected)
                    && new_env.keys().eq(env.keys())
                    && new_cwd == cwd
            }
            (Some(Launch::Url { .. }), Some(Launch::Url { url, .. }), NewLaunch::Url(wanted)) => {
                url == wanted
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::all;
    use super::*;

    fn client(id: &str) -> &'static Client {
        all().iter().find(|client| client.id == id).unwrap()
    }

    fn before() -> NewLaunch {
        let words = ["record", "-o", "/c.jsonl", "--"].map(str::to_owned).to_vec();
        NewLaunch::Before { program: "/q".into(), words }
    }

    fn changed(id: &str, file: &str, text: &str) -> Result<String, EditError> {
        let entry = EntryName { name: "a", project: None };
        edit(client(id), Path::new(file), text, entry, &before()).map(|edited| edited.text)
    }

    #[test]
    fn only_the_words_of_the_entry_change() {
        for (text, expected) in [
            (
                "{\n  // mine\n  \"mcpServers\": {\n    \"b\": {\"command\": \"x\"},\n    \"a\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"s\"\n      ],\n    }\n  }\n}\n",
                "{\n  // mine\n  \"mcpServers\": {\n    \"b\": {\"command\": \"x\"},\n    \"a\": {\n      \"command\": \"/q\",\n      \"args\": [\n        \"record\",\n        \"-o\",\n        \"/c.jsonl\",\n        \"--\",\n        \"npx\",\n        \"-y\",\n        \"s\"\n      ],\n    }\n  }\n}\n",
            ),
            (
                r#"{"mcpServers":{"a":{"command":"x","args":[ "y" ],"env":{"K":"v"}}}}"#,
                r#"{"mcpServers":{"a":{"command":"/q","args":[ "record", "-o", "/c.jsonl", "--", "x", "y" ],"env":{"K":"v"}}}}"#,
            ),
            (
                r#"{"mcpServers":{"a":{"args":[],"command":"x"}}}"#,
                r#"{"mcpServers":{"a":{"args":["record", "-o", "/c.jsonl", "--", "x"],"command":"/q"}}}"#,
            ),
            (
                r#"{"mcpServers":{"a":{"command":"npx -y s","type":"stdio"}}}"#,
                r#"{"mcpServers":{"a":{"command":"/q", "args": ["record", "-o", "/c.jsonl", "--", "npx", "-y", "s"],"type":"stdio"}}}"#,
            ),
        ] {
            assert_eq!(changed("cursor", "mcp.json", text).as_deref(), Ok(expected));
        }
        let opencode = r#"{"mcp": {"a": {"type": "local", "command": ["x", "y"]}}}"#;
        assert_eq!(
            changed("opencode", "opencode.jsonc", opencode).as_deref(),
            Ok(
                r#"{"mcp": {"a": {"type": "local", "command": ["/q", "record", "-o", "/c.jsonl", "--", "x", "y"]}}}"#
            )
        );
        let zed = r#"{"context_servers": {"a": {"command": {"path": "x", "args": ["y"]}}}}"#;
        assert!(changed("zed", "settings.json", zed).unwrap().contains(r#""--", "x", "y"]"#));
    }

    #[test]
    fn the_entry_of_the_named_project_changes() {
        let text = r#"{"mcpServers":{"a":{"command":"x"}},"projects":{"/p":{"mcpServers":{"a":{"command":"x"}}}}}"#;
        let entry = EntryName { name: "a", project: Some("/p") };
        let edited =
            edit(client("claude-code"), Path::new(".claude.json"), text, entry, &before()).unwrap();
        assert!(
            edited.text.starts_with(r#"{"mcpServers":{"a":{"command":"x"}},"#),
            "{}",
            edited.text
        );
        assert_eq!(edited.before, r#"{"command":"x"}"#);
        assert!(edited.after.contains("/c.jsonl"));
    }

    #[test]
    fn urls_are_replaced() {
        let text = r#"{"mcpServers":{"a":{"serverUrl": "https://h/mcp", "headers":{"K":"v"}}}}"#;
        let entry = EntryName { name: "a", project: None };
        let new = NewLaunch::Url("http://127.0.0.1:8/mcp".into());
        let edited =
            edit(client("windsurf"), Path::new("mcp_config.json"), text, entry, &new).unwrap();
        assert_eq!(edited.text, text.replace("https://h/mcp", "http://127.0.0.1:8/mcp"));
    }

    #[test]
    fn what_cannot_be_edited_safely_is_refused() {
        let codex = "[mcp_servers.a]\ncommand = \"x\"\n";
        assert_eq!(changed("codex", "config.toml", codex), Err(EditError::Format("TOML")));
        assert_eq!(
            changed("goose", "config.yaml", "extensions: {a: {cmd: x}}"),
            Err(EditError::Format("YAML"))
        );
        assert_eq!(
            changed("cursor", "mcp.json", r#"{"mcpServers":{"b":{"command":"x"}}}"#),
            Err(EditError::NotFound)
        );
        assert_eq!(
            changed("cursor", "mcp.json", r#"{"mcpServers":{"a":{"url":"http://h"}}}"#),
            Err(EditError::Form)
        );
        assert_eq!(
            changed("cursor", "mcp.json", r#"{"mcpServers":{"a":{"command":"x","args":7}}}"#),
            Err(EditError::Form)
        );
    }
}
