//! Renders surfaces, results and frames for a terminal.

use std::fmt::Write as _;
use std::time::Instant;

use quintain_evidence::surface::{Prompt, Resource, ResourceTemplate, Surface, Tool};
use quintain_source::visible;
use quintain_wire::frame::{Direction, Frame, MemoryRecorder};
use serde_json::{Value, json};

use crate::console::{Console, Tone, counted, indented};

/// One line: the server's name and version, and the number of tools, resources, templates and prompts.
pub(super) fn surface_in_short(server: &str, surface: &Surface, console: &Console) -> String {
    let name = surface.server_name().unwrap_or(server);
    let version = surface.server_version().unwrap_or("without a version");
    let title = console.paint(Tone::Bold, &format!("{} {}", visible(name), visible(version)));
    format!(
        "{title}: {}, {}, {}, {}",
        counted(surface.tools.len(), "tool"),
        counted(surface.resources.len(), "resource"),
        counted(surface.templates.len(), "template"),
        counted(surface.prompts.len(), "prompt")
    )
}

/// A whole surface.
pub(super) fn surface(server: &str, surface: &Surface, console: &Console) -> String {
    let mut out = String::new();
    let name = surface.server_name().unwrap_or(server);
    let version = surface.server_version().unwrap_or("without a version");
    let protocol = surface.protocol_version.as_deref().unwrap_or("unknown");
    let era = quintain_wire::era::Version::find(protocol)
        .map_or_else(String::new, |version| format!(" ({})", version.era()));
    let title = console.paint(Tone::Bold, &format!("{} {}", visible(name), visible(version)));
    let _ = writeln!(out, "{title}, protocol {protocol}{era}");
    let capabilities: Vec<String> = surface
        .capabilities
        .as_object()
        .map(|capabilities| capabilities.keys().map(|name| visible(name).into_owned()).collect())
        .unwrap_or_default();
    let capabilities =
        if capabilities.is_empty() { "none".to_owned() } else { capabilities.join(", ") };
    let _ = writeln!(out, "capabilities: {capabilities}");
    if let Some(instructions) = &surface.instructions {
        let _ = writeln!(out, "instructions:\n{}", indented(instructions, "  "));
    }
    let _ = writeln!(out, "\n{} ({})", console.paint(Tone::Bold, "Tools"), surface.tools.len());
    for tool in &surface.tools {
        out.push_str(&self::tool(tool, console));
    }
    let named = |place: Option<&str>, name: Option<&str>, kind: Option<&str>| {
        let mut head = place.or(name).unwrap_or("(without a name)").to_owned();
        if let Some(kind) = kind {
            let _ = write!(head, "  {kind}");
        }
        head
    };
    let resources = surface.resources.iter().map(|resource| {
        (named(resource.uri(), resource.name(), resource.mime_type()), resource.description())
    });
    section("Resources", resources.collect(), console, &mut out);
    let templates = surface.templates.iter().map(|template| {
        (named(template.uri_template(), template.name(), None), template.description())
    });
    section("Resource templates", templates.collect(), console, &mut out);
    let prompts = surface.prompts.iter().map(|prompt| {
        let arguments = prompt.arguments();
        let arguments =
            arguments.iter().map(
                |(name, required)| if *required { (*name).to_owned() } else { format!("{name}?") },
            );
        let arguments = arguments.collect::<Vec<_>>().join(", ");
        (format!("{}({arguments})", prompt.name().unwrap_or("?")), prompt.description())
    });
    section("Prompts", prompts.collect(), console, &mut out);
    out.trim_end().to_owned()
}

/// A titled list of names and descriptions; nothing if it is empty.
fn section(title: &str, items: Vec<(String, Option<&str>)>, console: &Console, out: &mut String) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{} ({})", console.paint(Tone::Bold, title), items.len());
    for (head, description) in items {
        let _ = writeln!(out, "  {}", visible(&head));
        if let Some(description) = description {
            let _ = writeln!(out, "{}", console.paint(Tone::Dim, &indented(description, "      ")));
        }
    }
}

fn tool(tool: &Tool, console: &Console) -> String {
    let required = tool.required_args();
    let arguments = tool.properties().into_iter().flatten().map(|(name, schema)| {
        let optional = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{}{optional}: {}", visible(name), visible(&kind(schema)))
    });
    let arguments = arguments.collect::<Vec<_>>().join(", ");
    let name = console.paint(Tone::Green, &visible(tool.name().unwrap_or("(without a name)")));
    let mut hints = Vec::new();
    for (hint, word) in [("readOnlyHint", "read-only"), ("destructiveHint", "destructive")] {
        if tool.hint(hint) == Some(true) {
            hints.push(word);
        }
    }
    let hints = if hints.is_empty() { String::new() } else { format!("  [{}]", hints.join(", ")) };
    let mut out = format!("  {name}({arguments}){hints}\n");
    if let Some(description) = tool.description() {
        let _ = writeln!(out, "{}", console.paint(Tone::Dim, &indented(description, "      ")));
    }
    out
}

fn kind(schema: &Value) -> String {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let shown: Vec<String> = values.iter().take(6).map(Value::to_string).collect();
        let more = if values.len() > 6 { " | ..." } else { "" };
        return format!("{}{more}", shown.join(" | "));
    }
    let alternatives = schema.get("anyOf").or_else(|| schema.get("oneOf"));
    if let Some(alternatives) = alternatives.and_then(Value::as_array) {
        let kinds: Vec<String> = alternatives.iter().take(6).map(kind_of).collect();
        return kinds.join(" | ");
    }
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "array" => {
            format!("{}[]", schema.get("items").map_or_else(|| "any".to_owned(), kind_of))
        }
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")
        }
        _ => "any".to_owned(),
    }
}

fn kind_of(schema: &Value) -> String {
    schema.get("type").and_then(Value::as_str).unwrap_or("any").to_owned()
}

/// A surface as `--json` prints it: items as the server sent them, complete.
pub(super) fn surface_json(server: &str, surface: &Surface, problems: &[String]) -> Value {
    json!({
        "name": server,
        "protocolVersion": surface.protocol_version,
        "era": surface.protocol_version.as_deref()
            .and_then(quintain_wire::era::Version::find)
            .map(|version| version.era().to_string()),
        "serverInfo": surface.server_info,
        "capabilities": surface.capabilities,
        "instructions": surface.instructions,
        "tools": surface.tools.iter().map(Tool::raw).collect::<Vec<_>>(),
        "resources": surface.resources.iter().map(Resource::raw).collect::<Vec<_>>(),
        "resourceTemplates": surface.templates.iter().map(ResourceTemplate::raw).collect::<Vec<_>>(),
        "prompts": surface.prompts.iter().map(Prompt::raw).collect::<Vec<_>>(),
        "problems": problems,
    })
}

/// A result for people: text as it is, everything else in brackets or as JSON.
pub(super) fn result(result: &Value) -> String {
    let blocks = result.get("content").or_else(|| result.get("contents"));
    let Some(blocks) = blocks.and_then(Value::as_array) else { return pretty(result) };
    let mut parts: Vec<String> = blocks.iter().map(block).collect();
    if let Some(structured) = result.get("structuredContent") {
        let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
        if !texts.into_iter().any(|text| repeats(text, structured)) {
            parts.push(pretty(structured));
        }
    }
    parts.join("\n")
}

/// Whether structured content repeats a text: alone, or as the only member of an object, because servers
/// wrap values that are not objects.
fn repeats(text: &str, structured: &Value) -> bool {
    let parsed = serde_json::from_str::<Value>(text).ok();
    let same = |value: &Value| value.as_str() == Some(text) || parsed.as_ref() == Some(value);
    let wrapped = structured.as_object().filter(|members| members.len() == 1);
    same(structured) || wrapped.and_then(|members| members.values().next()).is_some_and(same)
}

fn block(block: &Value) -> String {
    let text = |name: &str| block.get(name).and_then(Value::as_str);
    if let Some(content) = text("text") {
        return indented(content, "");
    }
    let size = text("data").or_else(|| text("blob")).map_or(0, |data| data.len() / 4 * 3);
    let mime = visible(text("mimeType").unwrap_or("unknown type")).into_owned();
    match text("type") {
        Some(kind @ ("image" | "audio")) => format!("[{kind}, {mime}, {size} bytes]"),
        Some("resource_link") => format!("[resource {}]", visible(text("uri").unwrap_or("?"))),
        Some("resource") => block.get("resource").map_or_else(|| pretty(block), self::block),
        None if block.get("blob").is_some() => format!("[{mime}, {size} bytes]"),
        _ => pretty(block),
    }
}

/// Pretty JSON, safe for a terminal.
pub(super) fn pretty(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    indented(&text, "")
}

/// The raw exchange, in order of time.
pub(super) fn frames(tape: &MemoryRecorder, console: &Console) -> String {
    let (frames, forgotten) = tape.frames();
    let (opened, _) = tape.opened();
    let mut out = String::new();
    if forgotten > 0 {
        let _ = writeln!(out, "({forgotten} older frames were dropped)");
    }
    for frame in &frames {
        let arrow = match frame.direction {
            Direction::Sent => console.paint(Tone::Green, "-->"),
            Direction::Received => console.paint(Tone::Yellow, "<--"),
        };
        let _ = write!(out, "{:>9.1} ms {arrow} ", since(opened, frame) * 1e3);
        if let Some(http) = &frame.http {
            let _ = writeln!(out, "{}", visible(&http.line));
            for (name, value) in &http.headers {
                let _ = writeln!(out, "                   {name}: {}", visible(value));
            }
            if !frame.bytes.is_empty() {
                out.push_str("                   ");
            }
        }
        if !frame.bytes.is_empty() {
            let _ = writeln!(out, "{}", visible(&String::from_utf8_lossy(&frame.bytes)));
        }
    }
    out.trim_end().to_owned()
}

/// The raw exchange as `--json` prints it.
pub(super) fn frames_json(tape: &MemoryRecorder) -> Value {
    let (frames, forgotten) = tape.frames();
    let (opened, _) = tape.opened();
    let frames = frames.iter().map(|frame| {
        json!({
            "direction": match frame.direction { Direction::Sent => "sent", Direction::Received => "received" },
            "ms": since(opened, frame) * 1e3,
            "text": String::from_utf8_lossy(&frame.bytes),
            "http": frame.http.as_ref().map(|http| json!({
                "line": http.line, "status": http.status, "headers": http.headers })),
        })
    });
    json!({"forgotten": forgotten, "frames": frames.collect::<Vec<_>>()})
}

fn since(opened: Instant, frame: &Frame) -> f64 {
    frame.at.saturating_duration_since(opened).as_secs_f64()
}
