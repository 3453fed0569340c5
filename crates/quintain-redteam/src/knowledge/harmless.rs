//! Which arguments keep a destructive call harmless: it selects objects of this run or objects that cannot exist, and
//! nothing in it selects more. Pure; the caller decides what belongs to the run.

use quintain_evidence::surface::Tool;
use serde_json::{Map, Value};

use super::modes::is_switch;
use super::{Harm, words};

/// Names of arguments that are free text and select nothing.
const PROSE: [&str; 13] = [
    "body",
    "comment",
    "content",
    "description",
    "details",
    "explanation",
    "justification",
    "memo",
    "message",
    "note",
    "reason",
    "summary",
    "text",
];
const SIGNALS: [&str; 2] = ["sig", "signal"];
/// Names of numbers that select an object; all others are counts or measures.
const NUMBERED: [&str; 14] = [
    "gid",
    "handle",
    "id",
    "identifier",
    "ids",
    "index",
    "inode",
    "key",
    "no",
    "number",
    "pid",
    "port",
    "ref",
    "uid",
];
/// Names of arguments that select a setting or its owner, not its new value.
const IDENTIFIES: [&str; 34] = [
    "account",
    "directory",
    "email",
    "feature",
    "field",
    "file",
    "filename",
    "flag",
    "folder",
    "group",
    "id",
    "identifier",
    "ids",
    "key",
    "member",
    "option",
    "owner",
    "param",
    "parameter",
    "path",
    "pid",
    "preference",
    "principal",
    "project",
    "property",
    "resource",
    "section",
    "setting",
    "subject",
    "uid",
    "user",
    "username",
    "uuid",
    "variable",
];
/// Words that select everything.
const ALL: [&str; 8] =
    ["all", "any", "every", "everyone", "everything", "entire", "global", "whole"];
/// Longer texts do not count as plain words.
const MAX_PROSE: usize = 200;

/// One value in the arguments of a call.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The nearest name.
    pub name: &'a str,
    /// The schema of the value; `null` if unknown.
    pub schema: &'a Value,
}

/// The role of a value in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It selects what the call acts on.
    Names,
    /// It selects a mode, or is one of a few words that the schema lists.
    Chooses,
    Says,
    Counts,
}

impl Leaf<'_> {
    fn has(&self, known: &[&str]) -> bool {
        words(self.name).iter().any(|word| known.contains(&word.as_str()))
    }

    /// Whether it has the name of the tool's object: `kill_process` and `process`. A signal is not an object.
    fn is_object(&self) -> bool {
        let of = stems(self.tool);
        !self.has(&SIGNALS) && stems(self.name).iter().any(|word| of.contains(word))
    }

    /// Whether it is the id of a process.
    pub fn is_process(&self) -> bool {
        let about = |text: &str| words(text).iter().any(|word| word.starts_with("process"));
        self.has(&["pid", "pids"]) || about(self.name) || (about(self.tool) && self.has(&["id"]))
    }

    fn choices(&self) -> Option<&Vec<Value>> {
        self.schema.get("enum").and_then(Value::as_array)
    }

    fn role(&self, value: &Value) -> Role {
        if is_switch(self.name) {
            return Role::Chooses;
        }
        let names = self.has(&NUMBERED) || self.is_object() || self.is_process();
        match value {
            Value::Number(_) if !names => Role::Counts,
            Value::String(_) if !names && !self.has(&IDENTIFIES) => match self.choices() {
                Some(choices) if choices.contains(value) => Role::Chooses,
                _ if self.has(&PROSE) || self.has(&SIGNALS) => Role::Says,
                _ => Role::Names,
            },
            _ => Role::Names,
        }
    }

    /// Whether it selects the object, instead of changing it.
    fn identifies(&self, harm: Harm, others: &Map<String, Value>) -> bool {
        let valued = |name: &String| {
            words(name).iter().any(|word| matches!(word.as_str(), "value" | "values" | "enabled"))
        };
        match harm {
            Harm::Destroys => true,
            Harm::Reconfigures => {
                // `set_option(name, value)` changes the option with that name, `update_settings(name)` changes the
                // name.
                self.has(&IDENTIFIES) || (self.has(&["name"]) && others.keys().any(valued))
            }
        }
    }
}

fn stems(name: &str) -> Vec<String> {
    let stem = |word: String| word.trim_end_matches('s').to_owned();
    words(name).into_iter().map(stem).filter(|word| word.len() > 2).collect()
}

/// Why a destructive call may do harm, if it may. `owns` decides whether a value is an object of this run or cannot
/// exist.
pub fn objection(
    tool: Option<&Tool>,
    name: &str,
    harm: Harm,
    args: &Map<String, Value>,
    owns: &dyn Fn(&Leaf<'_>, &Value) -> bool,
) -> Option<String> {
    let mut names_something = false;
    let mut wrong = None;
    let top = Value::Object(args.clone());
    let schema = tool.and_then(Tool::input_schema).unwrap_or(&Value::Null);
    visit(name, "", schema, &top, &mut |leaf, value| {
        let fault = match value {
            Value::Null => None,
            Value::Bool(is) => (*is && leaf.has(&ALL)).then_some("selects everything"),
            Value::Array(_) | Value::Object(_) => Some("is empty, which may select everything"),
            value => match leaf.role(value) {
                Role::Names => {
                    names_something |= leaf.identifies(harm, args);
                    let is_ours = owns(leaf, value) && !names_machine(value);
                    (!is_ours).then_some("may select an existing object")
                }
                Role::Chooses if !is_plain(value) => Some("contains more than plain words"),
                Role::Chooses => means_all(value).then_some("selects everything"),
                Role::Says => (!is_plain(value)).then_some("contains more than plain words"),
                Role::Counts => None,
            },
        };
        if let (Some(fault), None) = (fault, &wrong) {
            wrong = Some(format!("`{}` {fault}", leaf.name));
        }
    });
    if let (Some(name), None) = (misshapen(schema, args), &wrong) {
        wrong = Some(format!("`{name}` has a type that the schema does not allow"));
    }
    let nothing = || "no argument selects an object".to_owned();
    let missing = || {
        let (name, ..) = left_out(name, schema, args)?;
        Some(format!("`{name}` is missing, so the target chooses it"))
    };
    wrong.or_else(missing).or_else(|| (!names_something).then(nothing))
}

/// Whether a text names a machine: listeners of the run are on the user's machine.
fn names_machine(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default().to_ascii_lowercase();
    ["://", "127.0.0.1", "localhost", "0.0.0.0", "[::1]"].iter().any(|part| text.contains(part))
}

/// An argument that is a list or an object although the schema expects a plain value.
fn misshapen<'a>(schema: &Value, args: &'a Map<String, Value>) -> Option<&'a str> {
    let is_plain = |name: &str| {
        let kind = schema.get("properties").and_then(|all| all.get(name)?.get("type")?.as_str());
        kind.is_some_and(|kind| matches!(kind, "string" | "number" | "integer" | "boolean"))
    };
    let is_nested = |value: &Value| value.is_object() || value.is_array();
    let found = args.iter().find(|(name, value)| is_nested(value) && is_plain(name));
    found.map(|(name, _)| name.as_str())
}

/// An argument that selects something and is missing, so that the target chooses a value: the name, its schema, and a
/// value of its type.
fn left_out<'s>(
    tool: &str,
    schema: &'s Value,
    args: &Map<String, Value>,
) -> Option<(&'s str, &'s Value, Value)> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema.get("properties").and_then(Value::as_object)?;
    let mut missing = properties.iter().filter(|(name, _)| !args.contains_key(*name));
    missing.find_map(|(name, schema)| {
        let default = schema.get("default").filter(|value| !value.is_null());
        let sample = match schema.get("type").and_then(Value::as_str) {
            Some("boolean") => return None,
            Some("integer" | "number") => Value::from(0),
            _ => Value::from(""),
        };
        let sample = default.cloned().unwrap_or(sample);
        let names = Leaf { tool, name, schema }.role(&sample) == Role::Names;
        let chosen = default.is_some() || is_required(name);
        (names && chosen).then_some((name.as_str(), schema, sample))
    })
}

/// The same arguments with values of this run wherever one selects something; `give` creates them and receives the old
/// value.
pub fn harmless(
    tool: &Tool,
    schema: &Value,
    args: &Map<String, Value>,
    give: &mut dyn FnMut(&Leaf<'_>, &Value) -> Value,
) -> Map<String, Value> {
    let name = tool.name().unwrap_or_default();
    let mut changed = Value::Object(args.clone());
    replace(name, "", schema, &mut changed, give);
    let Value::Object(mut changed) = changed else { return args.clone() };
    while let Some((missing, schema, sample)) = left_out(name, schema, &changed) {
        let given = give(&Leaf { tool: name, name: missing, schema }, &sample);
        changed.insert(missing.to_owned(), given);
    }
    changed
}

fn replace(
    tool: &str,
    name: &str,
    schema: &Value,
    value: &mut Value,
    give: &mut dyn FnMut(&Leaf<'_>, &Value) -> Value,
) {
    match value {
        Value::Object(entries) => {
            for (name, value) in entries {
                replace(tool, name, property(schema, name), value, give);
            }
        }
        Value::Array(items) => {
            for item in items {
                replace(tool, name, schema.get("items").unwrap_or(&Value::Null), item, give);
            }
        }
        value => {
            let leaf = Leaf { tool, name, schema };
            match value {
                Value::Bool(is) => *is &= !leaf.has(&ALL),
                Value::Null => {}
                value => match leaf.role(value) {
                    Role::Names => *value = give(&leaf, value),
                    Role::Says if !is_plain(value) => *value = "test".into(),
                    Role::Says | Role::Chooses | Role::Counts => {}
                },
            }
        }
    }
}

/// Calls `each` with every value that is not a container, and with empty lists and maps.
fn visit(
    tool: &str,
    name: &str,
    schema: &Value,
    value: &Value,
    each: &mut dyn FnMut(&Leaf<'_>, &Value),
) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (name, value) in entries {
                visit(tool, name, property(schema, name), value, each);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                visit(tool, name, schema.get("items").unwrap_or(&Value::Null), item, each);
            }
        }
        // No arguments at all do not count as an empty map.
        Value::Object(_) if name.is_empty() => {}
        value => each(&Leaf { tool, name, schema }, value),
    }
}

fn property<'s>(schema: &'s Value, name: &str) -> &'s Value {
    schema.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null)
}

fn means_all(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    text.is_empty() || text == "*" || words(text).iter().any(|word| ALL.contains(&word.as_str()))
}

/// Whether a text consists of words that no interpreter treats specially.
fn is_plain(value: &Value) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | ',' | '.' | '-' | '_');
    let text = value.as_str().unwrap_or_default();
    text.len() <= MAX_PROSE && text.chars().all(plain) && !text.contains("--")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Texts that begin with `own`, and very large numbers, belong to the run.
    fn owns(_: &Leaf<'_>, value: &Value) -> bool {
        value.as_u64().is_some_and(|number| number > 1 << 30)
            || value.as_str().is_some_and(|text| text.starts_with("own"))
    }

    fn of(harm: Harm, name: &str, args: Value) -> Option<String> {
        objection(None, name, harm, args.as_object().unwrap(), &owns)
    }

    #[test]
    fn only_objects_of_the_run_are_destroyed() {
        let destroys = |name: &str, args: Value| of(Harm::Destroys, name, args);
        for pid in [json!(0), json!(1), json!(-1), json!("1"), json!("*"), json!("")] {
            assert!(destroys("kill_process", json!({"pid": pid.clone()})).is_some(), "{pid}");
        }
        assert_eq!(destroys("kill_process", json!({"pid": 2_000_000_001})), None);
        assert_eq!(destroys("send_signal", json!({"pid": 2_000_000_001, "signal": 9})), None);
        for path in ["/", ".", "", "*", "/etc/passwd"] {
            assert!(destroys("delete_file", json!({"path": path})).is_some(), "{path}");
        }
        assert_eq!(destroys("delete_file", json!({"path": "own.txt"})), None);
        assert!(destroys("delete_file", json!({"paths": ["own.txt", "/etc"]})).is_some());
        assert!(destroys("delete_file", json!({"paths": []})).is_some());
        assert!(destroys("drop_table", json!({"table": "users"})).is_some());
    }

    #[test]
    fn what_names_nothing_acts_on_what_is_there() {
        let destroys = |name: &str, args: Value| of(Harm::Destroys, name, args);
        assert!(destroys("shutdown", json!({})).is_some());
        assert!(destroys("shutdown", json!({"reason": "test", "delay": 5})).is_some());
        assert!(destroys("purge", json!({"id": "own", "all": true})).is_some());
        assert_eq!(destroys("purge", json!({"id": "own", "all": false, "force": true})), None);
        assert!(destroys("purge", json!({"id": "own", "reason": "x' OR 1=1 --"})).is_some());
        assert_eq!(destroys("purge", json!({"id": "own", "reason": "a test."})), None);
    }

    #[test]
    fn settings_change_only_where_the_run_says_which() {
        let changes = |args: Value| of(Harm::Reconfigures, "set_option", args);
        assert_eq!(changes(json!({"key": "own", "value": "own"})), None);
        assert_eq!(changes(json!({"name": "own", "value": "own"})), None);
        assert!(changes(json!({"name": "own"})).is_some(), "it becomes the name of what is there");
        assert!(changes(json!({"theme": "own"})).is_some());
        assert!(changes(json!({"key": "allowedDirectories", "value": "own"})).is_some());
        assert!(changes(json!({"key": "own", "value": "/"})).is_some());
    }

    #[test]
    fn listed_words_choose_nothing_but_how() {
        let tool = Tool(json!({"name": "set_role", "inputSchema": {"properties": {
            "user": {"enum": ["eva"]}, "kind": {"enum": ["soft", "all"]}}}}));
        let said = |args: Value| {
            let args = args.as_object().cloned().unwrap();
            objection(Some(&tool), "set_role", Harm::Reconfigures, &args, &owns)
        };
        assert_eq!(said(json!({"user": "own", "kind": "soft"})), None);
        assert!(said(json!({"user": "own", "kind": "all"})).is_some());
        assert!(said(json!({"user": "eva", "kind": "soft"})).is_some());
    }

    #[test]
    fn what_is_left_out_is_chosen_by_the_target() {
        let tool = Tool(
            json!({"name": "manage", "inputSchema": {"required": ["pid"], "properties": {
            "pid": {"type": "integer"}, "account": {"default": "root"}, "force": {"type": "boolean"},
            "action": {"enum": ["list", "kill"]}}}}),
        );
        let said = |args: Value| {
            let args = args.as_object().cloned().unwrap();
            objection(Some(&tool), "manage", Harm::Destroys, &args, &owns)
        };
        assert_eq!(said(json!({"action": "kill", "pid": 2_000_000_001, "account": "own"})), None);
        assert!(said(json!({"action": "kill", "pid": 2_000_000_001})).is_some());
        assert!(said(json!({"action": "kill", "account": "own"})).is_some());
        assert!(said(json!({"action": "own"})).is_some(), "what to do names nothing");
        assert!(said(json!({"action": "a;b", "pid": 2_000_000_001, "account": "own"})).is_some());
    }

    #[test]
    fn arguments_are_made_harmless() {
        let tool = Tool(json!({"name": "delete_file"}));
        let schema = json!({"properties": {"paths": {"items": {"type": "string"}}, "owner": {"default": "root"}}});
        let args = json!({"paths": ["/etc"], "all": true, "reason": "$(x)", "depth": 3});
        let made = harmless(&tool, &schema, args.as_object().unwrap(), &mut |_, _| "own".into());
        let wanted =
            json!({"paths": ["own"], "all": false, "reason": "test", "depth": 3, "owner": "own"});
        assert_eq!(Value::Object(made.clone()), wanted);
        assert_eq!(objection(Some(&tool), "delete_file", Harm::Destroys, &made, &owns), None);
    }
}
