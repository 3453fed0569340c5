//! BLEU and GLEU: how many word sequences the output shares with a reference.

use quintain_content::registry::Meta;
use quintain_content::text::bleu::{bleu, gleu};
use quintain_content::text::js;
use quintain_evidence::verdict::Verdict;

use super::references::references;
use crate::check::{Builtin, Check, Spec, judging};

pub(super) static BLEU: Builtin = Builtin {
    meta: &Meta {
        id: "bleu",
        aliases: &[],
        summary: "The word sequences of the output occur in a reference (BLEU)",
        docs: r"# What it does
Computes the BLEU score of the output: the mean share of sequences of one to four words that also occur
in a reference, with a penalty for output that is too short. `value` is a reference or a list of
references. Ignores case, but not punctuation. Passes if the score is at least `threshold` (default 0.5).

# What counts as proof
The score. BLEU is designed for long texts: short texts without a common sequence of four words score
close to 0. `gleu` suits single sentences better.

# Example
```yaml
- type: bleu
  value:
    - The cat sat on the mat
    - A cat was sitting on the mat
  threshold: 0.4
```
",
        since: "0.1.0",
    },
    compile: |spec| compile(spec, &IN_BLEU),
};

pub(super) static GLEU: Builtin = Builtin {
    meta: &Meta {
        id: "gleu",
        aliases: &[],
        summary: "The output and a reference share their word sequences (GLEU)",
        docs: r"# What it does
Computes the GLEU score of the output: the share of sequences of one to four words that output and
reference have in common, relative to the longer of the two. `value` is a reference or a list of
references, of which the best match counts. Ignores case and periods at the end of words. Passes if the
score is at least `threshold` (default 0.5).

# Example
```yaml
- type: gleu
  value: The cat sat on the mat
  threshold: 0.6
```
",
        since: "0.1.0",
    },
    compile: |spec| compile(spec, &IN_GLEU),
};

struct Score {
    name: &'static str,
    of: fn(&str, &[String]) -> f64,
    /// How the reason of a failed `not-` compares the score with the threshold.
    reached: &'static str,
    no_text: &'static str,
}

static IN_BLEU: Score = Score {
    name: "BLEU",
    of: bleu,
    reached: "greater than",
    no_text: "\"bleu\" assertion type must have a string or array of strings value",
};

static IN_GLEU: Score = Score {
    name: "GLEU",
    of: gleu,
    reached: "greater than or equal to",
    no_text: "\"gleu\" assertion must have a string or array of strings value",
};

fn compile(spec: &mut Spec<'_, '_>, how: &'static Score) -> Option<Box<dyn Check>> {
    let (negated, threshold) = (spec.negated, spec.threshold().unwrap_or(0.5));
    let references = spec.expect(|value| references(value, how.no_text));
    judging(move |scene| {
        let score = (how.of)(&scene.text().to_lowercase(), &references.get(scene)?);
        let pass = (score >= threshold) != negated;
        let shown = if negated { 1.0 - score } else { score };
        if pass {
            return Ok(Verdict::new(true, shown, "Assertion passed"));
        }
        let relation = if negated { how.reached } else { "less than" };
        let (four_digits, threshold) = (js::to_fixed(score, 4), js::number(threshold));
        let reason =
            format!("{} score {four_digits} is {relation} threshold {threshold}", how.name);
        Ok(Verdict::new(false, shown, reason))
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestScene, flaw, passes};

    #[test]
    fn reasons_and_scores_are_those_of_promptfoo() {
        let stage = TestScene::output("Hello");
        let verdict = stage.judge("[{type: bleu, value: hello world}]");
        assert_eq!(verdict.reason, "BLEU score 0.3679 is less than threshold 0.5");
        let verdict = stage.judge("[{type: gleu, value: hello world, threshold: 0.6}]");
        assert_eq!(verdict.reason, "GLEU score 0.3333 is less than threshold 0.6");
        let verdict = stage.judge("[{type: not-bleu, value: hello}]");
        assert_eq!(verdict.reason, "BLEU score 1.0000 is greater than threshold 0.5");
        let verdict = stage.judge("[{type: not-gleu, value: hello}]");
        assert_eq!(verdict.reason, "GLEU score 1.0000 is greater than or equal to threshold 0.5");
        let verdict = stage.judge("[{type: not-gleu, value: hello world}]");
        assert!(verdict.passed());
        assert!((verdict.score - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn the_best_reference_counts() {
        assert!(passes("[{type: bleu, value: [a b, a b c d]}]", "a b c"));
        assert!(passes("[{type: gleu, value: [a b, a b c d], threshold: 0.6}]", "a b c"));
        assert!(!passes("[{type: gleu, value: [a b], threshold: 0.6}]", "a b c"));
    }

    #[test]
    fn other_values_are_mistakes() {
        for value in ["", ", value: 42", ", value: [a, 1]"] {
            assert_eq!(
                flaw(&format!("[{{type: bleu{value}}}]"), "x"),
                "\"bleu\" assertion type must have a string or array of strings value"
            );
            assert_eq!(
                flaw(&format!("[{{type: gleu{value}}}]"), "x"),
                "\"gleu\" assertion must have a string or array of strings value"
            );
        }
        assert_eq!(flaw("[{type: bleu, value: []}]", "x"), "Invalid inputs");
    }
}
