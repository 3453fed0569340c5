//! Arguments that a tool should accept, generated from its schema and from what is known already.

mod values;

use quintain_evidence::surface::Tool;
use serde_json::{Map, Value};

use super::{Hints, Learned, words};
use values::ValueGenerator;

/// Maximum number of argument sets tried for one tool.
const MAX_TRIES: usize = 30;

/// Argument sets for one tool, most likely first.
pub struct Tries {
    slots: Vec<Slot>,
    /// Index of the next value of each slot.
    at: Vec<usize>,
    left: usize,
    fresh: bool,
}

struct Slot {
    name: String,
    values: Vec<Value>,
    required: bool,
}

impl Tries {
    /// `schema` is what is known about the arguments, possibly more than the tool declares.
    pub fn new(tool: &Tool, schema: &Value, learned: &[Learned], hints: &Hints) -> Self {
        let generator = ValueGenerator { root: schema, tool, learned, hints };
        let required: Vec<&str> = {
            let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).collect()
        };
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let mut slots: Vec<Slot> = Vec::new();
        for (name, property) in properties {
            let values = generator.values(name, property, 0);
            slots.push(Slot { name: name.clone(), values, required: required.contains(&&**name) });
        }
        for name in required.iter().copied() {
            if !properties.contains_key(name) && !slots.iter().any(|slot| slot.name == name) {
                let values = generator.values(name, &Value::Null, 0);
                slots.push(Slot { name: name.to_owned(), values, required: true });
            }
        }
        slots.retain(|slot| !slot.values.is_empty());
        let at = vec![0; slots.len()];
        Self { slots, at, left: MAX_TRIES, fresh: true }
    }

    /// The next set. Changes first what the last error mentions.
    pub fn next(&mut self, error: Option<&str>) -> Option<Map<String, Value>> {
        self.left = self.left.checked_sub(1)?;
        if !std::mem::take(&mut self.fresh) && !self.advance(error.unwrap_or_default()) {
            return None;
        }
        let mut args = Map::new();
        for (slot, at) in self.slots.iter().zip(&self.at) {
            let values = if slot.required { Some(*at) } else { at.checked_sub(1) };
            if let Some(value) = values.and_then(|at| slot.values.get(at)) {
                args.insert(slot.name.clone(), value.clone());
            }
        }
        Some(args)
    }

    fn advance(&mut self, error: &str) -> bool {
        let said = words(error);
        let mentioned = |slot: &Slot| {
            let name = words(&slot.name);
            !name.is_empty() && said.windows(name.len()).any(|window| *window == *name)
        };
        let can = |at: usize, slot: &Slot| {
            let count = slot.values.len() + usize::from(!slot.required);
            at + 1 < count
        };
        let order = |wanted: &dyn Fn(&Slot) -> bool| {
            let mut slots = self.slots.iter().zip(&self.at).enumerate();
            slots.find(|(_, (slot, at))| wanted(slot) && can(**at, slot)).map(|(index, _)| index)
        };
        let chosen = order(&|slot| mentioned(slot) && slot.required)
            .or_else(|| order(&mentioned))
            .or_else(|| order(&|slot| slot.required))
            .or_else(|| order(&|_| true));
        if let Some(index) = chosen {
            self.at[index] += 1;
        }
        chosen.is_some()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> Tool {
        Tool(json!({"name": name}))
    }

    fn first(schema: &Value) -> Value {
        let tries = Tries::new(&tool("tool"), schema, &[], &Hints::default()).next(None);
        Value::Object(tries.expect("a try"))
    }

    #[test]
    fn schemas_of_every_keyword_are_satisfied() {
        let schema = json!({"type": "object", "required": ["a", "b", "c", "d", "e", "f", "g", "h", "i"],
        "properties": {
            "a": {"type": "string", "enum": ["x", "y"]},
            "b": {"type": "integer", "minimum": 5, "maximum": 7},
            "c": {"type": "array", "minItems": 2, "items": {"type": "string", "format": "email"}},
            "d": {"type": "object", "required": ["n"], "properties": {"n": {"type": "number", "exclusiveMinimum": 3}}},
            "e": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "f": {"const": 4},
            "g": {"anyOf": [{"type": "null"}, {"type": "boolean"}]},
            "h": {"$ref": "#/$defs/h"},
            "i": {"type": "string", "minLength": 40, "maxLength": 41},
        }, "$defs": {"h": {"type": "string", "default": "dflt"}}});
        let args = first(&schema);
        let validator = jsonschema::validator_for(&schema).unwrap();
        let faults: Vec<String> = validator.iter_errors(&args).map(|e| e.to_string()).collect();
        assert!(faults.is_empty(), "{faults:?} {args}");
        assert_eq!(args["h"], "dflt");
    }

    #[test]
    fn what_an_error_mentions_is_changed_first() {
        let schema = json!({"type": "object", "required": ["kind", "size"], "properties": {
            "kind": {"enum": ["a", "b"]}, "size": {"enum": [1, 2]}}});
        let mut tries = Tries::new(&tool("tool"), &schema, &[], &Hints::default());
        assert_eq!(Value::Object(tries.next(None).unwrap()), json!({"kind": "a", "size": 1}));
        let second = tries.next(Some("Error: size 1 is not allowed")).unwrap();
        assert_eq!(Value::Object(second), json!({"kind": "a", "size": 2}));
    }

    #[test]
    fn ids_are_learned_from_lists_of_the_same_things() {
        let learned = |name: &str, value: &str, tool: &str| Learned {
            name: name.into(),
            value: json!(value),
            tool: tool.into(),
            identity: 0,
        };
        let known = [learned("id", "P-9", "list_products"), learned("id", "C-7", "list_customers")];
        let schema =
            json!({"required": ["customer_id"], "properties": {"customer_id": {"type": "string"}}});
        let args = Tries::new(&tool("get_customer"), &schema, &known, &Hints::default()).next(None);
        assert_eq!(args.unwrap()["customer_id"], "C-7");
        let known = [learned("name", "main", "list_vaults")];
        let schema = json!({"required": ["vault"], "properties": {"vault": {"type": "string"}}});
        let args = Tries::new(&tool("read_note"), &schema, &known, &Hints::default()).next(None);
        assert_eq!(args.unwrap()["vault"], "main");
    }

    #[test]
    fn what_writes_gets_no_file_that_the_target_told_of() {
        let known = [Learned {
            name: "path".into(),
            value: json!("/home/ann/thesis.md"),
            tool: "list_files".into(),
            identity: 0,
        }];
        let schema = json!({"required": ["path"], "properties": {"path": {"type": "string"}}});
        let all = |name: &str| {
            let mut tries = Tries::new(&tool(name), &schema, &known, &Hints::default());
            let all: Vec<_> = std::iter::from_fn(|| tries.next(Some("no"))).collect();
            format!("{all:?}")
        };
        assert!(all("read_file").contains("thesis"));
        assert!(!all("write_file").contains("thesis"));
    }

    #[test]
    fn what_writes_gets_no_file_that_its_schema_proposes() {
        let hints = Hints {
            fresh: vec!["/data/quintain-new.txt".into()],
            word: "quintainabc".into(),
            ..Hints::default()
        };
        for proposal in [
            json!({"default": "thesis.md"}),
            json!({"examples": ["thesis.md"]}),
            json!({"enum": ["thesis.md"]}),
            json!({"const": "thesis.md"}),
            json!({"description": "Where to write, e.g. thesis.md"}),
            json!({"pattern": "^thesis\\.md$"}),
        ] {
            let mut path = json!({"type": "string"});
            path.as_object_mut().unwrap().extend(proposal.as_object().unwrap().clone());
            let schema = json!({"required": ["path"], "properties": {"path": path}});
            let mut tries = Tries::new(&tool("write_file"), &schema, &[], &hints);
            let all: Vec<_> = std::iter::from_fn(|| tries.next(Some("no"))).collect();
            assert!(!format!("{all:?}").contains("thesis"), "{proposal}: {all:?}");
        }
    }

    #[test]
    fn tries_end() {
        let schema = json!({"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}});
        let mut tries = Tries::new(&tool("tool"), &schema, &[], &Hints::default());
        let count = std::iter::from_fn(|| tries.next(Some("no"))).count();
        assert!((2..=MAX_TRIES).contains(&count), "{count}");
    }
}
