//! What the files of tools share: a tool as data with a function, and the parts of schemas that several tools have.

use serde_json::{Map, Value, json};

use crate::principal::{Access, Group, Scope};
use crate::tool::Hints;

/// Reads.
pub(super) const READ: Hints =
    Hints { read_only: true, destructive: false, idempotent: true, open_world: false };
/// Adds or changes something of this server.
pub(super) const WRITE: Hints =
    Hints { read_only: false, destructive: false, idempotent: false, open_world: false };
/// Deletes something of this server.
pub(super) const DELETE: Hints =
    Hints { read_only: false, destructive: true, idempotent: true, open_world: false };
/// Contacts a target without the intention to change it.
pub(super) const CONTACT: Hints =
    Hints { read_only: false, destructive: false, idempotent: false, open_world: true };
/// Attacks a target.
pub(super) const ATTACK: Hints =
    Hints { read_only: false, destructive: true, idempotent: false, open_world: true };

pub(super) const fn reading(group: Group) -> Scope {
    Scope::new(group, Access::Read)
}

pub(super) const fn writing(group: Group) -> Scope {
    Scope::new(group, Access::Write)
}

/// The schema of arguments: only these, and these required ones.
pub(super) fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The schema of a result: at least these.
pub(super) fn shape(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// The schema of a page of items.
pub(super) fn page_of(item: Value) -> Value {
    shape(
        json!({
            "items": {"type": "array", "items": item},
            "next_cursor": {"type": "string"},
            "total": {"type": "integer"},
        }),
        &["items", "total"],
    )
}

pub(super) fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// The text of an id or a name.
pub(super) fn id(description: &str) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 200, "description": description})
}

pub(super) fn flag(description: &str, default: bool) -> Value {
    json!({"type": "boolean", "default": default, "description": description})
}

pub(super) fn one_of(values: &[&str], description: &str) -> Value {
    json!({"type": "string", "enum": values, "description": description})
}

pub(super) fn number(low: u64, high: u64, default: u64, description: &str) -> Value {
    json!({"type": "integer", "minimum": low, "maximum": high, "default": default, "description": description})
}

/// `cursor` and `limit`.
pub(super) fn paged(mut properties: Value) -> Value {
    properties["cursor"] = json!({"type": "string", "pattern": "^c[0-9]{1,12}$", "description": "`next_cursor` of the page before"});
    properties["limit"] = number(1, 200, 50, "Items per page");
    properties
}

/// What the seed's clients and others send as one text or as a list.
pub(super) fn texts(most: usize, description: &str) -> Value {
    json!({"description": description, "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": most},
    ]})
}

/// Converters or scorers: names, or maps with options.
pub(super) fn named_list(description: &str) -> Value {
    json!({"type": "array", "maxItems": 64, "description": description,
        "items": {"anyOf": [{"type": "string"}, {"type": "object"}]}})
}

/// Reads arguments, which are valid.
pub(super) struct Arguments(pub(super) Map<String, Value>);

impl Arguments {
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    /// An argument that the schema requires.
    pub(super) fn required(&self, key: &str) -> &str {
        self.text(key).unwrap_or_default()
    }

    pub(super) fn flag(&self, key: &str, default: bool) -> bool {
        self.0.get(key).and_then(Value::as_bool).unwrap_or(default)
    }

    pub(super) fn number(&self, key: &str, default: u64) -> u64 {
        self.0.get(key).and_then(Value::as_u64).unwrap_or(default)
    }

    pub(super) fn list(&self, key: &str) -> Vec<Value> {
        self.0.get(key).and_then(Value::as_array).cloned().unwrap_or_default()
    }

    /// One text or several.
    pub(super) fn texts(&self, key: &str) -> Vec<String> {
        match self.0.get(key) {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(several)) => {
                several.iter().filter_map(|one| Some(one.as_str()?.to_owned())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A page of items as structured content.
    pub(super) fn page(&self, items: Vec<Value>) -> Value {
        let total = items.len();
        let from =
            self.text("cursor").and_then(|cursor| cursor[1..].parse().ok()).unwrap_or(0_usize);
        let limit = self.number("limit", 50) as usize;
        let items: Vec<Value> = items.into_iter().skip(from).take(limit).collect();
        let next = from + items.len();
        let mut page = json!({"items": items, "total": total});
        if next < total {
            page["next_cursor"] = json!(format!("c{next}"));
        }
        page
    }
}

/// Declares tools as statics.
macro_rules! tools {
    ($($(#[$doc:meta])* $name:ident = { $($meta:tt)* } input: $input:expr, output: $output:expr, call: $call:expr;)*) => {
        $(
            $(#[$doc])*
            pub(super) struct $name;

            impl $crate::tool::Tool for $name {
                fn meta(&self) -> &'static $crate::tool::ToolMeta {
                    static META: $crate::tool::ToolMeta = $crate::tool::ToolMeta { $($meta)* };
                    &META
                }

                fn input_schema(&self) -> serde_json::Value {
                    $input
                }

                fn output_schema(&self) -> serde_json::Value {
                    $output
                }

                fn call<'a>(
                    &'a self,
                    call: $crate::tool::Call<'a>,
                ) -> futures_util::future::BoxFuture<'a, Result<$crate::tool::Reply, $crate::tool::ToolError>> {
                    Box::pin($call(call))
                }
            }
        )*
    };
}
pub(super) use tools;
