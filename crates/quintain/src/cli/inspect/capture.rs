//! What a server offered in a recorded session.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use quintain_evidence::surface::Surface;
use quintain_evidence::trace::TraceServer;
use quintain_grade::readers::{self, ReadOptions, Record};
use serde_json::{Value, json};

/// The surface of every server in a capture, as far as the host asked for it, with its name and what is missing.
pub(super) fn surfaces(
    path: &Path,
    shown: &str,
) -> Result<Vec<(String, Surface, Vec<String>)>, String> {
    let open = || File::open(path).map_err(|error| format!("cannot read `{shown}`: {error}"));
    let mut servers: Vec<TraceServer> = Vec::new();
    let mut keep = |record: Record| {
        if let Record::Trace(trace, _) = record {
            // The newest session of a server counts.
            for server in trace.servers {
                servers.retain(|known| known.name != server.name);
                servers.push(server);
            }
        }
        ControlFlow::Continue(())
    };
    let reader = readers::by_name("capture");
    let options = ReadOptions::default();
    readers::read(BufReader::new(open()?), shown, reader, &options, &mut keep)
        .map_err(|error| error.to_string())?;
    if servers.is_empty() {
        return Err(format!("`{shown}` contains no session of an MCP server"));
    }
    let greetings = greetings(BufReader::new(open()?));
    Ok(servers.iter().map(|server| surface(server, &greetings)).collect())
}

/// What servers say about themselves in response to `initialize` or `server/discover`.
fn greetings(input: impl BufRead) -> Vec<Value> {
    let lines = input.lines().map_while(Result::ok);
    let results = lines.filter(|line| line.contains("\"capabilities\"")).filter_map(|line| {
        let mut entry: Value = serde_json::from_str(&line).ok()?;
        let result = entry.pointer_mut("/frame/result").map(Value::take)?;
        let is_greeting = result.get("capabilities").is_some_and(Value::is_object);
        is_greeting.then_some(result)
    });
    results.collect()
}

fn surface(server: &TraceServer, greetings: &[Value]) -> (String, Surface, Vec<String>) {
    let name = server.name.clone().unwrap_or_else(|| "server without a name".to_owned());
    let greeting = greetings.iter().rev().find(|greeting| {
        let said = greeting.pointer("/serverInfo/name").and_then(Value::as_str);
        said.is_none() || said == server.name.as_deref()
    });
    let info = |key: &str| greeting.and_then(|greeting| greeting.get(key)).cloned();
    let text = |key: &str| info(key).and_then(|value| value.as_str().map(str::to_owned));
    let end = usize::MAX;
    let surface = Surface {
        server_info: info("serverInfo").unwrap_or_else(|| json!({"name": name})),
        instructions: text("instructions"),
        protocol_version: text("protocolVersion"),
        capabilities: info("capabilities").unwrap_or_else(|| json!({})),
        tools: server.tools_at(end).unwrap_or_default().to_vec(),
        resources: server.resources_at(end).unwrap_or_default().to_vec(),
        templates: server.templates_at(end).unwrap_or_default().to_vec(),
        prompts: server.prompts_at(end).unwrap_or_default().to_vec(),
        problems: Vec::new(),
    };
    // A host lists only what it needs.
    let unknown = [
        ("tools", server.tools_at(end).is_none()),
        ("resources", server.resources_at(end).is_none()),
        ("prompts", server.prompts_at(end).is_none()),
    ];
    let missing =
        unknown.into_iter().filter(|(kind, is_unknown)| *is_unknown && surface.declares(kind));
    let missing = missing.map(|(kind, _)| format!("the capture contains no list of {kind}"));
    (name, surface.clone(), missing.collect())
}
