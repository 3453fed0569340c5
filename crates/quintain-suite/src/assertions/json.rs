//! The output is or contains JSON, optionally matching a schema.

use std::sync::Arc;

use quintain_content::json_text;
use quintain_content::registry::Meta;
use quintain_content::schema::promptfoo::{Schema, errors_text};
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Expected, Spec, judging};

pub(super) static IS_JSON: Builtin = Builtin {
    meta: &Meta {
        id: "is-json",
        aliases: &[],
        summary: "The output is JSON, optionally matching a schema",
        docs: r"# What it does
Parses the whole output as JSON. With `value`, it must also match a JSON Schema: a map, text in YAML or
JSON (with templates), or a `file://` reference to a file in YAML or JSON.

Schemas are draft 7 and as strict as in promptfoo: unknown keywords and formats are errors. The reason of
a failure contains the first violation and its place in the data.

# Example
```yaml
- type: is-json
  value:
    type: object
    required: [id]
    properties:
      id: { type: integer }
```
",
        since: "0.1.0",
    },
    compile: is_json,
};

pub(super) static CONTAINS_JSON: Builtin = Builtin {
    meta: &Meta {
        id: "contains-json",
        aliases: &[],
        summary: "The output contains a JSON object, optionally matching a schema",
        docs: r"# What it does
Searches the output for JSON objects, in prose or in fenced blocks. With `value`, at least one of them must
match that JSON Schema; see `is-json`.

The search is lenient: it accepts unquoted keys, comments, and objects that are cut off. It does not find
lists and single values.

# Example
```yaml
- type: contains-json
  value:
    type: object
    required: [total]
```
",
        since: "0.1.0",
    },
    compile: contains_json,
};

/// The schema to match, if the suite gives one.
type Wanted = Option<Arc<Schema>>;

fn schema(spec: &mut Spec<'_, '_>) -> Expected<Wanted> {
    let kind = spec.kind.to_owned();
    spec.expect(move |value| {
        let schema = match value {
            None => return Ok(None),
            Some(value) if js::is_falsy(value) => return Ok(None),
            Some(Value::String(text)) => json_text::yaml(text)
                .ok_or_else(|| "the schema is neither YAML nor JSON".to_owned())?,
            Some(value @ (Value::Object(_) | Value::Array(_))) => value.clone(),
            Some(_) => return Err(format!("{kind} assertion must have a string or object value")),
        };
        Schema::new(&schema).map(|schema| Some(Arc::new(schema)))
    })
}

fn is_json(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let (wanted, negated) = (schema(spec), spec.negated);
    judging(move |scene| {
        let text = scene.text();
        if !json_text::is_json(&text) {
            return Ok(Verdict::met(negated, || "Expected output to be valid JSON".to_owned()));
        }
        let Some(schema) = wanted.get(scene)?.into_owned() else {
            return Ok(Verdict::met(!negated, || {
                "Expected output to not be valid JSON".to_owned()
            }));
        };
        let data = json_text::parse(&text)
            .map_err(|error| unchecked(&format!("the JSON cannot be validated: {error}")))?;
        let faults = schema.check(&data).map_err(|why| unchecked(&why))?;
        Ok(Verdict::met(faults.is_empty() != negated, || {
            if negated {
                "Output is JSON that conforms to the provided schema".to_owned()
            } else {
                misfit(&errors_text(&faults))
            }
        }))
    })
}

fn contains_json(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let (wanted, negated) = (schema(spec), spec.negated);
    judging(move |scene| {
        let objects = json_text::objects(&scene.text());
        let schema = if objects.is_empty() { None } else { wanted.get(scene)?.into_owned() };
        let Some(schema) = schema else { return Ok(any(!objects.is_empty(), negated)) };
        fitting(&schema, &objects, negated)
    })
}

fn any(found: bool, negated: bool) -> Verdict {
    let not = if negated { "not " } else { "" };
    Verdict::met(found != negated, || format!("Expected output to {not}contain valid JSON"))
}

fn fitting(schema: &Schema, objects: &[Value], negated: bool) -> Result<Verdict, Box<Verdict>> {
    let mut last = Vec::new();
    for object in objects {
        last = schema.check(object).map_err(|why| unchecked(&why))?;
        if last.is_empty() {
            break;
        }
    }
    Ok(Verdict::met(last.is_empty() != negated, || {
        if negated {
            "Output contains JSON conforming to the provided schema".to_owned()
        } else {
            misfit(&errors_text(&last))
        }
    }))
}

fn misfit(errors: &str) -> String {
    format!("JSON does not conform to the provided schema. Errors: {errors}")
}

fn unchecked(why: &str) -> Box<Verdict> {
    Box::new(Verdict::error(why))
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestScene, flaw, passes};

    fn reason(yaml: &str, output: &str) -> String {
        TestScene::output(output).judge(yaml).reason
    }

    #[test]
    fn the_whole_output_has_to_be_json() {
        assert!(passes("[{type: is-json}]", "[1, 2]"));
        assert!(!passes("[{type: is-json}]", "see: [1, 2]"));
        assert!(passes("[{type: not-is-json}]", "see"));
        assert_eq!(reason("[{type: not-is-json}]", "1"), "Expected output to not be valid JSON");
    }

    #[test]
    fn a_schema_is_applied_in_every_notation() {
        for value in ["{required: [a]}", "'required: [a]'", "'{\"required\": [\"a\"]}'"] {
            let yaml = format!("[{{type: is-json, value: {value}}}]");
            assert!(passes(&yaml, "{\"a\": 1}"));
            assert_eq!(
                reason(&yaml, "{}"),
                "JSON does not conform to the provided schema. Errors: data must have required \
                 property 'a'"
            );
        }
        let negated = "[{type: not-is-json, value: {required: [a]}}]";
        assert!(passes(negated, "{}"));
        assert!(passes(negated, "prose"));
        assert!(!passes(negated, "{\"a\": 1}"));
    }

    #[test]
    fn a_schema_that_is_none_is_reported() {
        let why = flaw("[{type: is-json, value: {foo: 1}}]", "{}");
        assert_eq!(why, "strict mode: unknown keyword: \"foo\"");
        let why = flaw("[{type: is-json, value: 5}]", "{}");
        assert_eq!(why, "is-json assertion must have a string or object value");
    }

    #[test]
    fn one_of_several_objects_has_to_fit() {
        let yaml = "[{type: contains-json, value: {required: [b]}}]";
        assert!(passes(yaml, "{\"a\": 1} and {\"b\": 2}"));
        assert!(!passes(yaml, "{\"a\": 1} and {\"c\": 2}"));
        assert!(passes("[{type: contains-json}]", "x {a: 1}"));
        assert_eq!(
            reason("[{type: not-contains-json}]", "{}"),
            "Expected output to not contain valid JSON"
        );
        assert!(!passes("[{type: not-contains-json, value: {required: [b]}}]", "{\"b\": 1}"));
    }
}
