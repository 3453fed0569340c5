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
    let name = tool.name().unwrap_or_default();
    let hint = tool.hint("destructiveHint").filter(|_| !writes_where_told(tool));
    is_destructive(name, hint, tool.hint("readOnlyHint"))
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

/// Whether a tool says or sounds as if it destroys something.
pub fn is_destructive(name: &str, hint: Option<bool>, read_only: Option<bool>) -> bool {
    if hint == Some(true) {
        return read_only != Some(true);
    }
    words(name).iter().any(|word| DESTRUCTIVE.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn claims_of_destruction_and_names_that_sound_like_it_count() {
        assert!(is_destructive("delete_user", None, None));
        assert!(is_destructive("tidy", Some(true), None));
        assert!(!is_destructive("list_users", None, None));
        assert!(!is_destructive("look", Some(true), Some(true)));
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
}
