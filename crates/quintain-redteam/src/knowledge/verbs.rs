//! What the name of a tool says that it does to things.

use quintain_evidence::surface::Tool;
use serde_json::Value;

use super::Kind;
use super::{classify, words};

/// Verbs of tools that change files or records.
const WRITES: [&str; 25] = [
    "write", "save", "create", "append", "edit", "update", "put", "upload", "store", "export",
    "move", "copy", "rename", "mkdir", "add", "insert", "replace", "patch", "modify", "touch",
    "set", "post", "backup", "delete", "remove",
];
/// Verbs of tools that change or destroy something for good.
const DESTRUCTIVE: [&str; 59] = [
    "merge",
    "abort",
    "ban",
    "borrar",
    "chmod",
    "chown",
    "cleanup",
    "del",
    "discard",
    "eliminar",
    "empty",
    "expunge",
    "löschen",
    "nuke",
    "supprimer",
    "trash",
    "zap",
    "cancel",
    "clear",
    "deactivate",
    "delete",
    "deploy",
    "destroy",
    "disable",
    "drop",
    "erase",
    "evict",
    "flush",
    "format",
    "halt",
    "kill",
    "killall",
    "overwrite",
    "pay",
    "poweroff",
    "prune",
    "purge",
    "reboot",
    "refund",
    "remove",
    "reset",
    "restart",
    "revoke",
    "rm",
    "rmdir",
    "rollback",
    "rotate",
    "send",
    "shutdown",
    "signal",
    "stop",
    "suspend",
    "terminate",
    "transfer",
    "truncate",
    "uninstall",
    "unlink",
    "unpublish",
    "wipe",
];
/// The same as the first word of a description, where fewer of them mean it: `Sends`, `Formats` and `Clears`
/// begin many harmless ones.
const SAID_DESTRUCTIVE: [&str; 14] = [
    "delete",
    "destroy",
    "drop",
    "erase",
    "kill",
    "poweroff",
    "purge",
    "reboot",
    "revoke",
    "shutdown",
    "terminate",
    "truncate",
    "uninstall",
    "wipe",
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

/// Verbs of tools that only look, for those who must be sure: everything else may change what it is given.
const ONLY_LOOKS: [&str; 46] = [
    "analyse",
    "analyze",
    "browse",
    "cat",
    "check",
    "compare",
    "count",
    "describe",
    "diff",
    "explain",
    "fetch",
    "find",
    "get",
    "grep",
    "head",
    "info",
    "inspect",
    "launch",
    "lint",
    "list",
    "load",
    "look",
    "lookup",
    "ls",
    "navigate",
    "open",
    "parse",
    "peek",
    "preview",
    "query",
    "read",
    "render",
    "screenshot",
    "search",
    "show",
    "stat",
    "status",
    "summarise",
    "summarize",
    "tail",
    "tell",
    "tree",
    "validate",
    "verify",
    "view",
    "visit",
];
/// Verbs of tools that take something away from where it is.
const MOVES: [&str; 6] = ["cut", "mv", "organise", "organize", "relocate", "shift"];
/// Beginnings of words that run verb and object together: `deleteuser`.
const DESTRUCTIVE_PREFIXES: [&str; 7] =
    ["delete", "destroy", "erase", "purge", "remove", "uninstall", "wipe"];
/// What descriptions say of what is for good.
const FOR_GOOD: [&str; 5] = [
    "cannot be undone",
    "can't be undone",
    "irreversibl",
    "permanently delete",
    "permanently remove",
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

/// Whether a tool says by its name that it looks and does nothing else, or at least by its description where the
/// name does not say otherwise. Annotations do not count.
pub(super) fn only_looks(tool: &Tool) -> bool {
    let named = words(tool.name().unwrap_or_default());
    let has = |wanted: &[&str]| named.iter().any(|word| wanted.contains(&word.as_str()));
    if has(&DESTRUCTIVE) || has(&MOVES) {
        return false;
    }
    // What is exported is written somewhere, or only returned.
    let changes = named.iter().any(|word| WRITES.contains(&word.as_str()) && word != "export");
    let described = begins(tool, &ONLY_LOOKS) || begins(tool, &["print", "return"]);
    !changes && (described || has(&ONLY_LOOKS) && !has(&["export"]))
}

/// Whether a tool says or sounds as if it destroys something.
pub(crate) fn claims_to_destroy(tool: &Tool) -> bool {
    sounds_destructive(tool) || says_destructive(tool)
}

/// Whether a tool claims to be destructive. A claim to only read as well is a contradiction: the worse counts, unless
/// the name says that the tool only looks.
pub(super) fn says_destructive(tool: &Tool) -> bool {
    let only_reads = tool.hint("readOnlyHint") == Some(true) && only_looks(tool);
    tool.hint("destructiveHint") == Some(true) && !only_reads
}

/// Whether the words of a tool are about destroying. `mark_reboot` with the description `Record that a
/// host was rebooted` is about telling of it; `record_delete` that begins with `Delete` is not.
pub(super) fn sounds_destructive(tool: &Tool) -> bool {
    let said = tool.description().unwrap_or_default().to_lowercase();
    (is_destructive(tool.name().unwrap_or_default()) && !tells(tool))
        || begins(tool, &SAID_DESTRUCTIVE)
        || FOR_GOOD.iter().any(|words| said.contains(words))
}

/// Whether a tool looks, or writes down that something was done, by its name and its description.
pub(super) fn tells(tool: &Tool) -> bool {
    let name = words(tool.name().unwrap_or_default());
    let joins = name.iter().any(|word| matches!(word.as_str(), "and" | "then" | "or"));
    let first = name.first().is_some_and(|verb| TELLS.contains(&verb.as_str()));
    first && !joins && begins(tool, &TELLS)
}

/// Whether a tool looks at something and changes nothing, by its name.
pub(super) fn looks(tool: &Tool) -> bool {
    let named = words(tool.name().unwrap_or_default());
    let has = |wanted: &[&str]| named.iter().any(|word| wanted.contains(&word.as_str()));
    has(&LOOKS) && !has(&WRITES)
}

pub(super) fn writes_where_told(tool: &Tool) -> bool {
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
    let joined = |word: &str| {
        let is_done = word.ends_with('d');
        !is_done && DESTRUCTIVE_PREFIXES.iter().any(|verb| word.starts_with(verb))
    };
    words(name).iter().any(|word| DESTRUCTIVE.contains(&word.as_str()) || joined(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn claims_of_destruction_and_names_that_sound_like_it_count() {
        let tool = |name: &str, hints: Value| Tool(json!({"name": name, "annotations": hints}));
        assert!(claims_to_destroy(&tool("delete_user", json!({}))) && is_destructive("drop_all"));
        assert!(claims_to_destroy(&tool("tidy", json!({"destructiveHint": true}))));
        assert!(!claims_to_destroy(&tool("list_users", json!({}))));
        let look = tool("look", json!({"destructiveHint": true, "readOnlyHint": true}));
        assert!(!claims_to_destroy(&look));
        // A name is never outweighed by claims.
        let claims = json!({"destructiveHint": true, "readOnlyHint": true});
        assert!(claims_to_destroy(&tool("delete_everything", claims)));
        assert!(claims_to_destroy(&tool("delete_everything", json!({"readOnlyHint": true}))));
    }
}
