//! Reads `config` of an MCP target.

use std::time::Duration;

use quintain_evidence::connection::McpTarget;
use quintain_evidence::connection::ProtocolChoice;
use quintain_evidence::connection::Server;
use quintain_evidence::connection::Timeouts;
use quintain_evidence::connection::ToolFilter;
use quintain_source::{Diagnostic, Diagnostics, Fields, Node, Severity};

use super::reader::Reader;
use super::{respond, server};
use crate::files::code;

pub(super) const VERSIONS: [&str; 5] =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Reads `config` of an MCP target.
pub(super) fn read_mcp(
    node: &Node,
    reader: &Reader<'_>,
    dx: &mut Diagnostics,
) -> Option<McpTarget> {
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
