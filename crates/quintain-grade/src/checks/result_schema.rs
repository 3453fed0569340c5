//! Results that break the output schema of their tool, or whose structured content disagrees with their text.

use std::collections::HashSet;

use quintain_content::json_value::pointer_token;
use quintain_content::registry::Meta;
use quintain_content::schema::compiled::Violated;
use quintain_content::text::short::one_line;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::CallKind;
use serde_json::Value;

use super::{Checked, Fault, TraceCheck};
use crate::canonical;
use crate::policy::CallPolicy;
use crate::schemas::Schemas;
use crate::view::{CallView, View};

pub(super) struct ResultSchema;

static META: Meta = Meta {
    id: "result.schema",
    aliases: &[],
    summary: "a result breaks the output schema of its tool, or contradicts itself",
    docs: "\
# What it does
Validates the `structuredContent` of each successful result against the `outputSchema` of the tool, reports structured
content that is missing although the tool declares a schema, and compares structured content with the text if the text
is JSON.

# Why it matters
Some clients give the model the text, others the structured content. If they disagree, the application acts on other
data than the one that was tested. MCP requires structured results to fit the declared schema.

# What counts as proof
The validator rejects the recorded content; or the result has a list `content` and no `structuredContent` although an
output schema is declared; or the text is JSON with another value at the reported place. The wrapper
`{\"result\": ...}`, which some SDKs add to values that are not objects, is no disagreement.

# Severity
Warning, in the layer *call*. It is info if a schema cannot be used, or if the text lacks a value of the structured
content.

# When it does not apply
Neither structured results nor output schemas are recorded.

# Example
```json
{\"content\": [{\"type\": \"text\", \"text\": \"{\\\"total\\\": 12}\"}], \"structuredContent\": {\"total\": 21}}
```
",
    since: "0.2.0",
};

impl TraceCheck for ResultSchema {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        let mut schemas = Schemas::default();
        let mut reported = HashSet::new();
        let mut faults = Vec::new();
        let mut is_judged = false;
        for call in view.calls.iter().filter(|call| call.call.kind == CallKind::Tool) {
            // A failed call need not have a structured result.
            if !call.succeeded() {
                continue;
            }
            let schema = call.tool().and_then(|tool| tool.output_schema());
            let schema = schema.filter(|schema| !schema.is_null());
            let structured = call.call.structured();
            is_judged |= schema.is_some() || structured.is_some();
            match (structured, schema) {
                (Some(structured), Some(schema)) => {
                    let violations = match schemas.get(schema) {
                        Ok(compiled) => compiled.violations(structured),
                        Err(problem) => Err(problem.clone()),
                    };
                    match violations {
                        Ok(found) => {
                            faults.extend(
                                found.into_iter().map(|one| violation(call, structured, one)),
                            );
                        }
                        Err(problem) if reported.insert(std::ptr::from_ref(schema)) => {
                            faults.push(unusable(call, &problem.message));
                        }
                        Err(_) => {}
                    }
                }
                (None, Some(_)) if has_content(call) => faults.push(missing(call)),
                (None, _) | (Some(_), None) => {}
            }
            faults.extend(structured.and_then(|structured| disagreement(call, structured)));
        }
        if is_judged {
            Checked::Findings(faults)
        } else {
            Checked::NotApplicable("neither structured results nor output schemas are recorded")
        }
    }
}

/// Whether the result is recorded as a server sends it. Other formats keep only the text.
fn has_content(call: &CallView<'_>) -> bool {
    call.call.result().and_then(|result| result.get("content")).is_some_and(Value::is_array)
}

/// The key of structured content as it is recorded.
fn key(call: &CallView<'_>) -> &'static str {
    let is_snake =
        call.call.result().is_some_and(|result| result.get("structuredContent").is_none());
    if is_snake { "/structured_content" } else { "/structuredContent" }
}

fn violation(call: &CallView<'_>, structured: &Value, found: Violated) -> Fault {
    let value = structured.pointer(&found.pointer).map(Value::to_string).unwrap_or_default();
    Fault {
        severity: Level::Warning,
        call: Some(call.position),
        pointer: format!("{}{}", key(call), found.pointer),
        message: format!("{}: {}", found.class.word(), found.message),
        evidence: one_line(&value, 200),
        hint: "fix the result or the output schema of the tool".to_owned(),
    }
}

fn missing(call: &CallView<'_>) -> Fault {
    Fault {
        severity: Level::Warning,
        call: Some(call.position),
        pointer: String::new(),
        message: format!(
            "tool `{}` declares an output schema, but the result has no structured content",
            call.call.name
        ),
        evidence: one_line(call.text(), 200),
        hint: "return `structuredContent` that fits the output schema".to_owned(),
    }
}

fn unusable(call: &CallView<'_>, why: &str) -> Fault {
    Fault {
        severity: Level::Info,
        call: Some(call.position),
        pointer: String::new(),
        message: format!("the output schema cannot be used: {why}"),
        evidence: call.call.name.clone(),
        hint: "check the output schema with `quintain inspect`".to_owned(),
    }
}

fn disagreement(call: &CallView<'_>, structured: &Value) -> Option<Fault> {
    let blocks = call.call.result()?.get("content")?.as_array()?;
    let texts: Vec<&str> =
        blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str)).collect();
    // SDKs write one block for each item of a list; only a single block is the whole.
    let [text] = texts.as_slice() else { return None };
    let wrapped = structured.get("result");
    let wrapped = wrapped.filter(|_| structured.as_object().is_some_and(|map| map.len() == 1));
    if wrapped.and_then(Value::as_str).is_some_and(|inner| inner.trim() == text.trim()) {
        return None;
    }
    let text: Value = serde_json::from_str(text).ok()?;
    let is_equal = |value: &Value| canonical::equal(value, &text);
    let is_data = text.is_object() || text.is_array();
    if !is_data || is_equal(structured) || wrapped.is_some_and(is_equal) {
        return None;
    }
    // An object whose only key is `result` is compared by its content if the text is not wrapped as well.
    let (place, compared) = match wrapped {
        Some(inner) if text.get("result").is_none() => ("/result", inner),
        _ => ("", structured),
    };
    let difference = first_difference(compared, &text, 32);
    let (below, said, severity) = match difference {
        Difference::Value(below, said) => (below, said, Level::Warning),
        Difference::Absent(below) => (below, "nothing".to_owned(), Level::Info),
        Difference::None => return None,
    };
    let pointer = format!("{}{place}{below}", key(call));
    let value = compared.pointer(&below).map(Value::to_string).unwrap_or_default();
    Some(Fault {
        severity,
        call: Some(call.position),
        pointer,
        message: "structured content and text of the result disagree".to_owned(),
        evidence: format!("structured: {}; text: {}", one_line(&value, 150), one_line(&said, 150)),
        hint: "return the serialised structured content as text".to_owned(),
    })
}

enum Difference {
    None,
    /// Another value at this pointer, and what the text has there.
    Value(String, String),
    /// Only one side has something at this pointer.
    Absent(String),
}

/// The first place with another value, else the first that only one side has.
fn first_difference(structured: &Value, text: &Value, depth: usize) -> Difference {
    let other = || Difference::Value(String::new(), text.to_string());
    let Some(depth) = depth.checked_sub(1) else { return Difference::None };
    let below = |key: &str, difference: Difference| match difference {
        Difference::Value(pointer, said) => Difference::Value(format!("/{key}{pointer}"), said),
        Difference::Absent(pointer) => Difference::Absent(format!("/{key}{pointer}")),
        Difference::None => Difference::None,
    };
    match (structured, text) {
        (Value::Object(left), Value::Object(right)) => {
            let mut absent = Difference::None;
            for (key, value) in left {
                let token = pointer_token(key);
                let found = match right.get(key) {
                    Some(said) => below(&token, first_difference(value, said, depth)),
                    None => Difference::Absent(format!("/{token}")),
                };
                match found {
                    Difference::Value(..) => return found,
                    Difference::Absent(_) if matches!(absent, Difference::None) => absent = found,
                    Difference::Absent(_) | Difference::None => {}
                }
            }
            // Objects without a common key are different values, not parts of each other.
            if !left.keys().any(|key| right.contains_key(key)) {
                return other();
            }
            let more = right.keys().find(|key| !left.contains_key(*key));
            match (absent, more) {
                (Difference::None, Some(key)) => {
                    Difference::Absent(format!("/{}", pointer_token(key)))
                }
                (absent, _) => absent,
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            if left.len() != right.len() {
                return other();
            }
            let each = left.iter().zip(right).enumerate();
            let found = each.map(|(index, (left, right))| {
                below(&index.to_string(), first_difference(left, right, depth))
            });
            found
                .into_iter()
                .find(|one| !matches!(one, Difference::None))
                .unwrap_or(Difference::None)
        }
        _ if canonical::equal(structured, text) => Difference::None,
        _ => other(),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::Trace;
    use serde_json::json;

    use super::super::testing::{faults, found_at, refused, server, with_result};
    use super::*;

    fn returned(schema: Value, result: Value) -> Trace {
        let tool = json!({"name": "t", "outputSchema": schema});
        let mut trace = Trace { servers: vec![server("a", vec![tool])], ..Trace::default() };
        trace.call(with_result("t", json!({}), result));
        trace
    }

    fn content(text: &str) -> Value {
        json!([{"type": "text", "text": text}])
    }

    #[test]
    fn structured_content_must_fit() {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let good = json!({"content": content("{\"n\": 1.0}"), "structuredContent": {"n": 1}});
        assert_eq!(faults(&ResultSchema, &returned(schema.clone(), good)), []);
        let bad = json!({"content": content("x"), "structuredContent": {"n": "1"}});
        let found = faults(&ResultSchema, &returned(schema.clone(), bad));
        assert_eq!(found[0].pointer, "/structuredContent/n");
        let missing = json!({"content": content("{\"n\": 1}")});
        assert_eq!(found_at(&ResultSchema, &returned(schema.clone(), missing)), [0]);
        // Other formats keep only the text.
        assert_eq!(found_at(&ResultSchema, &returned(schema.clone(), json!("{\"n\": 1}"))), [0; 0]);
        let mut failed = returned(schema, json!("x"));
        failed.steps.clear();
        failed.call(refused("t", json!({}), "no"));
        assert_eq!(found_at(&ResultSchema, &failed), [0; 0]);
    }

    #[test]
    fn text_and_structured_content_must_agree() {
        let of = |text: &str, structured: Value| {
            let result = json!({"content": content(text), "structuredContent": structured});
            let found = faults(&ResultSchema, &returned(json!({}), result));
            found.into_iter().map(|fault| (fault.severity, fault.pointer)).collect::<Vec<_>>()
        };
        assert_eq!(
            of("{\"a\": {\"b\": 2}}", json!({"a": {"b": 3}})),
            [(Level::Warning, "/structuredContent/a/b".into())]
        );
        assert_eq!(of("[1, 2]", json!({"result": [1, 2.0]})), []);
        assert_eq!(
            of("[1, 2]", json!({"result": [1, 3]})),
            [(Level::Warning, "/structuredContent/result/1".into())]
        );
        assert_eq!(
            of("[1]", json!({"result": [1, 3]})),
            [(Level::Warning, "/structuredContent/result".into())]
        );
        assert_eq!(of("Two items", json!({"a": 1})), []);
        assert_eq!(of("{\"a\": 1}", json!({"result": "{\"a\": 1}"})), [], "a text that is JSON");
        assert_eq!(of("2", json!({"a": 1})), []);
        assert_eq!(
            of("{\"a\": 1}", json!({"a": 1, "b": 2})),
            [(Level::Info, "/structuredContent/b".into())]
        );
        assert_eq!(
            of("{\"x\": 1}", json!({"a": 1})),
            [(Level::Warning, "/structuredContent".into())]
        );
    }
}
