//! The output starts with a text.

use quintain_content::registry::Meta;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static STARTS_WITH: Builtin = Builtin {
    meta: &Meta {
        id: "starts-with",
        aliases: &[],
        summary: "The output starts with a text",
        docs: r"# What it does
Compares the beginning of the output with `value`. Case and white space count.

# Example
```yaml
- type: starts-with
  value: 'Yes'
```
",
        since: "0.1.0",
    },
    compile,
};

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    let beginning = spec.expect(|value| match value {
        Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
        _ => Err("\"starts-with\" assertion type must have a string value".to_owned()),
    });
    judging(move |scene| {
        let beginning = beginning.get(scene)?;
        let starts = scene.text().starts_with(&**beginning);
        let not = if negated { "not " } else { "" };
        Ok(Verdict::met(starts != negated, || {
            format!("Expected output to {not}start with \"{beginning}\"")
        }))
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestScene, flaw, passes};

    #[test]
    fn only_the_beginning_counts() {
        assert!(passes("[{type: starts-with, value: Yes}]", "Yes, sir"));
        assert!(!passes("[{type: starts-with, value: Yes}]", " Yes"));
        assert!(!passes("[{type: starts-with, value: Yes}]", "yes"));
        assert!(!passes("[{type: starts-with, value: Yes}]", ""));
        assert!(passes("[{type: not-starts-with, value: Yes}]", "No"));
    }

    #[test]
    fn the_reason_names_the_beginning() {
        let stage = TestScene::output("No");
        let verdict = stage.judge("[{type: starts-with, value: Yes}]");
        assert_eq!(verdict.reason, "Expected output to start with \"Yes\"");
        let verdict = stage.judge("[{type: not-starts-with, value: N}]");
        assert_eq!(verdict.reason, "Expected output to not start with \"N\"");
    }

    #[test]
    fn values_that_are_no_text_are_mistakes() {
        for value in ["", ", value: ''", ", value: 42"] {
            assert_eq!(
                flaw(&format!("[{{type: starts-with{value}}}]"), "42"),
                "\"starts-with\" assertion type must have a string value"
            );
        }
    }
}
