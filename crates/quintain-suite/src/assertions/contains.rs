//! The output contains a text.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static CONTAINS: Builtin = Builtin {
    meta: &Meta {
        id: "contains",
        aliases: &[],
        summary: "The output contains a text",
        docs: r"# What it does
Searches the output for `value`, which is text or a number. Case-sensitive. Output that is not text is
searched as compact JSON.

# Example
```yaml
- type: contains
  value: 'Echo: hello'
```
",
        since: "0.1.0",
    },
    compile: |spec| contains(spec, false),
};

pub(super) static ICONTAINS: Builtin = Builtin {
    meta: &Meta {
        id: "icontains",
        aliases: &[],
        summary: "The output contains a text, ignoring case",
        docs: r"# What it does
Searches the output for `value` and ignores case.

# Example
```yaml
- type: icontains
  value: success
```
",
        since: "0.1.0",
    },
    compile: |spec| contains(spec, true),
};

fn contains(spec: &mut Spec<'_, '_>, fold: bool) -> Option<Box<dyn Check>> {
    let (kind, negated) = (spec.kind.to_owned(), spec.negated);
    let needle = spec.expect(move |value| needle(&kind, value));
    judging(move |scene| {
        let needle = needle.get(scene)?;
        let output = scene.text();
        let found = if fold {
            output.to_lowercase().contains(&needle.to_lowercase())
        } else {
            output.contains(&**needle)
        };
        let not = if negated { "not " } else { "" };
        Ok(Verdict::met(found != negated, || {
            format!("Expected output to {not}contain \"{needle}\"")
        }))
    })
}

fn needle(kind: &str, value: Option<&Value>) -> Result<String, String> {
    match value {
        Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
        Some(number @ Value::Number(_)) => Ok(js::string(number)),
        _ => Err(format!("\"{kind}\" assertion type must have a string or number value")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::{TestScene, flaw, passes};

    #[test]
    fn letters_count_unless_case_is_ignored() {
        assert!(passes("[{type: contains, value: lo W}]", "Hello World"));
        assert!(!passes("[{type: contains, value: LO}]", "Hello"));
        assert!(passes("[{type: icontains, value: LO}]", "Hello"));
        assert!(passes("[{type: not-contains, value: LO}]", "Hello"));
    }

    #[test]
    fn numbers_and_data_are_text() {
        assert!(passes("[{type: contains, value: 42}]", "42 times"));
        assert!(passes("[{type: contains, value: 0}]", "10"));
        assert!(passes("[{type: contains, value: 1.50}]", "1.5"));
        assert!(passes(r#"[{type: contains, value: '"a":1'}]"#, json!({"a": 1.0})));
    }

    #[test]
    fn case_is_ignored_beyond_ascii() {
        let text = "STRASSE straße İstanbul ΑΣ";
        for needle in ["STRAßE", "İSTANBUL", "ας"] {
            assert!(passes(&format!("[{{type: icontains, value: {needle}}}]"), text), "{needle}");
        }
        assert!(passes("[{type: not-icontains, value: istanbul}]", text));
    }

    #[test]
    fn the_reason_names_what_was_looked_for() {
        let stage = TestScene::output("The quick brown Fox");
        let reason = |yaml| stage.judge(yaml).reason;
        assert_eq!(reason("[{type: contains, value: fox}]"), "Expected output to contain \"fox\"");
        assert_eq!(
            reason("[{type: not-icontains, value: FOX}]"),
            "Expected output to not contain \"FOX\""
        );
    }

    #[test]
    fn values_that_are_no_text_are_mistakes() {
        for value in ["", ", value: ''", ", value: [a]", ", value: true", ", value: null"] {
            let message = "\"icontains\" assertion type must have a string or number value";
            assert_eq!(flaw(&format!("[{{type: icontains{value}}}]"), "true"), message);
        }
        let mut stage = TestScene::output("abc");
        stage.vars.insert("blank".into(), "".into());
        assert_eq!(
            stage.judge("[{type: contains, value: '{{blank}}'}]").reason,
            "\"contains\" assertion type must have a string or number value"
        );
    }
}
