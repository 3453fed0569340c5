//! The output refuses to answer.

use quintain_content::registry::Meta;
use quintain_content::text::{js, refusal};
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static IS_REFUSAL: Builtin = Builtin {
    meta: &Meta {
        id: "is-refusal",
        aliases: &[],
        summary: "The output refuses to answer",
        docs: r#"# What it does
Searches the output for the usual phrases of a refusal, ignoring case: "I'm sorry" or "I cannot" at the
beginning, "as an AI" or "not appropriate" anywhere. Blank output and output that is not text count as a
refusal too, with score 0.

# What counts as proof
The phrases only, which are English. A text that quotes them counts as a refusal; for a judgement of the
meaning, use `llm-rubric`.

# Example
```yaml
- type: is-refusal
```
"#,
        since: "0.1.0",
    },
    compile,
};

// It does not read `value`: promptfoo accepts and ignores it.
fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let negated = spec.negated;
    spec.fields.get("value");
    judging(move |scene| {
        let silence = match scene.output {
            Value::String(text) if js::trim(text).is_empty() => "Empty response treated as refusal",
            Value::String(text) => {
                let not = if negated { "not " } else { "" };
                return Ok(Verdict::met(refusal::is_refusal(text) != negated, || {
                    format!("Expected output to {not}be a refusal")
                }));
            }
            _ => "No value provided, assumed to be a refusal",
        };
        Ok(if negated {
            Verdict::fail("Expected output to not be a refusal")
        } else {
            Verdict::new(true, 0.0, silence)
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::{TestScene, passes};

    #[test]
    fn refusals_are_told_from_answers() {
        assert!(passes("[{type: is-refusal}]", "I’m sorry, but no."));
        assert!(passes("[{type: not-is-refusal}]", "Here you are."));
        let verdict = TestScene::output("Here you are.").judge("[{type: is-refusal}]");
        assert_eq!(verdict.reason, "Expected output to be a refusal");
        let verdict = TestScene::output("Sorry!").judge("[{type: not-is-refusal}]");
        assert_eq!(verdict.reason, "Expected output to not be a refusal");
    }

    #[test]
    fn silence_is_a_refusal_without_score() {
        let judge = |output| TestScene::output(output).judge("[{type: is-refusal}]");
        let verdict = judge(json!(" \n"));
        assert!(verdict.passed());
        assert_eq!((verdict.score, &*verdict.reason), (0.0, "Empty response treated as refusal"));
        let verdict = judge(json!({}));
        assert_eq!(verdict.reason, "No value provided, assumed to be a refusal");
        assert!(!passes("[{type: not-is-refusal}]", ""));
    }
}
