//! What the name of a tool says that it does to things.

use serde_json::Value;

use super::{classify, words};
use crate::attack::Kind;
use crate::surface::Tool;

/// Verbs of tools that change files or records.
const WRITES: [&str; 25] = [
    "write", "save", "create", "append", "edit", "update", "put", "upload", "store", "export",
    "move", "copy", "rename", "mkdir", "add", "insert", "replace", "patch", "modify", "touch",
    "set", "post", "backup", "delete", "remove",
];
/// Verbs of tools that change or destroy something for good.
const DESTRUCTIVE: [&str; 24] = [
    "delete",
    "remove",
    "drop",
    "destroy",
    "purge",
    "erase",
    "wipe",
    "truncate",
    "kill",
    "terminate",
    "shutdown",
    "reboot",
    "reset",
    "uninstall",
    "revoke",
    "cancel",
    "unpublish",
    "format",
    "clear",
    "refund",
    "transfer",
    "pay",
    "deploy",
    "send",
];

/// Verbs of tools that look, or write down that something was done.
const TELLS: [&str; 22] = [
    "check", "count", "describe", "explain", "fetch", "find", "get", "list", "log", "lookup",
    "mark", "note", "plan", "preview", "print", "read", "record", "report", "search", "show",
    "tell", "view",
];

/// Verbs of tools that look at something, whatever their annotations say: some servers call all of theirs
/// destructive.
const LOOKS: [&str; 17] = [
    "browse",
    "describe",
    "fetch",
    "find",
    "get",
    "launch",
    "list",
    "look",
    "navigate",
    "open",
    "read",
    "screenshot",
    "search",
    "show",
    "status",
    "view",
    "visit",
];

/// The verb that a description begins with, as far as it is one of these.
pub(crate) fn begins(tool: &Tool, wanted: &[&str]) -> bool {
    let first = words(tool.description().unwrap_or_default()).into_iter().next();
    first.is_some_and(|word| {
        let plain = word.strip_suffix('s').unwrap_or(&word);
        wanted.contains(&word.as_str()) || wanted.contains(&plain)
    })
}

/// Whether a tool says that it changes something.
pub fn writes(tool: &Tool) -> bool {
    let named = words(tool.name().unwrap_or_default());
    let named = named.iter().any(|word| WRITES.contains(&word.as_str()));
    tool.hint("readOnlyHint") != Some(true) && (named || begins(tool, &WRITES))
}

/// Whether a tool may destroy what is not ours. One that writes to a path of the caller's choice destroys
/// only what stands there, and it is given paths of ours alone.
pub fn destroys(tool: &Tool) -> bool {
    may_destroy(
        tool,
        tool.hint("destructiveHint").filter(|_| !writes_where_told(tool) && !looks(tool)),
    )
}

/// Whether a tool says or sounds as if it destroys something.
pub(crate) fn claims_to_destroy(tool: &Tool) -> bool {
    may_destroy(tool, tool.hint("destructiveHint"))
}

fn may_destroy(tool: &Tool, hint: Option<bool>) -> bool {
    let says = hint == Some(true);
    if says { tool.hint("readOnlyHint") != Some(true) } else { sounds_destructive(tool) }
}

/// Whether the words of a tool are about destroying. `mark_reboot` with the description `Record that a
/// host was rebooted` is about telling of it; `record_delete` that begins with `Delete` is not.
fn sounds_destructive(tool: &Tool) -> bool {
    let name = words(tool.name().unwrap_or_default());
    let has = |known: &[&str]| name.iter().any(|word| known.contains(&word.as_str()));
    let first = name.first().is_some_and(|verb| TELLS.contains(&verb.as_str()));
    let tells = first && !has(&["and", "then", "or"]) && begins(tool, &TELLS);
    has(&DESTRUCTIVE) && !tells
}

/// Whether a tool looks at something and changes nothing, by its name.
fn looks(tool: &Tool) -> bool {
    let named = words(tool.name().unwrap_or_default());
    let has = |wanted: &[&str]| named.iter().any(|word| wanted.contains(&word.as_str()));
    has(&LOOKS) && !has(&WRITES)
}

fn writes_where_told(tool: &Tool) -> bool {
    let named = words(tool.name().unwrap_or_default());
    let has = |wanted: &[&str]| named.iter().any(|word| wanted.contains(&word.as_str()));
    let properties = tool.input_schema().and_then(|schema| schema.get("properties"));
    let properties = properties.and_then(Value::as_object);
    let mut names = properties.into_iter().flatten();
    let is_path = |(name, schema): (&String, &Value)| {
        let said = schema.get("description").and_then(Value::as_str);
        classify(name, said, schema).contains(&Kind::Path)
    };
    has(&WRITES) && !has(&["delete", "remove"]) && names.any(is_path)
}

/// Whether a name of which nothing else is known sounds as if something were destroyed.
pub fn is_destructive(name: &str) -> bool {
    words(name).iter().any(|word| DESTRUCTIVE.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn claims_of_destruction_and_names_that_sound_like_it_count() {
        let tool = |name: &str, hints: Value| Tool(json!({"name": name, "annotations": hints}));
        assert!(claims_to_destroy(&tool("delete_user", json!({}))) && is_destructive("drop_all"));
        assert!(claims_to_destroy(&tool("tidy", json!({"destructiveHint": true}))));
        assert!(!claims_to_destroy(&tool("list_users", json!({}))));
        let look = tool("look", json!({"destructiveHint": true, "readOnlyHint": true}));
        assert!(!claims_to_destroy(&look));
    }

    #[test]
    fn who_tells_of_destruction_destroys_nothing() {
        let tool = |name: &str, says: &str| Tool(json!({"name": name, "description": says}));
        assert!(!destroys(&tool("mark_reboot", "Record that a host was rebooted.")));
        assert!(!destroys(&tool("list_transfers", "Lists transfers.")));
        for (name, says) in [
            ("record_delete", "Delete a record."),
            ("log_clear", "Clear the log."),
            ("find_and_delete", "Find files and delete them."),
            ("reboot", "Record a reboot, and do it."),
            ("mark_reset", ""),
        ] {
            assert!(destroys(&tool(name, says)), "{name}");
        }
    }

    #[test]
    fn who_writes_where_told_destroys_nothing_of_others() {
        let tool = |name: &str, argument: &str| {
            Tool(json!({"name": name, "annotations": {"destructiveHint": true},
                "inputSchema": {"properties": {argument: {"type": "string"}}}}))
        };
        assert!(!destroys(&tool("write_file", "path")));
        assert!(destroys(&tool("write_record", "id")) && destroys(&tool("delete_file", "path")));
    }

    #[test]
    fn who_looks_destroys_nothing_whatever_it_claims() {
        let tool =
            |name: &str| Tool(json!({"name": name, "annotations": {"destructiveHint": true}}));
        assert!(!destroys(&tool("device_open_url")) && !destroys(&tool("listApps")));
        assert!(destroys(&tool("update_view")) && destroys(&tool("tidy")));
        assert!(destroys(&tool("delete_open_issues")));
    }
}
