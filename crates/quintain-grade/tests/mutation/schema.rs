//! Arguments and results against their schemas: one mutation for every class of fault that a schema can express.

use quintain_evidence::surface::Tool;
use quintain_evidence::trace::{Args, CallOutcome, Trace};
use serde_json::{Map, Value, json};

use super::{Mutant, call_mut};

/// A schema for one argument, and a value that it refuses; no value if it is missing.
type Fault = (&'static str, Value, Option<Value>);

fn faults() -> Vec<Fault> {
    let some = |value: Value| Some(value);
    vec![
        ("missing", json!({"type": "string"}), None),
        ("type", json!({"type": "integer"}), some(json!("12"))),
        ("integer", json!({"type": "integer"}), some(json!(1.5))),
        ("null", json!({"type": "string"}), some(Value::Null)),
        ("types", json!({"type": ["string", "null"]}), some(json!(7))),
        ("enum", json!({"enum": ["low", "high"]}), some(json!("medium"))),
        ("const", json!({"const": "v2"}), some(json!("v1"))),
        ("minimum", json!({"type": "number", "minimum": 1}), some(json!(0))),
        ("maximum", json!({"type": "number", "maximum": 10}), some(json!(11))),
        ("exclusive", json!({"type": "number", "exclusiveMaximum": 10}), some(json!(10))),
        ("multiple", json!({"type": "number", "multipleOf": 0.01}), some(json!(19.999))),
        ("short", json!({"type": "string", "minLength": 3}), some(json!("ab"))),
        ("long", json!({"type": "string", "maxLength": 3}), some(json!("abcd"))),
        ("pattern", json!({"type": "string", "pattern": "^[A-Z]{2}$"}), some(json!("deu"))),
        ("date", json!({"type": "string", "format": "date"}), some(json!("31.12.2026"))),
        (
            "date-time",
            json!({"type": "string", "format": "date-time"}),
            some(json!("2026-12-31 9h")),
        ),
        ("email", json!({"type": "string", "format": "email"}), some(json!("nobody at home"))),
        ("uri", json!({"type": "string", "format": "uri"}), some(json!("not a uri"))),
        ("uuid", json!({"type": "string", "format": "uuid"}), some(json!("1234-5678"))),
        ("items", json!({"type": "array", "items": {"type": "string"}}), some(json!(["a", 2]))),
        ("few items", json!({"type": "array", "minItems": 2}), some(json!(["a"]))),
        ("unique", json!({"type": "array", "uniqueItems": true}), some(json!(["a", "a"]))),
        ("contains", json!({"type": "array", "contains": {"const": 1}}), some(json!([2, 3]))),
        ("nested", json!({"type": "object", "required": ["id"]}), some(json!({}))),
        (
            "closed",
            json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false}),
            some(json!({"a": 1, "b": 2})),
        ),
        ("anyOf", json!({"anyOf": [{"type": "string"}, {"type": "boolean"}]}), some(json!(3))),
        ("oneOf", json!({"oneOf": [{"minimum": 1}, {"maximum": 5}]}), some(json!(3))),
        ("allOf", json!({"allOf": [{"type": "string"}, {"minLength": 4}]}), some(json!("abc"))),
        ("not", json!({"not": {"const": "all"}}), some(json!("all"))),
        (
            "if",
            json!({"if": {"required": ["card"]}, "then": {"required": ["cvc"]}}),
            some(json!({"card": "x"})),
        ),
        ("dependent", json!({"dependentRequired": {"from": ["to"]}}), some(json!({"from": 1}))),
        ("names", json!({"propertyNames": {"pattern": "^[a-z]+$"}}), some(json!({"A": 1}))),
        ("reference", json!({"$ref": "#/$defs/level"}), some(json!(9))),
    ]
}

/// Every class, at the calls of a trace in turn.
pub(super) fn arguments(clean: &Trace) -> Vec<Mutant> {
    let count = clean.calls().count();
    let mut mutants = Vec::new();
    for (at, (class, schema, value)) in faults().into_iter().enumerate() {
        let index = at % count.max(1);
        let mut trace = clean.clone();
        let Some(input) = input_schema(&mut trace, index) else { continue };
        input["$defs"] = json!({"level": {"type": "integer", "maximum": 3}});
        properties(input).insert("zz_option".to_owned(), schema);
        if value.is_none() {
            input["required"] = json!(["zz_option"]);
        }
        if let (Some(value), Args::Json(Value::Object(args))) =
            (value, &mut call_mut(&mut trace, index).args)
        {
            args.insert("zz_option".to_owned(), value);
        }
        mutants.push(Mutant { trace, call: Some(index), what: class.to_owned() });
    }
    mutants
}

/// Structured content that lacks what the tool declares to return.
pub(super) fn results(clean: &Trace) -> Vec<Mutant> {
    let mutant = |index: usize| {
        let mut trace = clean.clone();
        let CallOutcome::Result(result) = &call_mut(&mut trace, index).outcome else { return None };
        result.get("structuredContent").filter(|content| content.is_object())?;
        let tool = tool_of(&mut trace, index)?;
        tool.0["outputSchema"] = json!({"type": "object", "required": ["zz_checksum"]});
        let what = tool.name().unwrap_or_default().to_owned();
        Some(Mutant { trace, call: Some(index), what })
    };
    (0..clean.calls().count()).filter_map(mutant).collect()
}

fn tool_of(trace: &mut Trace, call: usize) -> Option<&mut Tool> {
    let (name, server) =
        trace.calls().nth(call).map(|call| (call.name.clone(), call.server.clone()))?;
    let server = trace.servers.iter_mut().find(|one| one.name == server)?;
    let tools = server.listings.first_mut()?.tools.as_mut()?;
    tools.iter_mut().find(|tool| tool.name() == Some(&name))
}

fn input_schema(trace: &mut Trace, call: usize) -> Option<&mut Value> {
    tool_of(trace, call)?.0.get_mut("inputSchema")
}

fn properties(schema: &mut Value) -> &mut Map<String, Value> {
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    schema["properties"].as_object_mut().unwrap()
}
