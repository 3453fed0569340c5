//! MCP servers: one, or several that are tested as one.

use std::time::Duration;

use quintain_content::registry::Meta;
use quintain_content::secret::Secret;
use quintain_evidence::connection::{
    Auth, Grant, Launch, McpTarget, ProtocolChoice, Server, Timeouts, ToolFilter, of_launch,
};
use quintain_evidence::effects::{Contact, Environment, ProcessStart, Variables};
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Scope, Severity};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::{Entry, TargetKind};
use crate::files::code;
use crate::suite::reader::Reader;
use crate::suite::{respond, server};
use crate::target::{ProgramFiles, Reach, Settings, bare};

/// Describes the kind, also for targets that no suite names.
pub static META: Meta = Meta {
    id: "mcp",
    aliases: &[],
    summary: "An MCP server, or several that are tested as one",
    docs: "\
# What it does
Starts the server of `command` or `path`, or connects to `url`, and keeps the session open for all tests. Prompts are
tool calls or other requests as JSON or YAML. Of the kinds of targets, only this one has a surface that assertions and
attacks can inspect. `quintain schema` describes all options.

# Example
```yaml
targets:
  - id: mcp
    label: payments
    config:
      server:
        command: node
        args: [server.js]
```
",
    since: "0.1.0",
};

pub(in crate::suite) const VERSIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

pub struct McpKind;

impl TargetKind for McpKind {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["mcp"]
    }

    fn read(&self, entry: &mut Entry<'_>) -> Option<Box<dyn Settings>> {
        let Some(config) = entry.config else {
            let title = format!("the target `{}` has no server", entry.id);
            entry.dx.push(
                Diagnostic::error("config::no-server", title)
                    .at(entry.span, "`config` is missing")
                    .help("add how to reach it: `config: {server: {command: ...}}`"),
            );
            return None;
        };
        Some(Box::new(read(config, entry.reader, entry.dx)?))
    }
}

impl Settings for McpTarget {
    fn secrets(&self) -> Vec<Secret> {
        self.servers.iter().flat_map(|server| of_launch(&server.launch)).collect()
    }

    fn reach(&self, reach: &mut Reach<'_>) {
        // Part of every call and every reply.
        let shared = format!("{:?} {}", self.respond, Value::Object(self.default_args.clone()));
        let shared = reach.variables([shared.as_str()], Scope::Env).with(reach.content);
        for server in &self.servers {
            reach_server(server, &shared, reach);
        }
        if let Some(code) = &self.transform_response {
            reach.code(code, "transforms responses");
        }
    }

    fn programs(&self) -> Vec<ProgramFiles<'_>> {
        self.servers.iter().filter_map(|server| files_of(&server.launch)).collect()
    }
}

fn files_of(launch: &Launch) -> Option<ProgramFiles<'_>> {
    let (Launch::Command { cwd, .. } | Launch::Path { cwd, .. }) = launch else { return None };
    let (program, args) = launch.command_line()?;
    Some(ProgramFiles { folder: cwd.as_deref(), program, args })
}

fn reach_server(server: &Server, shared: &Variables, reach: &mut Reach<'_>) {
    let what = format!("{}, server `{}`", reach.what, server.name);
    let (url, headers, auth) = match &server.launch {
        Launch::Url { url, headers, auth, .. } => (url, headers, auth),
        Launch::Command { env, cwd, .. } | Launch::Path { env, cwd, .. } => {
            let Some((program, args)) = server.launch.command_line() else { return };
            let args: Vec<String> = args.iter().map(|arg| arg.display().to_string()).collect();
            let command = program.display().to_string();
            let values = env.values().map(ExposeSecret::expose_secret);
            let texts = values.chain(args.iter().map(String::as_str)).chain([command.as_str()]);
            let receives = reach.variables(texts, Scope::Env).with(shared);
            let inherited = reach.inherited.iter().map(|name| (*name).to_owned());
            let names = inherited.chain(env.keys().cloned()).collect();
            let cwd = cwd.as_ref().map(|cwd| cwd.display().to_string());
            let environment = Environment::Named(names);
            reach.start(ProcessStart { what, command, args, cwd, environment, receives });
            return;
        }
    };
    let texts = headers.iter().map(|(_, value)| value.expose_secret()).chain([url.as_str()]);
    let receives = reach.variables(texts, Scope::Env).with(shared);
    let receives = receives.with(&reach.credentials(auth));
    if let Auth::OAuth(oauth) = auth {
        let url = oauth
            .token_url
            .as_deref()
            .map_or_else(|| format!("the authorization server that {} names", bare(url)), bare);
        let what = format!("{what}: tokens");
        if let Grant::IdentityAssertion(provider) = &oauth.grant {
            let receives = reach.grant(&oauth.grant);
            let url = bare(&provider.token_url);
            reach.contact(Contact { what: what.clone(), url, receives, files: Vec::new() });
        }
        reach.contact(Contact { what, url, receives: reach.oauth(oauth), files: Vec::new() });
    }
    if matches!(auth, Auth::Stored) {
        let url = format!("the authorization server of the login for {}", bare(url));
        let what = format!("{what}: tokens");
        reach.contact(Contact { what, url, receives: Variables::default(), files: Vec::new() });
    }
    reach.contact(Contact { what, url: bare(url), receives, files: Vec::new() });
}

fn read(node: &Node, reader: &Reader<'_>, dx: &mut Diagnostics) -> Option<McpTarget> {
    let mut fields = Fields::of(node, "`config` of an MCP target", dx)?;
    let enabled = fields.bool("enabled", dx).unwrap_or(true);
    let servers = servers(&mut fields, enabled, reader, dx);
    let transforms = ["transformResponse", "responseParser"];
    let transform = fields.one_of(&transforms, Severity::Warning, dx);
    let target = McpTarget {
        enabled,
        servers,
        filter: ToolFilter {
            only: reader.texts(&mut fields, "tools", dx),
            exclude: reader.texts(&mut fields, "exclude_tools", dx).unwrap_or_default(),
        },
        default_args: fields
            .map("defaultArgs", dx)
            .map(|node| reader.payload_map(node, dx))
            .unwrap_or_default(),
        timeouts: Timeouts {
            request: limit(&mut fields, "timeout", dx),
            reset_on_progress: fields.bool("resetTimeoutOnProgress", dx).unwrap_or(false),
            max_total: limit(&mut fields, "maxTotalTimeout", dx),
        },
        ping_on_connect: fields.bool("pingOnConnect", dx).unwrap_or(false),
        debug: fields.bool("debug", dx),
        verbose: fields.bool("verbose", dx),
        protocol: protocol(&mut fields, dx),
        respond: fields
            .get("respond")
            .map(|node| respond::read(node, reader, dx))
            .unwrap_or_default(),
        transform_response: transform
            .and_then(|(name, node)| code(name, node, reader.base_dir, reader.files, dx)),
    };
    fields.finish(reader.strictness, dx);
    Some(target)
}

fn servers(
    fields: &mut Fields<'_>,
    enabled: bool,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Vec<Server> {
    let Some((name, node)) = fields.one_of(&["servers", "server"], Severity::Warning, dx) else {
        if enabled {
            fields.missing("server", dx);
        }
        return Vec::new();
    };
    if !enabled {
        // The variables for the servers of a disabled target need not be set.
        if let Some((key, _)) = fields.entry("enabled") {
            let title = "this target is disabled";
            dx.push(
                Diagnostic::warning("config::disabled", title)
                    .at(key.span, "its servers are not used"),
            );
        }
        return Vec::new();
    }
    let nodes = match (name, node.as_seq()) {
        ("servers", None) => {
            fields.seq("servers", dx);
            return Vec::new();
        }
        ("servers", Some(items)) => items,
        _ => std::slice::from_ref(node),
    };
    if nodes.is_empty() {
        let title = "the list of servers is empty";
        // promptfoo accepts this and finds no tool.
        let diagnostic = Diagnostic::new(reader.strictness, "config::no-server", title);
        dx.push(diagnostic.at(node.span, ""));
    }
    let mut servers: Vec<_> =
        nodes.iter().filter_map(|node| server::read(node, reader, dx)).collect();
    server::distinguish(&mut servers);
    servers
}

/// A time limit; 0 means none.
fn limit(fields: &mut Fields<'_>, name: &'static str, dx: &mut Diagnostics) -> Option<Duration> {
    fields.millis(name, dx).filter(|limit| !limit.is_zero())
}

fn protocol(fields: &mut Fields<'_>, dx: &mut Diagnostics) -> ProtocolChoice {
    let words = [
        ("auto", ProtocolChoice::Auto),
        ("legacy", ProtocolChoice::Legacy),
        ("modern", ProtocolChoice::Modern),
    ];
    let dated = VERSIONS.map(|version| (version, ProtocolChoice::Exact(version.to_owned())));
    let choices: Vec<_> = words.into_iter().chain(dated).collect();
    fields.choice("protocolVersion", &choices, dx).unwrap_or_default()
}
