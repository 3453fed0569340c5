//! What a call may do to existing objects: destroy them, or change how the target works. Knows tools and calls, but not
//! what a run may do.

use quintain_evidence::lexicon::{Sense, looks, says_destructive, sounds_destructive, tells};
use quintain_evidence::surface::Tool;
use serde_json::{Map, Value};

use super::modes::{is_switch, switch};
use super::{Kind, classify, is_destructive, words};

/// The kind of harm that a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// It destroys, ends, sends or pays something.
    Destroys,
    /// It changes settings, permissions, allow-lists or credentials of the target.
    Reconfigures,
}

/// Words for settings, permissions, allow-lists and credentials.
const SETTINGS: [&str; 38] = [
    "access",
    "acl",
    "allowed",
    "allowlist",
    "apikey",
    "blacklist",
    "blocklist",
    "certificate",
    "config",
    "configuration",
    "configs",
    "credential",
    "credentials",
    "denylist",
    "env",
    "environment",
    "firewall",
    "option",
    "options",
    "password",
    "passwords",
    "permission",
    "permissions",
    "preference",
    "preferences",
    "privilege",
    "privileges",
    "role",
    "roles",
    "secret",
    "secrets",
    "setting",
    "settings",
    "sudoers",
    "token",
    "tokens",
    "trusted",
    "whitelist",
];

/// The harm that a tool does whenever it is called. A tool that writes to a path of the caller's choice destroys only
/// the file there, and it gets only paths of the run.
pub fn harm_of(tool: &Tool) -> Option<Harm> {
    // A tool that does both counts as one that changes settings, which has stricter rules.
    if reconfigures(tool) {
        return Some(Harm::Reconfigures);
    }
    let claims = says_destructive(tool) && !writes_where_told(tool) && !looks(tool);
    (sounds_destructive(tool) || claims).then_some(Harm::Destroys)
}

/// Whether a tool may destroy objects of the user, or change how the target works.
pub fn destroys(tool: &Tool) -> bool {
    harm_of(tool).is_some()
}

/// The harm of one call. `tool` is absent if no tool of this name is listed.
pub fn harm_of_call(tool: Option<&Tool>, name: &str, args: &Map<String, Value>) -> Option<Harm> {
    let of_name = || {
        let settings = changes_settings(name).then_some(Harm::Reconfigures);
        settings.or_else(|| is_destructive(name).then_some(Harm::Destroys))
    };
    let of_tool = match tool {
        Some(tool) => harm_of(tool),
        None => of_name(),
    };
    let told = || args.iter().any(|(name, value)| tells_to(name, value));
    let astray = || tool.and_then(Tool::input_schema).is_some_and(|schema| strays(schema, args));
    of_tool.or_else(|| (told() || astray()).then_some(Harm::Destroys))
}

/// Whether a tool with a destructive mode gets a mode that it does not list. What it does then is unknown.
fn strays(schema: &Value, args: &Map<String, Value>) -> bool {
    let Some(switch) = switch(schema) else { return false };
    let (bad, good): (Vec<&String>, Vec<&String>) =
        switch.choices.iter().partition(|choice| is_destructive(choice));
    let told = args.get(&switch.argument);
    !bad.is_empty() && told.is_some_and(|told| !good.iter().any(|choice| *told == choice.as_str()))
}

/// Whether an argument selects a destructive mode of a tool.
fn tells_to(name: &str, value: &Value) -> bool {
    match value {
        Value::String(text) => is_switch(name) && is_destructive(text),
        Value::Array(items) => items.iter().any(|item| tells_to(name, item)),
        Value::Object(entries) => entries.iter().any(|(name, value)| tells_to(name, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn reconfigures(tool: &Tool) -> bool {
    let name = tool.name().unwrap_or_default();
    let said = tool.description().unwrap_or_default();
    let first = said.split(['.', '\n']).next().unwrap_or_default();
    let described = Sense::Sets.begins(tool) && {
        // The object of the sentence, not the means or the purpose.
        let object: Vec<String> = words(first).into_iter().skip(1).take(3).collect();
        object.iter().any(|word| is_setting(word))
    };
    (changes_settings(name) || Sense::Grants.begins(tool) || described) && !tells(tool)
}

/// Whether a name suggests that settings, permissions or credentials are changed.
fn changes_settings(name: &str) -> bool {
    let name = words(name);
    let has = |known: &[&str]| name.iter().any(|word| known.contains(&word.as_str()));
    let api_key = name.windows(2).any(|pair| pair[0] == "api" && pair[1].starts_with("key"));
    let changes = Sense::Sets.is_in(&name) || name.iter().any(|word| is_destructive(word));
    Sense::Grants.is_in(&name) || (changes && (has(&SETTINGS) || api_key))
}

fn is_setting(word: &str) -> bool {
    SETTINGS.contains(&word)
}

fn writes_where_told(tool: &Tool) -> bool {
    let named = words(tool.name().unwrap_or_default());
    let removes = named.iter().any(|word| matches!(word.as_str(), "delete" | "remove"));
    let properties = tool.input_schema().and_then(|schema| schema.get("properties"));
    let properties = properties.and_then(Value::as_object);
    let mut names = properties.into_iter().flatten();
    let is_path = |(name, schema): (&String, &Value)| {
        let said = schema.get("description").and_then(Value::as_str);
        classify(name, said, schema).contains(&Kind::Path)
    };
    Sense::Writes.is_in(&named) && !removes && names.any(is_path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(name: &str) -> Option<Harm> {
        harm_of(&Tool(json!({"name": name})))
    }

    #[test]
    fn what_ends_processes_and_what_changes_settings_is_known_by_name() {
        for name in ["kill_process", "force_terminate", "send_signal", "drop_table", "shutdown"] {
            assert_eq!(named(name), Some(Harm::Destroys), "{name}");
        }
        for name in [
            "set_config_value",
            "update_settings",
            "setOption",
            "grant",
            "revoke_permission",
            "add_allowed_directory",
            "rotate_api_key",
            "reset_password",
            "create_api_key",
            "set_user_role",
        ] {
            assert_eq!(named(name), Some(Harm::Reconfigures), "{name}");
        }
        for name in [
            "get_config",
            "list_allowed_directories",
            "read_file",
            "create_note",
            "set_title",
            "add_review",
        ] {
            assert_eq!(named(name), None, "{name}");
        }
    }

    #[test]
    fn descriptions_count_as_names_do() {
        let tool = |name: &str, says: &str| Tool(json!({"name": name, "description": says}));
        assert_eq!(harm_of(&tool("tidy", "Deletes old files.")), Some(Harm::Destroys));
        assert_eq!(harm_of(&tool("tune", "Change the settings.")), Some(Harm::Reconfigures));
        assert_eq!(harm_of(&tool("let_in", "Grants access.")), Some(Harm::Reconfigures));
        assert_eq!(harm_of(&tool("say", "Adds a note with options.")), None);
    }

    #[test]
    fn what_a_tool_is_told_to_do_counts() {
        let call = |args: Value| {
            let tool = Tool(json!({"name": "manage"}));
            harm_of_call(Some(&tool), "manage", args.as_object().unwrap())
        };
        assert_eq!(call(json!({"action": "delete", "id": "1"})), Some(Harm::Destroys));
        assert_eq!(call(json!({"changes": [{"op": "remove"}]})), Some(Harm::Destroys));
        assert_eq!(call(json!({"action": "list"})), None);
        let choices = json!({"properties": {"action": {"enum": ["list", "delete"]}}});
        let tool = Tool(json!({"name": "manage", "inputSchema": choices}));
        let told = |action: Value| {
            let args = Map::from_iter([("action".to_owned(), action)]);
            harm_of_call(Some(&tool), "manage", &args)
        };
        assert_eq!(told(json!("list")), None);
        assert_eq!(told(json!("list'")), Some(Harm::Destroys), "it may take the other branch");
        assert_eq!(told(json!({"x": 1})), Some(Harm::Destroys));
        let unlisted = |name: &str| harm_of_call(None, name, &Map::new());
        assert_eq!(unlisted("admin_delete_all"), Some(Harm::Destroys));
        assert_eq!(unlisted("set_config"), Some(Harm::Reconfigures));
        assert_eq!(unlisted("qwertyuiopas"), None);
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
