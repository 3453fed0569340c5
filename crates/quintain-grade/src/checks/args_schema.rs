//! Arguments that break the schema of their tool.

use std::collections::HashSet;

use quintain_content::registry::Meta;
use quintain_content::schema::compiled::{Class, Violated};
use quintain_content::schema::{self, Problem};
use quintain_content::text::short::{one_line, shortened};
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::{Args, CallKind};
use serde_json::{Map, Value};

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::schemas::Schemas;
use crate::view::{CallView, View};

pub(super) struct ArgsSchema;

static META: Meta = Meta {
    id: "args.schema",
    aliases: &[],
    summary: "arguments break the input schema of their tool",
    docs: "\
# What it does
Validates the arguments of each tool call against the `inputSchema` of the tool: JSON Schema 2020-12, or the draft that
the schema declares. Formats are asserted. Every violation is a finding with its place and its class:
`missing-required`, `type`, `enum`, `range`, `multiple`, `length`, `pattern`, `format`, `extra`, `unique`, `alternative`
or `other`. Arguments that are not JSON, or not an object, are violations too.

# Why it matters
A server may refuse such a call, or worse, accept it and do something else. The finding remains even if the server
refused the call and the agent then corrected it.

# What counts as proof
The validator rejects the recorded arguments. A schema that cannot be used (it fetches other documents, refers to itself
without end, or would take too long) is reported as info, once for each tool.

# Severity
Error, in the layer *call*. A schema that cannot be used is info.

# When it does not apply
No tool is called, or neither arguments nor input schemas are recorded.

# Example
```json
{\"city\": 7}
```
for `{\"properties\": {\"city\": {\"type\": \"string\"}}}`
",
    since: "0.2.0",
};

impl TraceCheck for ArgsSchema {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        let mut tools =
            view.calls.iter().filter(|call| call.call.kind == CallKind::Tool).peekable();
        if tools.peek().is_none() {
            return Checked::NotApplicable("no tool is called");
        }
        let mut validation = Validation::default();
        let mut faults = Vec::new();
        let mut is_judged = false;
        for call in tools {
            is_judged |= validation.check(call, &mut faults);
        }
        if is_judged {
            Checked::Findings(faults)
        } else {
            Checked::NotApplicable("neither arguments nor input schemas are recorded")
        }
    }
}

#[derive(Default)]
struct Validation {
    schemas: Schemas,
    /// Schemas whose problems are reported.
    reported: HashSet<*const Value>,
}

impl Validation {
    /// Adds the violations of a call. Returns whether there was something to judge.
    fn check(&mut self, call: &CallView<'_>, faults: &mut Vec<Fault>) -> bool {
        let empty = Value::Object(Map::new());
        let args = match &call.call.args {
            Args::Unknown => return false,
            Args::Invalid(text) => {
                faults.push(not_json(call, text));
                return true;
            }
            // No arguments at all is how some clients write an empty object.
            Args::Json(Value::Null) => &empty,
            Args::Json(args) => args,
        };
        if !args.is_object() {
            faults.push(not_an_object(call, args));
            return true;
        }
        let schema = call.tool().and_then(|tool| tool.input_schema());
        let Some(schema) = schema.filter(|schema| !schema.is_null()) else { return false };
        let violations = match self.schemas.get(schema) {
            Ok(compiled) => compiled.violations(args),
            Err(problem) => Err(problem.clone()),
        };
        match violations {
            Ok(violations) => {
                faults.extend(violations.into_iter().map(|found| violation(call, args, found)));
            }
            Err(problem) => {
                let is_new = self.reported.insert(std::ptr::from_ref(schema));
                if is_new || problem.fault == schema::Fault::Arguments {
                    faults.push(unusable(call, &problem));
                }
            }
        }
        true
    }
}

fn violation(call: &CallView<'_>, args: &Value, found: Violated) -> Fault {
    let Violated { class, pointer, message } = found;
    let value = args.pointer(&pointer).map(Value::to_string).unwrap_or_default();
    Fault {
        severity: Level::Error,
        call: Some(call.position),
        message: format!("{}: {message}", class.word()),
        evidence: one_line(&value, 200),
        hint: hint(class).to_owned(),
        pointer,
    }
}

fn hint(class: Class) -> &'static str {
    match class {
        Class::MissingRequired => "pass every property that the schema requires",
        Class::Type => "pass a value of the declared type",
        Class::Enum => "pass one of the allowed values",
        Class::Range | Class::Multiple => "pass a number that the schema allows",
        Class::Length => "keep to the declared length",
        Class::Pattern | Class::Format => "write the value in the declared form",
        Class::Extra => "remove what the schema does not declare",
        Class::Unique => "pass each item once",
        Class::Alternative | Class::Other => "keep to the input schema of the tool",
    }
}

fn not_json(call: &CallView<'_>, text: &str) -> Fault {
    Fault {
        severity: Level::Error,
        call: Some(call.position),
        pointer: String::new(),
        message: "type: the arguments are not JSON".to_owned(),
        evidence: one_line(text, 200),
        hint: "write the arguments as a JSON object".to_owned(),
    }
}

fn not_an_object(call: &CallView<'_>, args: &Value) -> Fault {
    Fault {
        severity: Level::Error,
        call: Some(call.position),
        pointer: String::new(),
        message: "type: the arguments are not an object".to_owned(),
        evidence: one_line(&args.to_string(), 200),
        hint: "write the arguments as a JSON object".to_owned(),
    }
}

fn unusable(call: &CallView<'_>, problem: &Problem) -> Fault {
    let message = match problem.fault {
        schema::Fault::Schema => format!("the input schema cannot be used: {}", problem.message),
        schema::Fault::Arguments => format!("the arguments are {}", problem.message),
    };
    Fault {
        severity: Level::Info,
        call: Some(call.position),
        pointer: String::new(),
        message,
        evidence: shortened(&call.call.name, 200).into_owned(),
        hint: "check the input schema with `quintain inspect`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quintain_content::schema::violations::violations;
    use quintain_evidence::trace::{Call, Trace};
    use serde_json::json;

    use super::super::testing::{faults, found_at, server};
    use super::*;

    fn called(schema: Value, args: Value) -> Trace {
        let servers = vec![server("a", vec![json!({"name": "t", "inputSchema": schema})])];
        let mut trace = Trace { servers, ..Trace::default() };
        trace.call(Call::tool("t", args));
        trace
    }

    fn found(schema: Value, args: Value) -> Vec<(String, String)> {
        let faults = faults(&ArgsSchema, &called(schema, args));
        let mut found: Vec<_> = faults
            .into_iter()
            .filter(|fault| fault.severity == Level::Error)
            .map(|fault| {
                let class = fault.message.split(':').next().unwrap_or_default().to_owned();
                (class, fault.pointer)
            })
            .collect();
        found.sort_unstable();
        found
    }

    /// Schemas of several dialects with arguments that keep them.
    fn schemas() -> Vec<(Value, Value)> {
        vec![
            (
                json!({"type": "object", "properties": {"city": {"type": "string", "minLength": 1}, "days": {"type": "integer", "minimum": 1, "maximum": 14}}, "required": ["city"]}),
                json!({"city": "Paris", "days": 3}),
            ),
            (
                json!({"type": "object", "additionalProperties": false, "properties": {"amount": {"type": "number", "multipleOf": 0.01, "exclusiveMinimum": 0}, "currency": {"enum": ["EUR", "USD"]}}, "required": ["amount", "currency"]}),
                json!({"amount": 19.99, "currency": "EUR"}),
            ),
            (
                json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "definitions": {"id": {"type": "string", "pattern": "^[A-Z]-[0-9]+$"}}, "properties": {"id": {"$ref": "#/definitions/id", "maxLength": 1}, "when": {"type": "string", "format": "date"}}, "required": ["id"]}),
                json!({"id": "A-17", "when": "2024-05-01"}),
            ),
            (
                json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": true}}, "required": ["n"]}),
                json!({"n": 1}),
            ),
            (
                json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "type": "object", "properties": {"mail": {"type": "string", "format": "email"}, "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": true}}}),
                json!({"mail": "a@example.com", "tags": ["x"]}),
            ),
            (
                json!({"type": "object", "properties": {"user": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name"], "additionalProperties": false}}, "required": ["user"]}),
                json!({"user": {"name": "Ann", "age": 7}}),
            ),
            (
                json!({"type": "object", "$defs": {"point": {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}, "required": ["x", "y"]}}, "properties": {"path": {"type": "array", "items": {"$ref": "#/$defs/point"}, "maxItems": 3}}}),
                json!({"path": [{"x": 1, "y": 2}]}),
            ),
            (
                json!({"type": "object", "allOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {"type": "boolean"}}}]}),
                json!({"a": "x", "b": true}),
            ),
            (
                json!({"type": "object", "properties": {"mode": {"const": "fast"}, "level": {"type": ["integer", "null"]}}}),
                json!({"mode": "fast", "level": null}),
            ),
            (
                json!({"type": "object", "properties": {"limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "url": {"type": "string", "format": "uri"}}}),
                json!({"limit": 3, "url": "https://example.com/a"}),
            ),
            (
                json!({"type": "object", "properties": {"pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}}}),
                json!({"pair": ["a", 1]}),
            ),
            (
                json!({"type": "object", "properties": {"a/b": {"type": "string", "maxLength": 3}, "~": {"type": "integer"}}, "required": ["a/b", "~"]}),
                json!({"a/b": "x", "~": 1}),
            ),
            (
                json!({"type": "object", "properties": {"id": {"type": "string", "format": "uuid"}}, "unevaluatedProperties": false}),
                json!({"id": "123e4567-e89b-12d3-a456-426614174000"}),
            ),
        ]
    }

    #[test]
    fn every_class_of_violation_is_found_at_its_place() {
        let mut seen = HashSet::new();
        for (schema, valid) in schemas() {
            assert_eq!(found(schema.clone(), valid.clone()), [], "{schema}");
            let broken = violations(&schema, valid.as_object().unwrap(), 200, |_, _| true).unwrap();
            assert!(!broken.all.is_empty(), "{schema}");
            for one in broken.all {
                seen.insert(one.rule.word());
                let found = found(schema.clone(), Value::Object(one.args.clone()));
                // A list that gets an item too much is broken at the list or at the item.
                let at_place = found.iter().any(|(_, pointer)| {
                    *pointer == one.pointer || pointer.starts_with(&format!("{}/", one.pointer))
                });
                assert!(
                    at_place,
                    "{:?} at {}: {found:?} of {}",
                    one.rule,
                    one.pointer,
                    Value::Object(one.args)
                );
            }
        }
        assert_eq!(seen.len(), 9, "{seen:?}");
    }

    #[test]
    fn arguments_that_are_no_object_are_violations() {
        let mut trace = called(json!({"type": "object"}), json!([1]));
        for args in [Args::Invalid("{\"a\":".into()), Args::Unknown, Args::Json(Value::Null)] {
            trace.call(Call::new(CallKind::Tool, "t", args));
        }
        assert_eq!(found_at(&ArgsSchema, &trace), [0, 1]);
        let required = json!({"required": ["a"]});
        assert_eq!(found(required, Value::Null), [("missing-required".into(), "/a".into())]);
    }

    #[test]
    fn a_refused_call_is_still_a_violation() {
        let mut trace = called(json!({"required": ["city"]}), json!({}));
        let call = super::super::testing::refused("t", json!({}), "city is required");
        trace.call(call);
        trace.call(Call::tool("t", json!({"city": "Paris"})));
        assert_eq!(found_at(&ArgsSchema, &trace), [0, 1]);
    }

    #[test]
    fn unusable_schemas_are_information_once() {
        let mut trace = called(json!({"$ref": "http://127.0.0.1:1/x"}), json!({}));
        trace.call(Call::tool("t", json!({})));
        let found = faults(&ArgsSchema, &trace);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].severity, Level::Info);
    }

    #[test]
    fn tools_without_schema_are_not_judged() {
        let mut trace =
            Trace { servers: vec![server("a", vec![json!({"name": "t"})])], ..Trace::default() };
        trace.call(Call::tool("t", json!({"a": 1})));
        trace.call(Call::tool("unknown", json!({"a": 1})));
        assert_eq!(found_at(&ArgsSchema, &trace), [0; 0]);
    }
}
