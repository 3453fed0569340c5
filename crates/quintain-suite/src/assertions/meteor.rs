//! METEOR: how many words the output shares with a reference, in any form.

use quintain_content::registry::Meta;
use quintain_content::text::js;
use quintain_content::text::meteor::{Weights, meteor};
use quintain_evidence::verdict::Verdict;

use super::references::references;
use crate::check::{Builtin, Check, Spec, judging};

pub(super) static METEOR: Builtin = Builtin {
    meta: &Meta {
        id: "meteor",
        aliases: &[],
        summary: "The output contains the words of a reference, in any form (METEOR)",
        docs: r"# What it does
Computes the METEOR score of the output: words of output and reference match if they are identical or have
the same stem (`running`, `runs`). The score weighs recall over precision, with a penalty for words in
another order. `value` is a reference or a list of references, of which the best match counts. Passes if
the score is at least `threshold` (default 0.5). `alpha` (default 0.9), `beta` (3) and `gamma` (0.5) are
the weights of precision, of the order and of its penalty.

# What counts as proof
Identical words and stems (Porter stemmer, for English). promptfoo also matches synonyms from WordNet,
which Quintain does not include: a text full of synonyms gets a lower score.

# Example
```yaml
- type: meteor
  value: The cat is sitting on the mat
  threshold: 0.6
```
",
        since: "0.1.0",
    },
    compile,
};

fn compile(spec: &mut Spec<'_, '_>) -> Option<Box<dyn Check>> {
    let (negated, threshold) = (spec.negated, spec.threshold().unwrap_or(0.5));
    let weights = Weights {
        alpha: spec.number("alpha").unwrap_or(0.9),
        beta: spec.number("beta").unwrap_or(3.0),
        gamma: spec.number("gamma").unwrap_or(0.5),
    };
    let no_text = "\"meteor\" assertion must have a string or array of strings value";
    let references = spec.expect(|value| references(value, no_text));
    judging(move |scene| {
        let references = references.get(scene)?;
        let output = scene.text().to_lowercase();
        if output.is_empty() {
            return Ok(Verdict::error("Invalid inputs"));
        }
        let score = meteor(&output, &references, weights);
        let shown = if negated { 1.0 - score } else { score };
        if (score >= threshold) != negated {
            return Ok(Verdict::new(true, shown, "METEOR assertion passed"));
        }
        let (four_digits, threshold) = (js::to_fixed(score, 4), js::number(threshold));
        let reason = format!("METEOR score {four_digits} did not meet threshold {threshold}");
        Ok(Verdict::new(false, shown, reason))
    })
}

#[cfg(test)]
mod tests {
    use quintain_evidence::verdict::Status;

    use crate::testing::{TestScene, flaw, passes};

    #[test]
    fn other_forms_of_the_same_words_count() {
        assert!(passes("[{type: meteor, value: cat runs}]", "Cats running"));
        assert!(!passes("[{type: meteor, value: cat runs}]", "Dogs sleeping"));
        assert!(passes("[{type: not-meteor, value: cat runs}]", "Dogs sleeping"));
        assert!(passes("[{type: meteor, value: [nothing, cats run.]}]", "cat runs"));
    }

    #[test]
    fn the_reason_names_the_score() {
        let stage = TestScene::output("the cat");
        let verdict = stage.judge("[{type: meteor, value: a dog}]");
        assert_eq!(verdict.reason, "METEOR score 0.0000 did not meet threshold 0.5");
        let verdict = stage.judge("[{type: meteor, value: the cat, gamma: 0}]");
        assert_eq!((verdict.score, &*verdict.reason), (1.0, "METEOR assertion passed"));
    }

    #[test]
    fn nothing_to_compare_is_no_pass() {
        let stage = TestScene::output("");
        assert_eq!(stage.judge("[{type: not-meteor, value: a}]").status, Status::Error);
        assert_eq!(
            flaw("[{type: meteor, value: [1]}]", "x"),
            "\"meteor\" assertion must have a string or array of strings value"
        );
    }
}
