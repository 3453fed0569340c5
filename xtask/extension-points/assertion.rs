//! The output ends with a text.

use quintain_content::registry::Meta;
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static ENDS_WITH: Builtin = Builtin {
    meta: &Meta {
        id: "ends-with",
        aliases: &[],
        summary: "The output ends with a text",
        docs: r"# What it does
Compares the end of the output with `value`, letter by letter. White space counts.

# Example
```yaml
- type: ends-with
  value: 'Goodbye.'
```
",
        since: "0.1.0",
    },
    compile,
};

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    let end = spec.expect(|value| match value {
        Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
        _ => Err("`ends-with` needs a text as its value".to_owned()),
    });
    judging(move |scene| {
        let end = end.get(scene)?;
        let ends = scene.text().ends_with(&**end);
        let not = if negated { "not " } else { "" };
        Ok(Verdict::met(ends != negated, || format!("Expected output to {not}end with \"{end}\"")))
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::passes;

    #[test]
    fn only_the_end_counts() {
        assert!(passes("[{type: ends-with, value: sir}]", "Yes, sir"));
        assert!(!passes("[{type: ends-with, value: sir}]", "sir?"));
        assert!(!passes("[{type: ends-with, value: sir}]", ""));
        assert!(passes("[{type: not-ends-with, value: sir}]", "No"));
    }
}
