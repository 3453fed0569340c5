//! A surface in a form that can be stored in a file and compared: sorted by name, without the parts that the user
//! ignores.

use serde_json::{Map, Value, json};

use super::Surface;

/// Which parts of a surface are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    pub sections: Vec<Section>,
    pub ignore: Vec<Ignored>,
}

/// A list that a server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Tools,
    Prompts,
    Resources,
    Templates,
    Instructions,
}

impl Section {
    pub const WORDS: [(&'static str, Self); 5] = [
        ("tools", Self::Tools),
        ("prompts", Self::Prompts),
        ("resources", Self::Resources),
        ("templates", Self::Templates),
        ("instructions", Self::Instructions),
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, section)| *section == self).map_or("", |(word, _)| *word)
    }
}

/// A part of an item that may change without being reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    Descriptions,
    Titles,
    Annotations,
    InputSchemas,
    OutputSchemas,
    Icons,
    Meta,
}

impl Ignored {
    pub const WORDS: [(&'static str, Self); 7] = [
        ("descriptions", Self::Descriptions),
        ("titles", Self::Titles),
        ("annotations", Self::Annotations),
        ("input-schemas", Self::InputSchemas),
        ("output-schemas", Self::OutputSchemas),
        ("icons", Self::Icons),
        ("meta", Self::Meta),
    ];

    /// The key of the part in an item.
    fn key(self) -> &'static str {
        match self {
            Self::Descriptions => "description",
            Self::Titles => "title",
            Self::Annotations => "annotations",
            Self::InputSchemas => "inputSchema",
            Self::OutputSchemas => "outputSchema",
            Self::Icons => "icons",
            Self::Meta => "_meta",
        }
    }

    /// Whether the key also occurs inside schemas.
    fn reaches_schemas(self) -> bool {
        matches!(self, Self::Descriptions | Self::Titles)
    }
}

impl Default for Scope {
    fn default() -> Self {
        Self { sections: Section::WORDS.map(|(_, section)| section).into(), ignore: Vec::new() }
    }
}

/// The surfaces of a target in the form of the file.
pub fn lock(surfaces: &[(String, Surface)], scope: &Scope) -> Value {
    let servers = surfaces.iter().map(|(name, surface)| {
        let parts = scope
            .sections
            .iter()
            .filter_map(|section| Some((section.word().to_owned(), part(surface, *section)?)));
        (name.clone(), parts.collect::<Value>())
    });
    let whole = json!({"version": 1, "servers": servers.collect::<Map<_, _>>()});
    narrowed(whole, scope)
}

fn part(surface: &Surface, section: Section) -> Option<Value> {
    let by = |key: &str, items: Vec<&Value>| Some(by_name(key, items));
    match section {
        Section::Tools => by("name", surface.tools.iter().map(|item| &item.0).collect()),
        Section::Prompts => by("name", surface.prompts.iter().map(|item| &item.0).collect()),
        Section::Resources => by("uri", surface.resources.iter().map(|item| &item.0).collect()),
        Section::Templates => {
            by("uriTemplate", surface.templates.iter().map(|item| &item.0).collect())
        }
        Section::Instructions => surface.instructions.as_ref().map(|text| json!(text)),
    }
}

/// The items of a list by name. Items with the same name are numbered.
fn by_name(key: &str, items: Vec<&Value>) -> Value {
    let mut named = Map::new();
    for item in items {
        let name = item.get(key).and_then(Value::as_str).unwrap_or("(without a name)");
        let mut unique = name.to_owned();
        let mut count = 1;
        while named.contains_key(&unique) {
            count += 1;
            unique = format!("{name} ({count})");
        }
        named.insert(unique, item.clone());
    }
    Value::Object(named)
}

/// A stored surface without what this scope leaves out.
pub fn narrowed(mut whole: Value, scope: &Scope) -> Value {
    let servers = whole.get_mut("servers").and_then(Value::as_object_mut);
    for server in servers.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
        server.retain(|word, _| scope.sections.iter().any(|section| section.word() == word));
        for items in server.values_mut().filter_map(Value::as_object_mut) {
            for item in items.values_mut().filter_map(Value::as_object_mut) {
                for ignored in &scope.ignore {
                    strip(item, *ignored);
                }
            }
        }
    }
    whole.sort_all_objects();
    whole
}

fn strip(item: &mut Map<String, Value>, ignored: Ignored) {
    item.shift_remove(ignored.key());
    if !ignored.reaches_schemas() {
        return;
    }
    for schema in ["inputSchema", "outputSchema"] {
        if let Some(schema) = item.get_mut(schema) {
            strip_schema(schema, ignored.key());
        }
    }
    let arguments = item.get_mut("arguments").and_then(Value::as_array_mut);
    for argument in arguments.into_iter().flatten().filter_map(Value::as_object_mut) {
        argument.shift_remove(ignored.key());
    }
}

/// The keys inside these are names, not keywords: a property may be called `description`.
const NAMED: [&str; 5] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// These contain data, not schemas.
const DATA: [&str; 4] = ["enum", "const", "default", "examples"];

fn strip_schema(schema: &mut Value, keyword: &str) {
    match schema {
        Value::Array(schemas) => {
            for schema in schemas {
                strip_schema(schema, keyword);
            }
        }
        Value::Object(map) => {
            map.shift_remove(keyword);
            for (name, value) in map {
                match value {
                    Value::Object(named) if NAMED.contains(&name.as_str()) => {
                        for schema in named.values_mut() {
                            strip_schema(schema, keyword);
                        }
                    }
                    _ if DATA.contains(&name.as_str()) => {}
                    value => strip_schema(value, keyword),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::Tool;

    fn surfaces() -> Vec<(String, Surface)> {
        let tool = |name: &str| {
            Tool(json!({"name": name, "description": "d", "inputSchema": {
                "description": "s", "properties": {"description": {"description": "p"}},
                "enum": [{"description": 1}]
            }}))
        };
        let tools = vec![tool("b"), tool("a"), tool("a"), Tool(json!(7))];
        let instructions = Some("be kind".to_owned());
        vec![("s".to_owned(), Surface { instructions, tools, ..Surface::default() })]
    }

    #[test]
    fn items_are_sorted_by_name_and_none_is_lost() {
        let lock = lock(&surfaces(), &Scope::default());
        let tools = lock["servers"]["s"]["tools"].as_object().unwrap();
        let names: Vec<_> = tools.keys().collect();
        assert_eq!(names, ["(without a name)", "a", "a (2)", "b"]);
        assert_eq!(lock["servers"]["s"]["instructions"], "be kind");
    }

    #[test]
    fn what_is_ignored_is_left_out_but_names_are_not() {
        let scope = Scope { ignore: vec![Ignored::Descriptions], ..Scope::default() };
        let tool = &lock(&surfaces(), &scope)["servers"]["s"]["tools"]["b"];
        let schema = json!({"properties": {"description": {}}, "enum": [{"description": 1}]});
        assert_eq!(*tool, json!({"name": "b", "inputSchema": schema}));
        let whole = lock(&surfaces(), &Scope::default());
        assert_eq!(narrowed(whole, &scope), lock(&surfaces(), &scope));
        let tools = Scope { sections: vec![Section::Tools], ..Scope::default() };
        let server = &lock(&surfaces(), &tools)["servers"]["s"];
        assert_eq!(server.as_object().map(Map::len), Some(1));
    }
}
