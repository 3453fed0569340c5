//! `structuredContent` of a tool result, and the output schema of the tool.

use quintain_content::json_text;
use quintain_content::json_value;
use quintain_content::registry::Meta;
use quintain_content::schema::{self, Fault, Problem};
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use serde_json::{Map, Value};

use super::jsonpath::short;
use crate::check::{Builtin, Check, Param, Scene, Spec, judging};
use crate::views;

pub(super) static STRUCTURED_CONTENT: Builtin = Builtin {
    meta: &Meta {
        id: "structured-content",
        aliases: &[],
        summary: "The response has structured content, optionally with an expected value or schema",
        docs: r"# What it does
Passes if the tool result has `structuredContent`. With `value`, it must contain everything in `value`:
maps may have more keys, lists must have the same length. With `mode: exact`, it must equal `value`. With
`schema`, it must match that JSON Schema (2020-12).

# What counts as proof
The place in `structuredContent` that differs.

# Example
```yaml
- type: structured-content
  value: { city: Paris }
  schema:
    type: object
    required: [temperature]
```
",
        since: "0.1.0",
    },
    compile: structured_content,
};

pub(super) static OUTPUT_SCHEMA: Builtin = Builtin {
    meta: &Meta {
        id: "output-schema",
        aliases: &[],
        summary: "The response matches the output schema of the tool",
        docs: r"# What it does
Validates `structuredContent` against the `outputSchema` that the server lists for the tool. With
`repeated: true`, a text block must also contain the same data as JSON, which the protocol recommends for
clients without support for structured content.

# Why it matters
Clients pass structured content to code that trusts the schema.

# What counts as proof
The place in `structuredContent` that violates the schema.

# Example
```yaml
- type: output-schema
  repeated: true
```
",
        since: "0.1.0",
    },
    compile: output_schema,
};

/// Maximum number of proofs; the first one is usually enough.
const MAX_PROOFS: usize = 5;

/// Adds places in the structured content as proofs.
fn proved<'p>(
    scene: &Scene<'_>,
    verdict: Verdict,
    pointers: impl IntoIterator<Item = &'p str>,
) -> Verdict {
    let Some(last) = scene.evidence.exchanges.len().checked_sub(1) else { return verdict };
    pointers.into_iter().take(MAX_PROOFS).fold(verdict, |verdict, pointer| {
        verdict.proof(last, format!("/structuredContent{pointer}"))
    })
}

fn structured_content(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let value = spec.value();
    let schema = spec.param("schema");
    let modes = [("partial", false), ("exact", true)];
    let exact = spec.fields.choice("mode", &modes, spec.dx).unwrap_or(false);
    let negated = spec.negated;
    judging(move |scene| {
        let structured = views::result(scene).and_then(|result| result.get("structuredContent"));
        let Some(structured) = structured else {
            return Ok(Verdict::of(negated, "the response has no structuredContent"));
        };
        let resolve = |param: &Option<Param>| {
            let resolve = |param: &Param| match param.resolve(scene) {
                Ok(value) => Ok(value.into_owned()),
                Err(verdict) => Err(Box::new(verdict)),
            };
            param.as_ref().map(resolve).transpose()
        };
        if let Some(wanted) = resolve(&value)?
            && let Some(difference) = difference(structured, &wanted, exact, String::new())
        {
            let reason = format!("structuredContent{}", difference.words());
            return Ok(proved(scene, Verdict::of(negated, reason), [difference.pointer.as_str()]));
        }
        if let Some(schema) = resolve(&schema)? {
            let problems = schema::validate(&schema, structured);
            if !problems.is_empty() {
                return Ok(broken(scene, &problems, negated, "the schema"));
            }
        }
        Ok(proved(scene, Verdict::of(!negated, "structuredContent is as expected"), [""]))
    })
}

fn output_schema(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let repeated = spec.fields.bool("repeated", spec.dx).unwrap_or(false);
    let negated = spec.negated;
    judging(move |scene| {
        let last = scene.evidence.last();
        let Some((name, tool)) = last.and_then(|exchange| views::called(scene, exchange)) else {
            return Err(Box::new(Verdict::error("no tool was called")));
        };
        let Some(schema) = tool.and_then(|tool| tool.output_schema()) else {
            return Ok(Verdict::of(negated, format!("the tool `{name}` has no output schema")));
        };
        let result = views::result(scene);
        let Some(structured) = result.and_then(|result| result.get("structuredContent")) else {
            let reason = format!("`{name}` has an output schema but sent no structuredContent");
            return Ok(proved(scene, Verdict::of(negated, reason), []));
        };
        let problems = schema::validate(schema, structured);
        if !problems.is_empty() {
            return Ok(broken(
                scene,
                &problems,
                negated,
                &format!("the output schema of `{name}`"),
            ));
        }
        if repeated && !is_repeated(scene, structured) {
            let reason = "no text block contains structuredContent as JSON";
            return Ok(proved(scene, Verdict::of(negated, reason), [""]));
        }
        let reason = format!("structuredContent matches the output schema of `{name}`");
        Ok(proved(scene, Verdict::of(!negated, reason), [""]))
    })
}

fn is_repeated(scene: &Scene<'_>, structured: &Value) -> bool {
    let texts = scene.evidence.last().map(|last| last.outcome.texts()).unwrap_or_default();
    texts
        .iter()
        .any(|text| json_text::parse(text).is_ok_and(|value| js::deep_equal(&value, structured)))
}

/// The verdict on data that violates the schema. An invalid schema is an error, never a pass.
fn broken(scene: &Scene<'_>, problems: &[Problem], negated: bool, schema: &str) -> Verdict {
    if let Some(problem) = problems.iter().find(|problem| problem.fault == Fault::Schema) {
        return Verdict::error(format!("{schema} is invalid: {}", problem.message));
    }
    let told = problems.iter().take(3).map(|problem| match problem.pointer.as_str() {
        "" => problem.message.clone(),
        pointer => format!("{pointer}: {}", problem.message),
    });
    let told = told.collect::<Vec<_>>().join("; ");
    let more = if problems.len() > 3 { "; …" } else { "" };
    let reason = format!("structuredContent does not match {schema}: {told}{more}");
    let pointers = problems.iter().map(|problem| problem.pointer.as_str());
    proved(scene, Verdict::of(negated, reason), pointers)
}

/// The first difference from the expected data.
struct Difference {
    pointer: String,
    found: Option<String>,
    wanted: String,
}

impl Difference {
    fn words(&self) -> String {
        match &self.found {
            Some(found) => format!("{} is {found}, expected {}", self.pointer, self.wanted),
            None => format!("{} is missing, expected {}", self.pointer, self.wanted),
        }
    }
}

fn difference(found: &Value, wanted: &Value, exact: bool, pointer: String) -> Option<Difference> {
    let step = |key: &str| format!("{pointer}/{}", json_value::pointer_token(key));
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            let missing = wanted.iter().find_map(|(key, wanted)| match found.get(key) {
                Some(found) => difference(found, wanted, exact, step(key)),
                None => Some(Difference { pointer: step(key), found: None, wanted: short(wanted) }),
            });
            missing.or_else(|| surplus(found, wanted, &step).filter(|_| exact))
        }
        (Value::Array(found), Value::Array(wanted)) if found.len() == wanted.len() => {
            let pairs = found.iter().zip(wanted).enumerate();
            pairs.into_iter().find_map(|(index, (found, wanted))| {
                difference(found, wanted, exact, step(&index.to_string()))
            })
        }
        (found, wanted) if js::deep_equal(found, wanted) => None,
        (found, wanted) => {
            Some(Difference { pointer, found: Some(short(found)), wanted: short(wanted) })
        }
    }
}

fn surplus(
    found: &Map<String, Value>,
    wanted: &Map<String, Value>,
    step: &dyn Fn(&str) -> String,
) -> Option<Difference> {
    let (key, value) = found.iter().find(|(key, _)| !wanted.contains_key(*key))?;
    let (pointer, found) = (step(key), Some(short(value)));
    Some(Difference { pointer, found, wanted: "nothing".to_owned() })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use quintain_evidence::evidence::{Exchange, Outcome};
    use quintain_evidence::surface::{Surface, Tool};
    use quintain_evidence::verdict::Status;
    use serde_json::json;

    use super::*;
    use crate::testing::TestScene;

    fn stage(result: Value) -> TestScene {
        let mut stage = TestScene::output("");
        stage.evidence.exchanges.push(Exchange {
            server: "s".to_owned(),
            method: "tools/call".to_owned(),
            sent: json!({"name": "weather", "arguments": {}}),
            outcome: Outcome::of_tool_result(result),
            took: Duration::ZERO,
            notices: Vec::new(),
        });
        stage
    }

    fn promising(result: Value, schema: Value) -> TestScene {
        let mut stage = stage(result);
        let tools = vec![Tool(json!({"name": "weather", "outputSchema": schema}))];
        stage.surfaces.push(("s".to_owned(), Surface { tools, ..Surface::default() }));
        stage
    }

    #[test]
    fn structured_content_is_compared_in_part_or_as_a_whole() {
        let stage = stage(json!({"structuredContent": {"a": {"b": 1, "c": [1, 2]}, "d": null}}));
        for (options, pass) in [
            ("", true),
            (", value: {a: {b: 1}}", true),
            (", value: {a: {b: 2}}", false),
            (", value: {a: {c: [1]}}", false),
            (", value: {x: 1}", false),
            (", value: {a: {b: 1}}, mode: exact", false),
            (", value: {a: {b: 1.0, c: [1, 2]}, d: null}, mode: exact", true),
            (", schema: {required: [a]}", true),
            (", schema: {required: [z]}", false),
        ] {
            let verdict = stage.judge(&format!("[{{type: structured-content{options}}}]"));
            assert_eq!(verdict.passed(), pass, "{options}: {}", verdict.reason);
        }
        let verdict = stage.judge("[{type: structured-content, value: {a: {b: 2}}}]");
        assert_eq!(verdict.reason, "structuredContent/a/b is 1, expected 2");
        assert_eq!(verdict.proofs[0].pointer, "/structuredContent/a/b");
    }

    #[test]
    fn without_structured_content_only_not_passes() {
        let stage = stage(json!({"content": []}));
        assert!(!stage.judge("[{type: structured-content}]").passed());
        assert!(stage.judge("[{type: not-structured-content}]").passed());
    }

    #[test]
    fn a_tool_has_to_keep_its_promise() {
        let schema =
            json!({"type": "object", "properties": {"t": {"type": "number"}}, "required": ["t"]});
        let good = json!({"structuredContent": {"t": 1}, "content": [{"type": "text", "text": "{\"t\": 1}"}]});
        assert!(
            promising(good.clone(), schema.clone())
                .judge("[{type: output-schema, repeated: true}]")
                .passed()
        );
        let bad = promising(json!({"structuredContent": {"t": "1"}}), schema.clone());
        let verdict = bad.judge("[{type: output-schema}]");
        assert_eq!(
            (verdict.passed(), verdict.proofs[0].pointer.as_str()),
            (false, "/structuredContent/t")
        );
        let silent = promising(json!({"content": []}), schema.clone());
        assert!(!silent.judge("[{type: output-schema}]").passed());
        let alone = promising(json!({"structuredContent": {"t": 1}}), schema);
        assert!(alone.judge("[{type: output-schema}]").passed());
        assert!(!alone.judge("[{type: output-schema, repeated: true}]").passed());
        assert!(
            !stage(good).judge("[{type: output-schema}]").passed(),
            "there is no output schema"
        );
    }

    #[test]
    fn a_hostile_schema_is_an_error_even_when_negated() {
        let stage = promising(json!({"structuredContent": {}}), json!({"$ref": "http://h/x"}));
        for kind in ["output-schema", "not-output-schema"] {
            let verdict = stage.judge(&format!("[{{type: {kind}}}]"));
            assert_eq!(verdict.status, Status::Error, "{}", verdict.reason);
        }
    }
}
