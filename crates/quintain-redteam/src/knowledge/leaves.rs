//! The places in arguments where a hostile value can be put.

use quintain_content::json_value::{pointer_key, pointer_token};
use quintain_evidence::finding::Place;
use quintain_evidence::probe::Step;
use quintain_evidence::surface::{Surface, Tool};
use serde_json::{Map, Value};

use super::Aim;
use super::{Baseline, Knowledge, RefusedArguments, classify};

/// Maximum depth of arguments.
const MAX_DEPTH: usize = 6;
/// Maximum number of places in one tool.
const MAX_LEAVES: usize = 64;
/// Maximum number of places for each further mode of a tool.
const MAX_IN_MODE: usize = 8;
/// The key of an entry added to a map that accepts any key.
const FREE_KEY: &str = "note";

/// Every place in every surface where a value can be put: arguments of tools, variables of templates, arguments of
/// prompts.
pub fn aims(surfaces: &[(String, Surface)], knowledge: &Knowledge) -> Vec<Aim> {
    let mut aims = Vec::new();
    for (server, surface) in surfaces {
        for tool in &surface.tools {
            let Some(name) = tool.name() else { continue };
            let baseline = knowledge.baseline(server, name);
            let mine = |draft: &&RefusedArguments| draft.server == *server && draft.tool == name;
            let draft = knowledge.drafts.iter().find(mine).map(|draft| draft.args.clone());
            let args = match baseline.map(|baseline| &baseline.step) {
                Some(Step::Call(call)) => Value::Object(call.args.clone()),
                _ => Value::Object(draft.clone().unwrap_or_default()),
            };
            let origin = Origin { server, tool, baseline, draft, mode: None };
            aims.extend(origin.aims(&args));
        }
        let places = variables(server, surface).chain(prompt_arguments(server, surface));
        for (place, name, description) in places {
            let kinds = classify(&name, description, &Value::Null);
            let schema = serde_json::json!({"type": "string"});
            aims.push(Aim { kinds, schema, ..Aim::at(place) });
        }
    }
    aims
}

/// The places of tools in other modes than that of the first learned call. Those with a value in the call come first.
pub fn aims_in_modes(surfaces: &[(String, Surface)], knowledge: &Knowledge) -> Vec<Aim> {
    let mut aims = Vec::new();
    for mode in &knowledge.modes {
        let of = surfaces.iter().filter(|(server, _)| *server == mode.server);
        let mut tools = of.flat_map(|(_, surface)| &surface.tools);
        let Some(tool) = tools.find(|tool| tool.name() == Some(&*mode.tool)) else { continue };
        let baseline = mode.works.as_ref();
        let args = Value::Object(mode.args.clone());
        let draft = Some(mode.args.clone());
        let told = Some(format!("{}={}", mode.argument, mode.value));
        let origin = Origin { server: &mode.server, tool, baseline, draft, mode: told };
        let switch = format!("/{}", pointer_token(&mode.argument));
        let mut found = origin.aims(&args);
        let pointer = |aim: &Aim| match &aim.place {
            Place::Argument { pointer, .. } => pointer.clone(),
            _ => String::new(),
        };
        found.retain(|aim| pointer(aim) != switch);
        found.sort_by_key(|aim| args.pointer(&pointer(aim)).is_none());
        aims.extend(found.into_iter().take(MAX_IN_MODE));
    }
    aims
}

/// The call in which places are searched.
struct Origin<'a> {
    server: &'a str,
    tool: &'a Tool,
    baseline: Option<&'a Baseline>,
    draft: Option<Map<String, Value>>,
    mode: Option<String>,
}

impl Origin<'_> {
    fn aims(&self, args: &Value) -> Vec<Aim> {
        let schema = self.tool.input_schema().cloned().unwrap_or(Value::Null);
        let mut walk = Walk { root: &schema, found: Vec::new() };
        walk.value("", "", &schema, Some(args), 0);
        let aim = |leaf: Leaf| {
            let description = leaf.schema.get("description").and_then(Value::as_str);
            Aim {
                kinds: classify(&leaf.name, description, &leaf.schema),
                place: Place::Argument {
                    server: self.server.to_owned(),
                    tool: self.tool.name().unwrap_or_default().to_owned(),
                    pointer: leaf.pointer,
                },
                baseline: self.baseline.cloned(),
                schema: leaf.schema,
                by_design: None,
                draft: self.draft.clone(),
                mode: self.mode.clone(),
            }
        };
        walk.found.into_iter().map(aim).collect()
    }
}

type Named<'s> = (Place, String, Option<&'s str>);

/// `{name}` in templates.
fn variables<'s>(server: &'s str, surface: &'s Surface) -> impl Iterator<Item = Named<'s>> {
    surface.templates.iter().flat_map(move |template| {
        let uri = template.uri_template().unwrap_or_default();
        let names = uri.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(n, _)| n);
        names.map(move |name| {
            let name = name.trim_start_matches(['+', '#', '/', '?', '&', '.', ';']);
            let place = Place::Variable {
                server: server.to_owned(),
                template: uri.to_owned(),
                variable: name.to_owned(),
            };
            (place, name.to_owned(), template.description())
        })
    })
}

fn prompt_arguments<'s>(server: &'s str, surface: &'s Surface) -> impl Iterator<Item = Named<'s>> {
    surface.prompts.iter().flat_map(move |prompt| {
        let of = prompt.name().unwrap_or_default();
        prompt.arguments().into_iter().map(move |(argument, _)| {
            let place = Place::PromptArgument {
                server: server.to_owned(),
                prompt: of.to_owned(),
                argument: argument.to_owned(),
            };
            (place, argument.to_owned(), None)
        })
    })
}

struct Leaf {
    pointer: String,
    name: String,
    schema: Value,
}

struct Walk<'s> {
    root: &'s Value,
    found: Vec<Leaf>,
}

impl Walk<'_> {
    /// `name` is the nearest key; `sample` the value there in a valid call.
    fn value(
        &mut self,
        pointer: &str,
        name: &str,
        schema: &Value,
        sample: Option<&Value>,
        depth: usize,
    ) {
        if depth > MAX_DEPTH || self.found.len() >= MAX_LEAVES {
            return;
        }
        let schema = self.plain(schema, sample);
        let kind = schema.get("type").and_then(|kind| match kind {
            Value::String(kind) => Some(kind.as_str()),
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).find(|k| *k != "null"),
            _ => None,
        });
        let properties = schema.get("properties").and_then(Value::as_object);
        if kind == Some("object") || properties.is_some() || sample.is_some_and(Value::is_object) {
            self.object(pointer, &schema, properties, sample, depth);
        } else if kind == Some("array") || sample.is_some_and(Value::is_array) {
            let item = schema.get("items").cloned().unwrap_or(Value::Null);
            let first = sample.and_then(|sample| sample.get(0));
            self.value(&format!("{pointer}/0"), name, &item, first, depth + 1);
        } else if !pointer.is_empty() && !matches!(kind, Some("boolean" | "null")) {
            let (pointer, name) = (pointer.to_owned(), name.to_owned());
            self.found.push(Leaf { pointer, name, schema });
        }
    }

    fn object(
        &mut self,
        pointer: &str,
        schema: &Value,
        properties: Option<&Map<String, Value>>,
        sample: Option<&Value>,
        depth: usize,
    ) {
        let empty = Map::new();
        let properties = properties.unwrap_or(&empty);
        for (key, property) in properties {
            let below = sample.and_then(|sample| sample.get(key));
            self.value(
                &format!("{pointer}/{}", pointer_token(key)),
                key,
                property,
                below,
                depth + 1,
            );
        }
        // Keys of a valid call that the schema does not list.
        for (key, value) in sample.and_then(Value::as_object).unwrap_or(&empty) {
            if !properties.contains_key(key) {
                let below = format!("{pointer}/{}", pointer_token(key));
                self.value(&below, key, &Value::Null, Some(value), depth + 1);
            }
        }
        // Such a map accepts any key.
        let more = schema.get("additionalProperties");
        let is_free = !pointer.is_empty()
            && properties.is_empty()
            && sample.and_then(Value::as_object).is_none_or(Map::is_empty)
            && more != Some(&Value::Bool(false));
        if is_free {
            let of_any = more.filter(|more| more.is_object()).cloned().unwrap_or(Value::Null);
            let below = format!("{pointer}/{FREE_KEY}");
            self.value(&below, FREE_KEY, &of_any, None, depth + 1);
        }
    }

    /// A schema with its top-level reference resolved and one of its alternatives chosen: that of the sample, or else
    /// one that accepts text.
    fn plain(&self, schema: &Value, sample: Option<&Value>) -> Value {
        let mut schema = schema;
        for _ in 0..MAX_DEPTH {
            let pointer = schema.get("$ref").and_then(Value::as_str);
            let Some(pointer) = pointer.and_then(|pointer| pointer.strip_prefix('#')) else {
                break;
            };
            let Some(found) = self.root.pointer(pointer) else { break };
            schema = found;
        }
        let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
        let Some(alternatives) = alternatives else { return schema.clone() };
        let kind_of = |value: &Value| match value {
            Value::String(_) => "string",
            Value::Object(_) => "object",
            Value::Array(_) => "array",
            Value::Number(_) => "number",
            _ => "",
        };
        let wanted = sample.map_or("string", kind_of);
        let is = |schema: &&Value| schema.get("type").and_then(Value::as_str) == Some(wanted);
        let not_null = |schema: &&Value| schema.get("type").and_then(Value::as_str) != Some("null");
        let chosen = alternatives.iter().find(is).or_else(|| alternatives.iter().find(not_null));
        let mut chosen = chosen.cloned().unwrap_or(Value::Null);
        if let (Some(of), Some(description)) = (chosen.as_object_mut(), schema.get("description")) {
            of.entry("description").or_insert_with(|| description.clone());
        }
        chosen
    }
}

/// Puts a value at a pointer and creates missing containers.
pub fn put(args: &mut Map<String, Value>, pointer: &str, value: Value) {
    let mut whole = Value::Object(std::mem::take(args));
    let mut at = &mut whole;
    for part in pointer.split('/').skip(1) {
        let part = pointer_key(part);
        let index = part.parse::<usize>().ok();
        if at.is_null() {
            *at =
                if index.is_some() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
        }
        at = match at {
            Value::Array(items) => {
                let index = index.unwrap_or(0).min(items.len());
                if index == items.len() {
                    items.push(Value::Null);
                }
                &mut items[index]
            }
            Value::Object(entries) => entries.entry(part).or_insert(Value::Null),
            // A value of another type is replaced.
            other => {
                *other = Value::Object(Map::new());
                match other {
                    Value::Object(entries) => entries.entry(part).or_insert(Value::Null),
                    _ => return,
                }
            }
        };
    }
    *at = value;
    if let Value::Object(entries) = whole {
        *args = entries;
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::surface::{Prompt, ResourceTemplate, Tool};
    use serde_json::json;

    use super::*;

    fn pointers(schema: Value) -> Vec<String> {
        let tool = Tool(json!({"name": "t", "inputSchema": schema}));
        let surface = Surface { tools: vec![tool], ..Surface::default() };
        let found = aims(&[("s".into(), surface)], &Knowledge::default());
        let pointer = |aim: Aim| match aim.place {
            Place::Argument { pointer, .. } => pointer,
            other => panic!("{other:?}"),
        };
        found.into_iter().map(pointer).collect()
    }

    #[test]
    fn nested_values_lists_and_free_maps_are_reached() {
        let found = pointers(json!({"type": "object", "properties": {
            "a": {"type": "string"},
            "flag": {"type": "boolean"},
            "list": {"type": "array", "items": {"type": "object", "properties": {"p/q": {"type": "string"}}}},
            "free": {"type": "object", "additionalProperties": {"type": "string"}},
            "either": {"anyOf": [{"type": "null"}, {"type": "string"}]},
            "ref": {"$ref": "#/$defs/r"},
        }, "$defs": {"r": {"type": "string"}}}));
        assert_eq!(found, ["/a", "/list/0/p~1q", "/free/note", "/either", "/ref"]);
    }

    #[test]
    fn a_schema_that_contains_itself_ends() {
        let found = pointers(json!({"type": "object", "properties": {"x": {"$ref": "#"}}}));
        assert!(found.len() <= MAX_LEAVES);
    }

    #[test]
    fn templates_and_prompts_are_surface_too() {
        let surface = Surface {
            templates: vec![ResourceTemplate(json!({"uriTemplate": "file:///{+path}/{id}"}))],
            prompts: vec![Prompt(json!({"name": "p", "arguments": [{"name": "who"}]}))],
            ..Surface::default()
        };
        let found = aims(&[("s".into(), surface)], &Knowledge::default());
        let names: Vec<_> = found.iter().filter_map(|aim| aim.place.argument()).collect();
        assert_eq!(names, ["path", "id", "who"]);
    }

    #[test]
    fn values_are_put_where_nothing_stands_yet() {
        let mut args = Map::new();
        put(&mut args, "/a/b~1c", json!(1));
        put(&mut args, "/list/0/x", json!("y"));
        put(&mut args, "/list/0/x", json!("z"));
        put(&mut args, "/list/7/x", json!("w"));
        assert_eq!(Value::Object(args), json!({"a": {"b/c": 1}, "list": [{"x": "z"}, {"x": "w"}]}));
    }
}
