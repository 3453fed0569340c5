//! Every text of a surface, with its place.

use quintain_content::json_value;
use quintain_evidence::finding::Place;
use quintain_evidence::surface::Surface;
use serde_json::Value;

use crate::attack::TargetView;

/// One text of a surface.
pub(super) struct Listed<'s> {
    pub(super) place: Place,
    /// The field of the item: `description`, `inputSchema/properties/region/description`.
    pub(super) field: String,
    pub(super) text: &'s str,
}

/// Fields without text.
const SKIPPED: [&str; 1] = ["icons"];

/// All texts of all servers: values and field names.
pub(super) fn texts<'s>(view: &TargetView<'s>) -> Vec<Listed<'s>> {
    let surfaces: &'s [(String, Surface)] = view.surfaces;
    let mut found = Vec::new();
    for (server, surface) in surfaces {
        of_surface(server, surface, &mut found);
    }
    found
}

fn of_surface<'s>(server: &str, surface: &'s Surface, found: &mut Vec<Listed<'s>>) {
    let of = || server.to_owned();
    let mut walk = |place: Place, raw: &'s Value| {
        leaves(&place, String::new(), raw, found);
    };
    walk(Place::Server { server: of() }, &surface.server_info);
    for tool in &surface.tools {
        let name = tool.name().unwrap_or_default().to_owned();
        walk(Place::Tool { server: of(), tool: name }, tool.raw());
    }
    for prompt in &surface.prompts {
        let name = prompt.name().unwrap_or_default().to_owned();
        walk(Place::Prompt { server: of(), prompt: name }, prompt.raw());
    }
    for resource in &surface.resources {
        let uri = resource.uri().unwrap_or_default().to_owned();
        walk(Place::Resource { server: of(), uri }, resource.raw());
    }
    for template in &surface.templates {
        let uri = template.uri_template().unwrap_or_default().to_owned();
        walk(Place::Resource { server: of(), uri }, template.raw());
    }
    if let Some(text) = &surface.instructions {
        let place = Place::Server { server: of() };
        found.push(Listed { place, field: "instructions".to_owned(), text });
    }
}

/// JSON from the wire has a limited depth.
fn leaves<'s>(place: &Place, field: String, value: &'s Value, found: &mut Vec<Listed<'s>>) {
    match value {
        Value::String(text) => found.push(Listed { place: exact(place, &field), field, text }),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                leaves(place, joined(&field, &at.to_string()), item, found);
            }
        }
        Value::Object(entries) => {
            for (key, item) in entries {
                if SKIPPED.contains(&key.as_str()) {
                    continue;
                }
                let below = joined(&field, key);
                let (place_of_key, named) = (exact(place, &below), format!("{below} (name)"));
                found.push(Listed { place: place_of_key, field: named, text: key });
                leaves(place, below, item, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn joined(field: &str, key: &str) -> String {
    if field.is_empty() { key.to_owned() } else { format!("{field}/{key}") }
}

/// A text in the schema of an argument has the place of the argument.
fn exact(place: &Place, field: &str) -> Place {
    let Place::Tool { server, tool } = place else { return place.clone() };
    let Some(rest) = field.strip_prefix("inputSchema/properties/") else { return place.clone() };
    let argument = rest.split('/').next().unwrap_or(rest);
    let pointer = format!("/{}", json_value::pointer_token(argument));
    Place::Argument { server: server.clone(), tool: tool.clone(), pointer }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::attacks::testing::TestTarget;

    #[test]
    fn texts_have_their_places() {
        let mut room =
            TestTarget::of_tools(&[json!({"name": "t", "description": "d", "inputSchema":
            {"properties": {"a": {"description": "of a", "enum": ["x"]}}}})]);
        room.surfaces[0].1.instructions = Some("be kind".into());
        let view = room.view();
        let found = texts(&view);
        let at = |text: &str| found.iter().find(|one| one.text == text).unwrap();
        assert_eq!(at("d").place.to_string(), "t");
        assert_eq!(at("of a").place.to_string(), "t.a");
        assert_eq!(at("x").field, "inputSchema/properties/a/enum/0");
        assert_eq!(at("be kind").field, "instructions");
    }
}
