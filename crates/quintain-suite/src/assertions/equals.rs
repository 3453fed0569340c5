//! The output equals a value.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static EQUALS: Builtin = Builtin {
    meta: &Meta {
        id: "equals",
        aliases: &[],
        summary: "The output equals a text or JSON",
        docs: r"# What it does
Compares the output with `value`. Text, numbers and booleans must be identical, including case and white
space. If `value` is a map or a list (in the suite, or in a `.json` or `.yaml` file), the output is parsed
as JSON and compared deeply: the order of keys and the notation of numbers do not matter, types do (`1`
is not `'1'`). Output that is not JSON is then not equal.

# Example
```yaml
- type: equals
  value: {status: ok, items: [1, 2]}
```
",
        since: "0.1.0",
    },
    compile,
};

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    let expected = spec.expect(|value| Ok(value.cloned()));
    judging(move |scene| {
        let expected = expected.get(scene)?;
        let output = scene.text();
        let (equal, shown) = match expected.as_ref() {
            // promptfoo compares with JavaScript's `undefined` if there is no `value`.
            None => (output == "undefined", "undefined".to_owned()),
            Some(data @ (Value::Array(_) | Value::Object(_) | Value::Null)) => {
                let equal = serde_json::from_str(&output)
                    .is_ok_and(|parsed: Value| js::deep_equal(data, &parsed));
                (equal, js::stringify(data))
            }
            Some(scalar) => {
                let text = js::string(scalar);
                (output == text, text)
            }
        };
        let not = if negated { "not " } else { "" };
        Ok(Verdict::met(equal != negated, || {
            format!("Expected output \"{output}\" to {not}equal \"{shown}\"")
        }))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::{TestScene, passes};

    #[test]
    fn text_is_compared_letter_by_letter() {
        assert!(passes("[{type: equals, value: Hello}]", "Hello"));
        assert!(!passes("[{type: equals, value: Hello}]", "Hello "));
        assert!(passes("[{type: not-equals, value: Hello}]", "hello"));
        assert!(passes("[{type: equals, value: ''}]", ""));
        assert!(!passes(r#"[{type: equals, value: '{"a": 1}'}]"#, r#"{"a":1}"#));
    }

    #[test]
    fn numbers_and_booleans_are_compared_as_text() {
        assert!(passes("[{type: equals, value: 42}]", "42"));
        assert!(passes("[{type: equals, value: 1.0}]", "1"));
        assert!(passes("[{type: equals, value: true}]", "true"));
        assert!(passes("[{type: equals, value: 42}]", json!(42)));
    }

    #[test]
    fn data_is_compared_deeply() {
        let yaml = "[{type: equals, value: {a: 1, b: [2, {c: x}]}}]";
        assert!(passes(yaml, r#"{ "b": [2.0, {"c": "x"}], "a": 1 }"#));
        assert!(!passes(yaml, r#"{ "b": [2, {"c": "x"}], "a": "1" }"#));
        assert!(!passes(yaml, r#"{ "b": [{"c": "x"}, 2], "a": 1 }"#));
        assert!(!passes(yaml, "no JSON"));
        assert!(passes("[{type: not-equals, value: {a: 1}}]", "no JSON"));
        assert!(passes("[{type: equals, value: null}]", "null"));
    }

    #[test]
    fn the_reason_shows_both_sides() {
        let stage = TestScene::output("b");
        assert_eq!(
            stage.judge("[{type: equals, value: {a: 1.0}}]").reason,
            r#"Expected output "b" to equal "{"a":1}""#
        );
        assert_eq!(
            stage.judge("[{type: not-equals, value: b}]").reason,
            r#"Expected output "b" to not equal "b""#
        );
        assert_eq!(
            stage.judge("[{type: equals}]").reason,
            r#"Expected output "b" to equal "undefined""#
        );
    }

    #[test]
    fn a_text_that_nests_without_end_is_just_not_equal() {
        assert!(!passes("[{type: equals, value: [1]}]", "[".repeat(100_000)));
    }
}
