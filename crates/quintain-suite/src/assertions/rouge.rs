//! ROUGE-1: how many words the output shares with a reference.

use quintain_content::registry::Meta;
use quintain_content::text::{js, rouge};
use quintain_evidence::verdict::Verdict;
use serde_json::Value;

use crate::check::{Builtin, Check, Spec, judging};

pub(super) static ROUGE_N: Builtin = Builtin {
    meta: &Meta {
        id: "rouge-n",
        aliases: &[],
        summary: "The output shares most words with a reference (ROUGE)",
        docs: r"# What it does
Compares the words of the output with those of `value` (ROUGE-1). The score is the harmonic mean of
precision (the share of words of the output that are in the reference) and recall (the share of words of
the reference that are in the output). Ignores case and order; punctuation marks count as words. Passes if
the score is at least `threshold` (default 0.75).

# Example
```yaml
- type: rouge-n
  value: The quick brown fox jumps over the lazy dog
  threshold: 0.6
```
",
        since: "0.1.0",
    },
    compile,
};

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let (negated, threshold) = (spec.negated, spec.threshold().unwrap_or(0.75));
    let reference = spec.expect(|value| match value {
        Some(Value::String(text)) => Ok(text.to_lowercase()),
        _ => Err("\"rouge\" assertion type must be a string value".to_owned()),
    });
    judging(move |scene| {
        let score = rouge::rouge_1(&scene.text().to_lowercase(), &reference.get(scene)?);
        let enough = score >= threshold;
        let relation = if enough { "greater than or equal to" } else { "less than" };
        let (two_digits, threshold) = (js::to_fixed(score, 2), js::number(threshold));
        let reason = format!("ROUGE-N score {two_digits} is {relation} threshold {threshold}");
        let shown = if negated { 1.0 - score } else { score };
        Ok(Verdict::new(enough != negated, shown, reason))
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestScene, flaw};

    #[test]
    fn the_reason_is_the_same_for_both_verdicts() {
        let stage = TestScene::output("Hello");
        for (kind, threshold, pass) in [("rouge-n", 0.6, true), ("not-rouge-n", 0.6, false)] {
            let yaml = format!("[{{type: {kind}, value: hello world, threshold: {threshold}}}]");
            let verdict = stage.judge(&yaml);
            assert_eq!(verdict.passed(), pass);
            let reason = "ROUGE-N score 0.67 is greater than or equal to threshold 0.6";
            assert_eq!(verdict.reason, reason);
        }
        let verdict = stage.judge("[{type: rouge-n, value: hello world}]");
        assert_eq!(verdict.reason, "ROUGE-N score 0.67 is less than threshold 0.75");
        assert!((verdict.score - 2.0 / 3.0).abs() < 1e-15);
        let verdict = stage.judge("[{type: not-rouge-n, value: hello world}]");
        assert!((verdict.score - 1.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn lists_are_mistakes() {
        for value in ["", ", value: 42", ", value: [a]"] {
            assert_eq!(
                flaw(&format!("[{{type: rouge-n{value}}}]"), "x"),
                "\"rouge\" assertion type must be a string value"
            );
        }
    }
}
