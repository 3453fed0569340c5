//! The differences between two surfaces, item by item, in words.

use std::collections::BTreeSet;

use quintain_content::text::js;
use quintain_content::text_diff::{first_difference, window};
use serde_json::{Map, Value};

use super::lock::Section;

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurfaceChange {
    pub server: String,
    /// ``tool `pay` ``
    pub item: String,
    /// What changed, in words.
    pub what: String,
}

/// All differences between two files of surfaces.
pub fn drift(old: &Value, new: &Value) -> Vec<SurfaceChange> {
    let mut changes = Vec::new();
    let (old, new) = (entries(old, "servers"), entries(new, "servers"));
    for server in keys(old, new) {
        let mut push = |item: String, what: String| {
            changes.push(SurfaceChange { server: server.clone(), item, what });
        };
        match (get(old, &server), get(new, &server)) {
            (None, Some(_)) => push("server".to_owned(), "was added".to_owned()),
            (Some(_), None) => push("server".to_owned(), "was removed".to_owned()),
            (Some(old), Some(new)) => sections(old, new, &mut push),
            (None, None) => {}
        }
    }
    changes
}

fn sections(old: &Value, new: &Value, push: &mut dyn FnMut(String, String)) {
    for (noun, section) in [
        ("tool", Section::Tools),
        ("prompt", Section::Prompts),
        ("resource", Section::Resources),
        ("template", Section::Templates),
    ] {
        let (old, new) = (entries(old, section.word()), entries(new, section.word()));
        for name in keys(old, new) {
            let item = format!("{noun} `{name}`");
            match (get(old, &name), get(new, &name)) {
                (None, Some(_)) => push(item, "was added".to_owned()),
                (Some(_), None) => push(item, "was removed".to_owned()),
                (Some(old), Some(new)) => {
                    let mut found = Found { place: Vec::new(), words: Vec::new() };
                    found.compare(old, new);
                    for words in found.words {
                        push(item.clone(), words);
                    }
                }
                (None, None) => {}
            }
        }
    }
    let word = Section::Instructions.word();
    let item = || "instructions of the server".to_owned();
    match (old.get(word), new.get(word)) {
        (None, Some(_)) => push(item(), "were added".to_owned()),
        (Some(_), None) => push(item(), "were removed".to_owned()),
        (Some(old), Some(new)) if old != new => push(item(), changed(old, new)),
        _ => {}
    }
}

fn entries<'v>(value: &'v Value, key: &str) -> Option<&'v Map<String, Value>> {
    value.get(key).and_then(Value::as_object)
}

fn get<'v>(map: Option<&'v Map<String, Value>>, key: &str) -> Option<&'v Value> {
    map.and_then(|map| map.get(key))
}

fn keys(old: Option<&Map<String, Value>>, new: Option<&Map<String, Value>>) -> BTreeSet<String> {
    old.into_iter().chain(new).flat_map(Map::keys).cloned().collect()
}

/// The differences of one item, and the path to the current one.
struct Found {
    place: Vec<String>,
    words: Vec<String>,
}

impl Found {
    fn compare(&mut self, old: &Value, new: &Value) {
        match (old, new) {
            (old, new) if old == new => {}
            (Value::Object(old), Value::Object(new)) => self.maps(old, new),
            (Value::Array(old), Value::Array(new)) => self.lists(old, new),
            (old, new) => self.tell(changed(old, new)),
        }
    }

    fn maps(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        for key in keys(Some(old), Some(new)) {
            self.place.push(key.clone());
            match (old.get(&key), new.get(&key)) {
                (Some(old), Some(new)) => self.compare(old, new),
                (None, Some(new)) => self.tell(format!("was added{}", brief(new, self.is_named()))),
                (Some(old), None) => {
                    self.tell(format!("was removed{}", brief(old, self.is_named())));
                }
                (None, None) => {}
            }
            self.place.pop();
        }
    }

    fn lists(&mut self, old: &[Value], new: &[Value]) {
        if let (Some(old), Some(new)) = (named(old), named(new)) {
            return self.maps(&old, &new);
        }
        let key = self.place.last().map(String::as_str);
        let required = key == Some("required");
        if !required && key != Some("enum") && key != Some("type") {
            if old.len() != new.len() {
                let (old, new) = (old.len(), new.len());
                return self.tell(format!("changed from {old} to {new} elements"));
            }
            for (at, (old, new)) in old.iter().zip(new).enumerate() {
                self.place.push(at.to_string());
                self.compare(old, new);
                self.place.pop();
            }
            return;
        }
        // These are sets: their order does not matter.
        let gone = old.iter().filter(|value| !new.contains(value));
        let come = new.iter().filter(|value| !old.contains(value));
        let (lost, gained) = if required {
            ("is no longer required", "is now required")
        } else {
            ("is no longer allowed", "is now allowed")
        };
        let all = gone.map(|value| (value, lost)).chain(come.map(|value| (value, gained)));
        let told: Vec<_> = all.map(|(value, what)| (value.clone(), what)).collect();
        for (value, what) in told {
            match (required, &value) {
                (true, Value::String(name)) => {
                    let keyword = self.place.pop();
                    self.place.extend(["properties".to_owned(), name.clone()]);
                    self.tell(what.to_owned());
                    self.place.truncate(self.place.len() - 2);
                    self.place.extend(keyword);
                }
                _ => self.tell(format!("{} {what}", shown(&value, 0))),
            }
        }
    }

    /// Whether the path leads to a property or an argument, whose names the server chooses.
    fn is_named(&self) -> bool {
        let above = self.place.len().checked_sub(2).map(|at| self.place[at].as_str());
        matches!(above, Some("properties" | "arguments"))
    }

    fn tell(&mut self, what: String) {
        let place = words(&self.place);
        self.words.push(if place.is_empty() { what } else { format!("{place} {what}") });
    }
}

/// `input schema, property `user.id`, `minimum``
fn words(place: &[String]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut property: Vec<&str> = Vec::new();
    let mut rest = place;
    if let Some((first, below)) = rest.split_first() {
        let named = match first.as_str() {
            "inputSchema" => Some("input schema"),
            "outputSchema" => Some("output schema"),
            "annotations" | "description" | "title" => Some(first.as_str()),
            _ => None,
        };
        if let Some(named) = named {
            parts.push(named.to_owned());
            rest = below;
        }
    }
    let mut keywords: Vec<&str> = Vec::new();
    while let Some((key, below)) = rest.split_first() {
        rest = below;
        match (key.as_str(), below.split_first()) {
            ("properties", Some((name, below))) if keywords.is_empty() => {
                property.push(name);
                rest = below;
            }
            ("items", Some(_)) if keywords.is_empty() && !property.is_empty() => property.push("*"),
            ("arguments", Some((name, below))) if place.len() > below.len() + 1 => {
                parts.push(format!("argument `{name}`"));
                rest = below;
            }
            (keyword, _) => keywords.push(keyword),
        }
    }
    if !property.is_empty() {
        parts.push(format!("property `{}`", property.join(".")));
    }
    if !keywords.is_empty() {
        parts.push(format!("`{}`", keywords.join(".")));
    }
    parts.join(", ")
}

/// A list of named items as a map.
fn named(items: &[Value]) -> Option<Map<String, Value>> {
    let pairs = items.iter().map(|item| {
        let name = item.get("name")?.as_str()?;
        Some((name.to_owned(), item.clone()))
    });
    let named = pairs.collect::<Option<Map<_, _>>>()?;
    (named.len() == items.len()).then_some(named)
}

fn changed(old: &Value, new: &Value) -> String {
    let focus = match (old, new) {
        (Value::String(old), Value::String(new)) => first_difference(old, new),
        _ => 0,
    };
    format!("changed from {} to {}", shown(old, focus), shown(new, focus))
}

/// What was added or removed: the type of a property, the value of anything else.
fn brief(value: &Value, is_named: bool) -> String {
    match (is_named, value.get("type")) {
        (true, Some(kind)) => format!(" ({})", js::string(kind)),
        (true, None) => String::new(),
        (false, _) => format!(": {}", shown(value, 0)),
    }
}

fn shown(value: &Value, focus: usize) -> String {
    match value {
        Value::String(text) => format!("{:?}", window(text, focus)),
        other => window(&js::stringify(other), 0),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(old: Value, new: Value) -> Vec<String> {
        let file = |tools: Value| json!({"servers": {"s": {"tools": tools}}});
        let changes = drift(&file(old), &file(new));
        changes.iter().map(|change| format!("{} {}", change.item, change.what)).collect()
    }

    #[test]
    fn tools_come_and_go() {
        assert_eq!(
            told(json!({"a": {}, "b": {}}), json!({"b": {}, "c": {}})),
            ["tool `a` was removed", "tool `c` was added"]
        );
        assert_eq!(told(json!({"a": {"x": [1]}}), json!({"a": {"x": [1]}})), [""; 0]);
    }

    #[test]
    fn changes_of_a_tool_are_told_in_words() {
        let old = json!({"pay": {
            "description": "Pays.",
            "annotations": {"readOnlyHint": true},
            "inputSchema": {
                "properties": {
                    "amount": {"type": "number", "minimum": 0},
                    "user": {"properties": {"id": {"type": "string"}}},
                    "gone": {"type": "string"},
                    "kind": {"enum": ["a", "b"]},
                    "list": {"type": "array", "items": {"type": "string"}}
                },
                "required": ["amount", "gone"]
            }
        }});
        let new = json!({"pay": {
            "description": "Pays anybody.",
            "annotations": {"readOnlyHint": false, "title": "Pay"},
            "inputSchema": {
                "properties": {
                    "amount": {"type": "integer"},
                    "user": {"properties": {"id": {"type": "string"}, "iban": {"type": "string"}}},
                    "kind": {"enum": ["b", "c"]},
                    "list": {"type": "array", "items": {"type": "number"}}
                },
                "required": ["kind", "amount"]
            }
        }});
        assert_eq!(
            told(old, new),
            [
                "tool `pay` annotations, `readOnlyHint` changed from true to false",
                "tool `pay` annotations, `title` was added: \"Pay\"",
                "tool `pay` description changed from \"Pays.\" to \"Pays anybody.\"",
                "tool `pay` input schema, property `amount`, `minimum` was removed: 0",
                "tool `pay` input schema, property `amount`, `type` changed from \"number\" to \"integer\"",
                "tool `pay` input schema, property `gone` was removed (string)",
                "tool `pay` input schema, property `kind`, `enum` \"a\" is no longer allowed",
                "tool `pay` input schema, property `kind`, `enum` \"c\" is now allowed",
                "tool `pay` input schema, property `list.*`, `type` changed from \"string\" to \"number\"",
                "tool `pay` input schema, property `user.iban` was added (string)",
                "tool `pay` input schema, property `gone` is no longer required",
                "tool `pay` input schema, property `kind` is now required",
            ]
        );
    }

    #[test]
    fn arguments_of_prompts_are_told_by_name() {
        let file = |arguments: Value| json!({"servers": {"s": {"prompts": {"p": {"arguments": arguments}}}}});
        let changes = drift(
            &file(json!([{"name": "a", "required": true}])),
            &file(json!([{"name": "b"}, {"name": "a", "required": false}])),
        );
        let words: Vec<_> = changes.iter().map(|change| change.what.as_str()).collect();
        assert_eq!(
            words,
            ["argument `a`, `required` changed from true to false", "argument `b` was added"]
        );
    }

    #[test]
    fn servers_and_instructions_count_and_odd_files_do_no_harm() {
        let old = json!({"servers": {"a": {"instructions": "x"}, "b": {}}});
        let new = json!({"servers": {"a": {"instructions": "y", "tools": 7}, "c": []}});
        let changes = drift(&old, &new);
        let words: Vec<_> =
            changes.iter().map(|c| format!("{}: {} {}", c.server, c.item, c.what)).collect();
        assert_eq!(
            words,
            [
                "a: instructions of the server changed from \"x\" to \"y\"",
                "b: server was removed",
                "c: server was added"
            ]
        );
        assert_eq!(drift(&json!(null), &json!([])), []);
    }
}
