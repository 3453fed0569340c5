//! The stated purpose of a tool: whether it writes, lists or fetches, and which limits it claims.

use quintain_content::json_value;
use serde_json::Value;

use crate::attack::{Aim, TargetView};
pub(super) use crate::knowledge::writes;
use crate::knowledge::{Sense, destroys, words};
use quintain_evidence::finding::Place;
use quintain_evidence::surface::Tool;

/// Words with which a tool claims limits.
const LIMITS: [&str; 30] = [
    "allow",
    "allowed",
    "allowlist",
    "whitelist",
    "whitelisted",
    "blocklist",
    "only",
    "restricted",
    "restrict",
    "restricts",
    "internal",
    "private",
    "public",
    "sandbox",
    "sandboxed",
    "within",
    "inside",
    "below",
    "refused",
    "denied",
    "blocked",
    "forbidden",
    "permitted",
    "confined",
    "limited",
    "trusted",
    "relative",
    "safe",
    "securely",
    "rejected",
];
/// Names of arguments with the destination of a write.
const OUTPUTS: [&str; 9] =
    ["output", "out", "dest", "destination", "target", "save", "to", "outfile", "new"];
/// The number of bytes that are read of a description.
const MAX_TEXT: usize = 4_000;

/// The words of a text, up to `MAX_TEXT`.
fn read(text: &str) -> Vec<String> {
    words(&text[..text.floor_char_boundary(MAX_TEXT.min(text.len()))])
}

fn has(text: &str, wanted: &[&str]) -> bool {
    read(text).iter().any(|word| wanted.contains(&word.as_str()))
}

/// Whether a tool may create something with a name that the caller chooses.
pub(super) fn may_write(tool: &Tool) -> bool {
    writes(tool) || Sense::Makes.names(tool) || Sense::Makes.begins(tool)
}

/// Whether a tool lists the content of a folder.
pub(super) fn lists(tool: &Tool) -> bool {
    Sense::Lists.names(tool)
}

/// Whether the stated purpose of a tool is to connect to addresses from the caller.
pub(super) fn fetches(tool: &Tool) -> bool {
    Sense::Fetches.names(tool)
        || Sense::Fetches.is_in(&read(tool.description().unwrap_or_default()))
}

/// Limits that are not about folders.
const OF_NETWORKS: [&str; 4] = ["internal", "private", "public", "trusted"];

/// Whether the description of a tool or argument claims limits.
pub(super) fn claims_limits(tool: Option<&Tool>, schema: &Value) -> bool {
    descriptions(tool, schema).any(|text| limits(text).next().is_some())
}

/// Whether the description of a tool or argument claims an allowed folder.
pub(super) fn claims_folder(tool: Option<&Tool>, schema: &Value) -> bool {
    descriptions(tool, schema).any(|text| {
        let except = if has(text, &["absolute"]) { "relative" } else { "" };
        limits(text).any(|word| word != except && !OF_NETWORKS.contains(&word.as_str()))
    })
}

fn descriptions<'t>(tool: Option<&'t Tool>, schema: &'t Value) -> impl Iterator<Item = &'t str> {
    let of_argument = schema.get("description").and_then(Value::as_str);
    of_argument.into_iter().chain(tool.and_then(Tool::description))
}

/// The words of a text that claim limits. `read only` does not limit what a tool reads.
fn limits(text: &str) -> impl Iterator<Item = String> {
    let end = text.floor_char_boundary(MAX_TEXT.min(text.len()));
    let mut before = String::new();
    words(&text[..end]).into_iter().filter(move |word| {
        let reads_only = word == "only" && ["read", "write"].contains(&before.as_str());
        before.clone_from(word);
        LIMITS.contains(&word.as_str()) && !reads_only
    })
}

/// Whether an argument is the destination of a write.
pub(super) fn is_output(aim: &Aim) -> bool {
    is_output_name(&last_name(aim))
}

pub(super) fn is_output_name(name: &str) -> bool {
    has(name, &OUTPUTS)
}

/// The name of the argument, or of the list that contains it.
pub(super) fn last_name(aim: &Aim) -> String {
    match &aim.place {
        Place::Argument { pointer, .. } => {
            let parts = pointer.rsplit('/').map(json_value::pointer_key);
            let mut names = parts.filter(|part| part.parse::<usize>().is_err());
            names.next().unwrap_or_default()
        }
        place => place.argument().unwrap_or_default(),
    }
}

/// The tool of an aim.
pub(super) fn tool_of<'f>(view: &TargetView<'f>, aim: &Aim) -> Option<&'f Tool> {
    let name = aim.place.tool()?;
    let mut surfaces = view.surfaces.iter().filter(|(server, _)| server == aim.place.server());
    surfaces.find_map(|(_, surface)| surface.tool(name))
}

/// Whether a tool may be called at all in this run.
pub(super) fn may_call(view: &TargetView<'_>, tool: &Tool) -> bool {
    view.capabilities.destructive || !destroys(tool)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> Tool {
        Tool(json!({"name": name, "description": description}))
    }

    #[test]
    fn verbs_tell_what_a_tool_does() {
        assert!(writes(&tool("save_export", "")));
        assert!(writes(&tool("report", "Creates a report.")));
        assert!(!writes(&tool("read_file", "Read a file that was created by somebody.")));
        assert!(may_write(&tool("convert_image", "")));
        assert!(lists(&tool("list_directory", "")) && !lists(&tool("read_file", "")));
        assert!(fetches(&tool("fetch_page", "")) && !fetches(&tool("add", "Adds numbers.")));
    }

    #[test]
    fn limits_are_claimed_by_tools_and_arguments() {
        let open = tool("fetch", "Fetch a page.");
        assert!(!claims_limits(Some(&open), &json!({})));
        assert!(claims_limits(Some(&open), &json!({"description": "A public address"})));
        let shut = tool("fetch", "Fetch a page. Private networks are refused.");
        assert!(claims_limits(Some(&shut), &json!({})));
        let reader = tool("read_pdf", "Read-only: the text of a PDF file.");
        assert!(!claims_limits(Some(&reader), &json!({})));
    }

    #[test]
    fn paths_may_be_relative_and_absolute_without_any_limit() {
        let reader = tool("read_pdf", "Text of a PDF file.");
        let said = |text: &str| claims_folder(Some(&reader), &json!({ "description": text }));
        assert!(said("Path relative to the workspace") && said("Must be inside the project"));
        assert!(!said("Path to the file, absolute or relative to the current folder"));
        assert!(!said("A public file"));
    }
}
