//! Adds a server to the configuration of a client. Only the new entry is inserted or replaced; every other byte of the
//! file stays, comments included. A changed file is read again, and refused unless it says what was intended.

use std::path::PathBuf;

use quintain_source::Node;
use serde_json::{Map, Value, json};

use super::edit::{EditError, Edited};
use super::{Client, Dirs, Document, all};

/// Where a client reads servers from, and in which form.
#[derive(Debug)]
struct Host {
    /// The id of the [`Client`], and other names.
    names: &'static [&'static str],
    user: &'static str,
    project: Option<&'static str>,
    /// The key of the section with its servers.
    section: &'static str,
    form: Form,
}

/// How a client writes the kind of a server, and the key of a URL.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// The value of `type` for a command; without one, there is no `type`.
    command: Option<&'static str>,
    /// Whether a URL has `type: http`.
    has_http_type: bool,
    url: &'static str,
    /// Further keys, as JSON.
    more: Option<(&'static str, &'static str)>,
}

const PLAIN: Form = Form { command: None, has_http_type: false, url: "url", more: None };
const TYPED: Form = Form { command: Some("stdio"), has_http_type: true, url: "url", more: None };

/// Every client whose configuration this module can change.
const HOSTS: [Host; 10] = [
    Host {
        names: &["claude-code", "claude"],
        user: "~/.claude.json",
        project: Some("{project}/.mcp.json"),
        section: "mcpServers",
        form: TYPED,
    },
    Host {
        names: &["claude-desktop"],
        user: "{app}/Claude/claude_desktop_config.json",
        project: None,
        section: "mcpServers",
        form: PLAIN,
    },
    Host {
        names: &["vs-code", "vscode", "code"],
        user: "{app}/Code/User/mcp.json",
        project: Some("{project}/.vscode/mcp.json"),
        section: "servers",
        form: TYPED,
    },
    Host {
        names: &["vs-code-insiders", "vscode-insiders"],
        user: "{app}/Code - Insiders/User/mcp.json",
        project: Some("{project}/.vscode/mcp.json"),
        section: "servers",
        form: TYPED,
    },
    Host {
        names: &["cursor"],
        user: "~/.cursor/mcp.json",
        project: Some("{project}/.cursor/mcp.json"),
        section: "mcpServers",
        form: PLAIN,
    },
    Host {
        names: &["windsurf"],
        user: "~/.codeium/windsurf/mcp_config.json",
        project: None,
        section: "mcpServers",
        form: Form { url: "serverUrl", ..PLAIN },
    },
    Host {
        names: &["gemini", "gemini-cli"],
        user: "~/.gemini/settings.json",
        project: Some("{project}/.gemini/settings.json"),
        section: "mcpServers",
        form: Form { url: "httpUrl", ..PLAIN },
    },
    Host {
        names: &["copilot-cli"],
        user: "~/.copilot/mcp-config.json",
        project: None,
        section: "mcpServers",
        form: Form {
            command: Some("local"),
            has_http_type: true,
            more: Some(("tools", "[\"*\"]")),
            ..PLAIN
        },
    },
    Host {
        names: &["lm-studio"],
        user: "~/.lmstudio/mcp.json",
        project: None,
        section: "mcpServers",
        form: PLAIN,
    },
    Host {
        names: &["zed"],
        user: "{config}/zed/settings.json",
        project: None,
        section: "context_servers",
        form: Form { more: Some(("source", "\"custom\"")), ..PLAIN },
    },
];

/// How the new server is started or reached.
#[derive(Debug, Clone)]
pub enum NewServer {
    Command { program: String, args: Vec<String> },
    Url(String),
}

/// Where the new entry goes.
#[derive(Debug)]
pub struct Place {
    /// What people call the client.
    pub title: &'static str,
    pub path: PathBuf,
    section: &'static str,
    form: Form,
}

/// The names of all clients.
pub fn installable() -> Vec<&'static str> {
    HOSTS.iter().flat_map(|host| host.names.iter().copied()).collect()
}

/// Where a client reads its servers: for the user, or for the folder of the project. `None` if there is no such place.
pub fn place(client: &str, of_project: bool, dirs: &Dirs) -> Option<Place> {
    let host = HOSTS.iter().find(|host| host.names.contains(&client))?;
    let pattern = if of_project { host.project? } else { host.user };
    let (base, rest) = pattern.split_once('/')?;
    let base = match base {
        "~" => dirs.home.clone()?,
        "{app}" => dirs.app.clone()?,
        "{config}" => dirs.config.clone()?,
        _ => dirs.project.clone(),
    };
    let known: Option<&Client> = all().iter().copied().find(|known| host.names.contains(&known.id));
    let title = known.map_or(host.names[0], |known| known.title);
    Some(Place { title, path: base.join(rest), section: host.section, form: host.form })
}

impl Place {
    /// The same client with another file.
    #[must_use]
    pub fn at(self, path: PathBuf) -> Self {
        Self { path, ..self }
    }

    /// The entry as the client expects it.
    pub fn entry(&self, server: &NewServer) -> Value {
        let mut entry = Map::new();
        match server {
            NewServer::Command { program, args } => {
                entry.extend(self.form.command.map(|kind| ("type".to_owned(), json!(kind))));
                entry.insert("command".to_owned(), json!(program));
                entry.insert("args".to_owned(), json!(args));
            }
            NewServer::Url(url) => {
                if self.form.has_http_type {
                    entry.insert("type".to_owned(), json!("http"));
                }
                entry.insert(self.form.url.to_owned(), json!(url));
            }
        }
        let more =
            self.form.more.and_then(|(key, text)| Some((key, serde_json::from_str(text).ok()?)));
        entry.extend(more.map(|(key, value): (&str, Value)| (key.to_owned(), value)));
        Value::Object(entry)
    }

    /// Adds the entry to the text of the file, or replaces the one of that name. `None` if it is there already.
    ///
    /// # Errors
    /// If the file cannot be changed safely. Then the user has to do it.
    pub fn add(
        &self,
        text: &str,
        name: &str,
        server: &NewServer,
    ) -> Result<Option<Edited>, EditError> {
        let entry = self.entry(server);
        if text.trim().is_empty() {
            let whole = json!({self.section: {name: entry}});
            let text = format!("{whole:#}\n");
            return Ok(Some(Edited { text, before: String::new(), after: format!("{entry:#}") }));
        }
        let old = Document::parse(&self.path, text);
        if old.dx.has_errors()
            || old.root.as_map().is_none()
            || !text.trim_start().starts_with(['{', '/'])
        {
            return Err(EditError::Form);
        }
        let section = old.root.get(self.section);
        let existing = section.and_then(|section| section.get(name));
        let (range, inserted, before) = match (section, existing) {
            (_, Some(node)) => {
                if node.to_json() == entry {
                    return Ok(None);
                }
                let depth = indentation(text, node.span.start);
                let before = text.get(node.span.start..node.span.end).ok_or(EditError::Form)?;
                (node.span.start..node.span.end, pretty(&entry, &depth), before.to_owned())
            }
            (Some(section), None) => {
                let (at, text) = member(text, section, name, &entry)?;
                (at..at, text, String::new())
            }
            (None, None) => {
                let (at, text) = member(text, &old.root, self.section, &json!({name: entry}))?;
                (at..at, text, String::new())
            }
        };
        let mut edited = text.get(..range.start).ok_or(EditError::Form)?.to_owned();
        edited.push_str(&inserted);
        edited.push_str(text.get(range.end..).ok_or(EditError::Form)?);
        let changed = Document::parse(&self.path, &edited);
        let mut expected = old.root.to_json();
        if expected.get(self.section).is_none_or(Value::is_null) {
            expected[self.section] = json!({});
        }
        expected[self.section][name] = entry.clone();
        if changed.dx.has_errors() || changed.root.to_json() != expected {
            return Err(EditError::Form);
        }
        Ok(Some(Edited { text: edited, before, after: format!("{entry:#}") }))
    }
}

/// Where a new last member of a map goes, and its text.
fn member(text: &str, map: &Node, key: &str, value: &Value) -> Result<(usize, String), EditError> {
    let entries = map.as_map().ok_or(EditError::Form)?;
    let key = Value::from(key).to_string();
    let Some((_, last)) = entries.last() else {
        let open = map.span.start;
        if text.get(open..=open) != Some("{") {
            return Err(EditError::Form);
        }
        let outer = indentation(text, open);
        let inner = format!("{outer}  ");
        let is_closed_at_once = text
            .get(open + 1..)
            .is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with('}'));
        let end = if is_closed_at_once { format!("\n{outer}") } else { String::new() };
        return Ok((open + 1, format!("\n{inner}{key}: {}{end}", pretty(value, &inner))));
    };
    let end = last.span.end;
    let rest = text.get(end..).ok_or(EditError::Form)?;
    let has_comma = rest.trim_start().starts_with(',');
    let at = if has_comma { end + rest.find(',').unwrap_or(0) + 1 } else { end };
    let first = entries.first().map_or(last.span.start, |(key, _)| key.span.start);
    let inner = indentation(text, first);
    let comma = if has_comma { "" } else { "," };
    let trailing = if has_comma { "," } else { "" };
    Ok((at, format!("{comma}\n{inner}{key}: {}{trailing}", pretty(value, &inner))))
}

/// The white space at the beginning of the line of a place.
fn indentation(text: &str, at: usize) -> String {
    let line = text.get(..at).and_then(|front| front.rsplit('\n').next()).unwrap_or_default();
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).collect()
}

/// A value over several lines, of which the first is where it is inserted.
fn pretty(value: &Value, indentation: &str) -> String {
    format!("{value:#}").replace('\n', &format!("\n{indentation}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn dirs() -> Dirs {
        let home = Some(PathBuf::from("/home/ann"));
        let app = Some(PathBuf::from("/home/ann/.config"));
        Dirs { home, config: app.clone(), app, project: PathBuf::from("/work"), ..Dirs::default() }
    }

    fn server() -> NewServer {
        NewServer::Command { program: "quintain".into(), args: vec!["serve".into()] }
    }

    fn added(client: &str, text: &str) -> String {
        let place = place(client, false, &dirs()).unwrap();
        place.add(text, "quintain", &server()).unwrap().unwrap().text
    }

    #[test]
    fn every_client_has_a_place_and_reads_what_was_written() {
        for name in installable() {
            let place = place(name, false, &dirs()).unwrap();
            for server in [server(), NewServer::Url("http://127.0.0.1:8765/mcp".into())] {
                let text = place.add("", "quintain", &server).unwrap().unwrap().text;
                let value: Value = serde_json::from_str(&text).unwrap();
                assert_eq!(value[place.section]["quintain"], place.entry(&server), "{name}");
                let host = HOSTS.iter().find(|host| host.names.contains(&name)).unwrap();
                let client = all().iter().copied().find(|known| host.names.contains(&known.id));
                let client = client.unwrap_or_else(|| panic!("`{name}` is not a known client"));
                let config =
                    super::super::read(client, super::super::Scope::File, &place.path, &text);
                assert_eq!(config.entries.len(), 1, "{name}: {text}");
                assert!(config.entries[0].launch.is_some(), "{name}: {text}");
                assert!(place.add(&text, "quintain", &server).unwrap().is_none(), "{name}");
            }
        }
    }

    #[test]
    fn other_bytes_stay() {
        let text = "{\n  // mine\n  \"servers\": {\n    \"git\": {\"command\": \"git-mcp\"}, // keep\n  },\n  \"inputs\": []\n}\n";
        let changed = added("vscode", text);
        assert!(changed.contains("// mine") && changed.contains("// keep"), "{changed}");
        assert!(changed.contains("\"git\": {\"command\": \"git-mcp\"},"), "{changed}");
        let document = Document::parse(Path::new("mcp.json"), &changed);
        assert_eq!(document.root.to_json()["servers"]["quintain"]["command"], "quintain");
    }

    #[test]
    fn empty_maps_and_missing_sections_are_filled() {
        for text in [
            "{}",
            "{\"mcpServers\": {}}",
            "{\n  \"theme\": \"dark\"\n}\n",
            "{\"a\":1,\"mcpServers\":{\"x\":{\"command\":\"x\"}}}",
        ] {
            let value: Value = serde_json::from_str(&added("cursor", text)).unwrap();
            assert_eq!(value["mcpServers"]["quintain"]["args"], json!(["serve"]), "{text}");
        }
    }

    #[test]
    fn an_entry_of_that_name_is_replaced_and_broken_files_are_refused() {
        let text =
            "{\"mcpServers\": {\"quintain\": {\"command\": \"old\"}, \"b\": {\"command\": \"b\"}}}";
        let value: Value = serde_json::from_str(&added("cursor", text)).unwrap();
        assert_eq!(value["mcpServers"]["quintain"]["command"], "quintain");
        assert_eq!(value["mcpServers"]["b"]["command"], "b");
        let place = place("cursor", false, &dirs()).unwrap();
        for text in ["[]", "{\"mcpServers\": [}", "not json"] {
            assert!(place.add(text, "quintain", &server()).is_err(), "{text}");
        }
    }
}
