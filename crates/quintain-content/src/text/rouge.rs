//! ROUGE-1 (Lin, 2004): the words that two texts have in common, as a mean of precision and recall.

use super::ngrams::{clipped, share};
use super::treebank;

/// Of texts that are already in lower case.
pub fn rouge_1(candidate: &str, reference: &str) -> f64 {
    let (candidate, reference) = (treebank::tokens(candidate), treebank::tokens(reference));
    let candidate: Vec<_> = treebank::split(&candidate).collect();
    let reference: Vec<_> = treebank::split(&reference).collect();
    match clipped(&candidate, &reference, 1) {
        0 => 0.0,
        common => f1(share(common, candidate.len()), share(common, reference.len())),
    }
}

/// The harmonic mean, in the order of operations that keeps promptfoo's last digits.
#[expect(clippy::float_cmp, reason = "equal shares need no mean")]
fn f1(precision: f64, recall: f64) -> f64 {
    if precision == recall {
        return precision;
    }
    let (less, more) = (precision.min(recall), precision.max(recall));
    more.min(less * (2.0 / (1.0 + less / more)))
}

#[cfg(test)]
#[expect(clippy::unreadable_literal, reason = "numbers as they were recorded")]
mod tests {
    use super::*;

    /// Recorded from promptfoo.
    #[test]
    fn rouge_1_is_that_of_promptfoo() {
        for (candidate, reference, score) in [
            ("The cat sat on the mat.", "The cat sat on the mat.", 1.0),
            ("The cat sat on the mat.", "A cat was sitting on the mat.", 0.6666666666666666),
            ("the the the the", "the cat", 0.3333333333333333),
            ("Hello", "hello world", 0.6666666666666666),
            ("It's a test, isn't it?", "This is a test, is it not?", 0.6666666666666666),
            (
                "one two three four five six",
                "one two three four five seven eight",
                0.7692307692307692,
            ),
            ("", "", 0.0),
            (" ", "x", 0.0),
            ("x", " ", 0.0),
            ("Straße İstanbul 👍 ok.", "STRASSE istanbul 👍 OK", 0.4444444444444445),
            ("He said \"yes\" at 5:30.", "he said \"yes\" at 5:30", 0.9333333333333333),
            ("a b c d e f g h", "h g f e d c b a", 1.0),
            ("...", "...", 1.0),
            ("cats running quickly", "cat runs quick", 0.0),
            (
                "the quick brown fox jumps over the lazy dog",
                "the fast brown fox jumped over the sleepy dog",
                0.6666666666666666,
            ),
        ] {
            let found = rouge_1(&candidate.to_lowercase(), &reference.to_lowercase());
            assert!((found - score).abs() <= 1e-15, "{candidate}: {found} {score}");
        }
    }
}
