//! What the formats of the clients look like, and that nothing in them can do harm.

use std::collections::BTreeMap;

use quintain_evidence::connection::Transport;
use secrecy::ExposeSecret;

use super::*;

fn client(id: &str) -> &'static Client {
    all().iter().find(|client| client.id == id).unwrap()
}

fn parse(id: &str, name: &str, text: &str) -> Config {
    read(client(id), Scope::User, Path::new(name), text)
}

/// A launch in one line.
fn line(entry: &Entry) -> String {
    let pairs = |pairs: Vec<(&String, &secrecy::SecretString)>| {
        let shown = pairs.iter().map(|(name, value)| format!(" {name}={}", value.expose_secret()));
        shown.collect::<String>()
    };
    match &entry.launch {
        None => format!("{}: none", entry.name),
        Some(Launch::Command { command, args, env, cwd }) => {
            let words: Vec<&str> =
                std::iter::once(command).chain(args).map(String::as_str).collect();
            let cwd = cwd.as_ref().map_or_else(String::new, |cwd| format!(" in {}", cwd.display()));
            format!("{}: {}{}{cwd}", entry.name, words.join(" "), pairs(env.iter().collect()))
        }
        Some(Launch::Url { url, headers, transport, .. }) => {
            let headers = pairs(headers.iter().map(|(name, value)| (name, value)).collect());
            let transport = match transport {
                Transport::Auto => "auto",
                Transport::StreamableHttp => "http",
                Transport::Sse => "sse",
            };
            format!("{}: {transport} {url}{headers}", entry.name)
        }
        Some(Launch::Path { .. }) => unreachable!("no client has it"),
    }
}

fn lines(config: &Config) -> Vec<String> {
    assert_eq!(config.problems, []);
    config.entries.iter().map(line).collect()
}

#[test]
fn the_common_form_is_read() {
    let text = r#"{"mcpServers": {
        "files": {"command": "npx", "args": ["-y", "server-files", 7], "env": {"K": "v", "N": 1}, "cwd": "/w"},
        "remote": {"type": "streamable-http", "url": "https://x/mcp", "headers": {"A": "b"}},
        "old": {"type": "sse", "serverUrl": "https://x/sse", "disabled": true},
        "line": {"command": "uvx  tool --dir 'a b'", "args": null},
        "none": {"httpUrl": "https://y"}
    }}"#;
    for id in ["claude-desktop", "cursor", "windsurf", "cline", "roo-code", "gemini-cli", "kiro"] {
        let config = parse(id, "mcp.json", text);
        assert_eq!(
            lines(&config),
            [
                "files: npx -y server-files 7 K=v N=1 in /w",
                "remote: http https://x/mcp A=b",
                "old: sse https://x/sse",
                "line: uvx tool --dir a b",
                "none: auto https://y"
            ]
        );
        assert_eq!(config.entries.iter().filter(|entry| entry.disabled).count(), 1);
        assert!(config.entries.iter().all(|entry| entry.problems.is_empty()));
        assert_eq!(config.entries[1].line, 3);
    }
}

#[test]
fn claude_code_has_servers_of_projects() {
    let text = r#"{"numStartups": 3, "mcpServers": {"a": {"command": "x"}},
        "projects": {"/home/me/shop": {"mcpServers": {"b": {"command": "y"}}}, "/other": {}}}"#;
    let config = parse("claude-code", ".claude.json", text);
    assert_eq!(lines(&config), ["a: x", "b: y"]);
    assert_eq!(config.entries[1].project.as_deref(), Some("/home/me/shop"));
    let flat = parse("claude-code", ".mcp.json", r#"{"c": {"command": "z"}}"#);
    assert_eq!(lines(&flat), ["c: z"]);
}

#[test]
fn the_forms_of_vs_code_are_read() {
    let files = [
        r#"{"inputs": [{"id": "k"}], "servers": {"a": {"type": "stdio", "command": "x", "env": {"K": "${input:k}"}}}}"#,
        r#"{"editor.x": 1, "mcp": {"servers": {"a": {"command": "x", "env": {"K": "${input:k}"}}}}} // end"#,
        r#"{"mcp.servers": {"a": {"command": "x", "env": {"K": "${input:k}"},}}}"#,
        r#"{"folders": [], "settings": {"mcp": {"servers": {"a": {"command": "x", "env": {"K": "${input:k}"}}}}}}"#,
    ];
    for text in files {
        assert_eq!(lines(&parse("vs-code", "mcp.json", text)), ["a: x K=${input:k}"], "{text}");
    }
    assert_eq!(lines(&parse("vs-code", "settings.json", r#"{"editor.x": 1}"#)), [""; 0]);
}

#[test]
fn the_forms_of_the_others_are_read() {
    let zed = r#"{ // settings
        "context_servers": {"a": {"source": "custom", "command": "x", "args": ["y"]},
            "old": {"command": {"path": "p", "args": ["q"], "env": {"E": "f"}}}, "r": {"url": "https://z"}}}"#;
    assert_eq!(
        lines(&parse("zed", "settings.json", zed)),
        ["a: x y", "old: p q E=f", "r: auto https://z"]
    );
    let codex = "model = \"o\"\n[mcp_servers.a]\ncommand = \"x\"\nargs = [\"y\"]\nenv_vars = [\"V\"]\n\
        [mcp_servers.a.env]\nK = \"v\"\n[mcp_servers.r]\nurl = \"https://z\"\nbearer_token_env_var = \"T\"\n\
        enabled = false\n[mcp_servers.r.http_headers]\nH = \"i\"\n[mcp_servers.r.env_http_headers]\nJ = \"W\"\n";
    let codex = parse("codex", "config.toml", codex);
    assert_eq!(
        lines(&codex),
        ["a: x y K=v V=${V}", "r: auto https://z H=i J=${W} Authorization=Bearer ${T}"]
    );
    assert!(codex.entries[1].disabled);
    let goose = "extensions:\n  developer: {type: builtin, enabled: true, name: developer}\n  a:\n    type: stdio\n    \
        cmd: x\n    args: [y]\n    envs: {K: v}\n    env_keys: [T]\n    enabled: false\n  r: {type: streamable_http, uri: https://z}\n";
    let goose = parse("goose", "config.yaml", goose);
    assert_eq!(lines(&goose), ["developer: none", "a: x y K=v T=${T}", "r: http https://z"]);
    assert!(goose.entries[1].disabled);
    let opencode = r#"{"mcp": {"a": {"type": "local", "command": ["x", "y"], "environment": {"K": "{env:V}"}},
        "r": {"type": "remote", "url": "https://z", "enabled": false}}}"#;
    let opencode = parse("opencode", "opencode.jsonc", opencode);
    assert_eq!(lines(&opencode), ["a: x y K={env:V}", "r: auto https://z"]);
    let own = "mcpServers:\n  - name: a\n    command: x\n    args: [y]\n    env: {K: '${{ secrets.K }}'}\n  - {type: sse, url: 'https://z'}\n";
    assert_eq!(
        lines(&parse("continue", "config.yaml", own)),
        ["a: x y K=${{ secrets.K }}", "https://z: sse https://z"]
    );
    let older = r#"{"experimental": {"modelContextProtocolServers": [{"transport": {"type": "stdio", "command": "x"}}]}}"#;
    assert_eq!(lines(&parse("continue", "config.json", older)), ["#1: x"]);
}

#[test]
fn descriptors_of_the_registry_are_read() {
    let text = r#"{"name": "io.github.x/y", "packages": [
        {"registryType": "npm", "identifier": "@x/y", "version": "1.2.3", "transport": {"type": "stdio"},
         "packageArguments": [{"type": "named", "name": "--port", "value": "1"}],
         "environmentVariables": [{"name": "TOKEN", "isSecret": true}]},
        {"registryType": "oci", "identifier": "ghcr.io/x/y:1.2.3"}],
        "remotes": [{"type": "sse", "url": "https://z", "headers": [{"name": "H", "value": "i"}]}]}"#;
    let config = recognise(Path::new("server.json"), text).unwrap();
    assert_eq!(
        lines(&config),
        [
            "@x/y: npx -y @x/y@1.2.3 --port 1 TOKEN=${input:TOKEN}",
            "ghcr.io/x/y:1.2.3: docker run -i --rm ghcr.io/x/y:1.2.3",
            "https://z: sse https://z H=i"
        ]
    );
}

#[test]
fn a_bad_entry_does_not_sink_its_siblings() {
    let text = "{\"mcpServers\": {\n \"a\": 7,\n \"b\": {\"command\": \"x\", \"args\": [[1], \"y\"], \"env\": 3},\n \
        \"c\": {},\n \"d\": {\"command\": \"\"},\n \"e\": {\"command\": \"x\", \"url\": \"https://z\"},\n \"f\": {\"url\": \"https://z\", \"type\": \"pigeon\"}}}";
    let config = parse("cursor", "mcp.json", text);
    assert_eq!(
        lines(&config),
        ["a: none", "b: x y", "c: none", "d: none", "e: x", "f: auto https://z"]
    );
    let told = config.entries.iter().flat_map(|entry| &entry.problems);
    let told: Vec<_> = told.map(|problem| (problem.line, problem.what.as_str())).collect();
    assert_eq!(
        told,
        [
            (2, "the entry is the number `7`, not a map"),
            (3, "`args` contains a list instead of text"),
            (3, "`env` is the number `3`, not a map"),
            (4, "has neither a command nor a URL"),
            (5, "`command` is empty"),
            (6, "has a command and a URL; the command counts"),
            (7, "the type of the transport is not known")
        ]
    );
}

#[test]
fn a_broken_file_tells_where() {
    let config = parse("cursor", "mcp.json", "{\"mcpServers\": {\n  \"a\": {\"command\": }\n}}");
    assert!(config.entries.is_empty());
    let [problem] = &config.problems[..] else { panic!("{:?}", config.problems) };
    assert_eq!((problem.line, problem.column), (2, 20));
    let list = parse("cursor", "mcp.json", "{\"mcpServers\": 7}");
    assert_eq!(list.problems[0].what, "the servers are the number `7`, not a map");
    // Of broken TOML the rest is read.
    let codex = "[mcp_servers.a]\ncommand = \n[mcp_servers.b]\ncommand = \"x\"\n";
    let config = parse("codex", "config.toml", codex);
    assert_eq!(config.problems.len(), 1);
    assert!(config.entries.iter().any(|entry| line(entry) == "b: x"));
}

#[test]
fn hostile_text_does_no_harm() {
    let deep = format!("{{\"mcpServers\": {}", "[".repeat(5_000));
    for text in [
        "",
        "null",
        "[]",
        "7",
        "\u{feff}{}",
        "{\"mcpServers\": null}",
        &deep,
        "{\"mcpServers\"",
        "\0",
    ] {
        for client in all() {
            for name in ["a.json", "a.yaml", "a.toml"] {
                let config = read(client, Scope::User, Path::new(name), text);
                assert!(config.entries.is_empty(), "{text}");
            }
        }
    }
}

#[test]
fn files_are_told_by_name_and_content() {
    let common = r#"{"mcpServers": {"a": {"command": "x"}}}"#;
    let id =
        |path: &str, text: &str| recognise(Path::new(path), text).map(|config| config.client.id);
    assert_eq!(id("/x/.cursor/mcp.json", common), Some("cursor"));
    assert_eq!(
        id("/x/.vscode/mcp.json", r#"{"servers": {"a": {"command": "x"}}}"#),
        Some("vs-code")
    );
    assert_eq!(id("/x/whatever.json", common), Some("generic"));
    assert_eq!(id("/x/.mcp.json", common), Some("claude-code"));
    assert_eq!(id("/x/whatever.toml", "[mcp_servers.a]\ncommand = \"x\""), Some("generic"));
    assert_eq!(id("/x/y.json", r#"{"context_servers": {"a": {"command": "x"}}}"#), Some("generic"));
    assert_eq!(id("/x/y.json", r#"{"mcp": {"a": {"command": ["x"]}}}"#), Some("generic"));
    assert_eq!(id("/x/y.yaml", "extensions: {a: {cmd: x}}"), Some("generic"));
    assert_eq!(id("/x/y.json", r#"{"tools": []}"#), None);
    assert_eq!(
        id("/x/openapi.json", r#"{"openapi": "3.1.0", "servers": [{"url": "https://x"}]}"#),
        None
    );
    assert_eq!(id("/x/y.json", "{"), Some("generic"), "a broken file is reported");
}

#[test]
fn locations_follow_the_folders() {
    let dirs = Dirs {
        home: Some("/h".into()),
        app: Some("/h/app".into()),
        config: Some("/h/.config".into()),
        project: "/p/q".into(),
        variables: BTreeMap::from([("CODEX_HOME".to_owned(), "/c".to_owned())]),
    };
    let found = candidates(&dirs);
    let has = |id: &str, path: &str| {
        found.iter().any(|at| at.client.id == id && at.path == Path::new(path))
    };
    assert!(has("claude-desktop", "/h/app/Claude/claude_desktop_config.json"));
    assert!(has("claude-code", "/p/q/.mcp.json"));
    assert!(has("claude-code", "/p/.mcp.json"));
    assert!(has("codex", "/c/config.toml"));
    assert!(has("zed", "/h/.config/zed/settings.json"));
    assert!(has("generic", "/h/.config/mcp/mcp.json"));
    assert!(has("codex", "/etc/codex/config.toml"));
    assert!(candidates(&Dirs::default()).iter().all(|at| !at.path.starts_with("/h")));
}

#[test]
fn every_client_has_an_id_a_title_and_a_place_and_every_file_is_registered() {
    let mut seen = std::collections::HashSet::new();
    for client in all() {
        assert!(seen.insert(client.id), "{} is there twice", client.id);
        assert!(!client.locations.is_empty() && !client.title.is_empty(), "{}", client.id);
    }
    assert!(all().len() >= 16);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/clients");
    let text = include_str!("mod.rs");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let name = name.trim_end_matches(".rs");
        assert!(name == "mod" || text.contains(&format!("mod {name};")), "{name}");
    }
}
