//! BLEU (Papineni et al., 2002) and GLEU (Wu et al., 2016): how much of a text is in a reference.

use super::js;
use super::ngrams::{clipped, share, total};

/// Lengths of the token sequences that are compared.
const ORDERS: std::ops::RangeInclusive<usize> = 1..=4;
/// Stands for a precision of zero, of which there is no logarithm.
const NEARLY_NOTHING: f64 = 1e-7;

/// BLEU of a text that is already in lower case, as is every reference. Orders that the text is
/// too short for do not count. 0 for blank text.
pub fn bleu(candidate: &str, references: &[String]) -> f64 {
    let candidate: Vec<_> = js::words(candidate).collect();
    if candidate.is_empty() {
        return 0.0;
    }
    let references: Vec<Vec<_>> = references.iter().map(|text| words_or_blank(text)).collect();
    let precisions = ORDERS.filter(|n| total(&candidate, *n) > 0).map(|n| {
        let best = references.iter().map(|reference| clipped(&candidate, reference, n)).max();
        match best.unwrap_or(0) {
            0 => NEARLY_NOTHING,
            best => share(best, total(&candidate, n)),
        }
    });
    let precisions: Vec<f64> = precisions.collect();
    // The sum and the quotient in promptfoo's order, for the same last digits.
    let sum = precisions.iter().fold(0.0, |sum, _| sum + 0.25);
    let mean = precisions.iter().fold(0.0, |mean, precision| mean + 0.25 / sum * precision.ln());
    brevity(candidate.len(), &references) * mean.exp()
}

/// The penalty for a text that is shorter than the reference that is nearest in length.
fn brevity(length: usize, references: &[Vec<&str>]) -> f64 {
    let lengths = references.iter().map(Vec::len);
    let closest = lengths.min_by_key(|other| (other.abs_diff(length), *other)).unwrap_or(0);
    if length > closest { 1.0 } else { (1.0 - share(closest, length)).exp() }
}

/// Blank text is one empty word, as JavaScript splits it.
fn words_or_blank(text: &str) -> Vec<&str> {
    let words: Vec<_> = js::words(text).collect();
    if words.is_empty() { vec![""] } else { words }
}

/// GLEU of a text that is already in lower case, against the reference that is most like it.
pub fn gleu(candidate: &str, references: &[String]) -> f64 {
    let candidate = words_without_dots(candidate);
    if candidate.is_empty() {
        return 0.0;
    }
    let scores = references.iter().map(|reference| {
        let reference = words_without_dots(reference);
        if candidate == reference {
            return 1.0;
        }
        let matches: usize = ORDERS.map(|n| clipped(&candidate, &reference, n)).sum();
        let of = |tokens: &[&str]| ORDERS.map(|n| total(tokens, n)).sum::<usize>();
        match (of(&candidate), of(&reference)) {
            (_, 0) => 0.0,
            (mine, theirs) => share(matches, mine).min(share(matches, theirs)),
        }
    });
    scores.fold(0.0, f64::max)
}

/// The words without the dots at their ends; none if nothing else is there.
fn words_without_dots(text: &str) -> Vec<&str> {
    let words: Vec<_> = js::words(text).map(|word| word.trim_end_matches('.')).collect();
    if words.iter().all(|word| word.is_empty()) { Vec::new() } else { words }
}

#[cfg(test)]
#[expect(clippy::unreadable_literal, reason = "numbers as they were recorded")]
mod tests {
    use super::*;

    /// Recorded from promptfoo.
    #[test]
    fn bleu_is_that_of_promptfoo() {
        for (candidate, references, score) in [
            ("The cat sat on the mat.", &["The cat sat on the mat."][..], 1.0),
            (
                "The cat sat on the mat.",
                &["A cat was sitting on the mat."][..],
                0.007648825826302761,
            ),
            ("the the the the", &["the cat"][..], 3.976353643835251e-06),
            ("Hello", &["hello world"][..], 0.36787944117144233),
            ("It's a test, isn't it?", &["This is a test, is it not?"][..], 0.00011920163360015208),
            (
                "one two three four five six",
                &["one two three four five seven eight"][..],
                0.6431870218238024,
            ),
            ("", &[""][..], 0.0),
            (" ", &["x"][..], 0.0),
            ("x", &[" "][..], 9.999999999999994e-08),
            ("Straße İstanbul 👍 ok.", &["STRASSE istanbul 👍 OK"][..], 3.976353643835251e-06),
            ("He said \"yes\" at 5:30.", &["he said \"yes\" at 5:30"][..], 0.668740304976422),
            ("a b c d e f g h", &["h g f e d c b a"][..], 5.623413251903494e-06),
            ("...", &["..."][..], 1.0),
            ("cats running quickly", &["cat runs quick"][..], 1.0000000000000029e-07),
            (
                "the quick brown fox jumps over the lazy dog",
                &["the fast brown fox jumped over the sleepy dog"][..],
                0.0002020515504676623,
            ),
            ("The cat is here", &["a dog", "the cat is there", "cat"][..], 0.012574334296829352),
            ("a b c", &["a b", "a b c d"][..], 1.0),
            ("x y", &["x y z", "x"][..], 1.0),
            ("the cat", &["the cat.", "the"][..], 0.00022360679774997909),
        ] {
            let lower: Vec<_> = references.iter().map(|text| text.to_lowercase()).collect();
            let found = bleu(&candidate.to_lowercase(), &lower);
            assert!((found - score).abs() <= 1e-15, "{candidate}: {found} {score}");
        }
    }

    /// Recorded from promptfoo.
    #[test]
    fn gleu_is_that_of_promptfoo() {
        for (candidate, references, score) in [
            ("The cat sat on the mat.", &["The cat sat on the mat."][..], 1.0),
            ("The cat sat on the mat.", &["A cat was sitting on the mat."][..], 0.3181818181818182),
            ("the the the the", &["the cat"][..], 0.1),
            ("Hello", &["hello world"][..], 0.3333333333333333),
            ("It's a test, isn't it?", &["This is a test, is it not?"][..], 0.13636363636363635),
            (
                "one two three four five six",
                &["one two three four five seven eight"][..],
                0.6363636363636364,
            ),
            ("", &[""][..], 0.0),
            (" ", &["x"][..], 0.0),
            ("x", &[" "][..], 0.0),
            ("Straße İstanbul 👍 ok.", &["STRASSE istanbul 👍 OK"][..], 0.3),
            ("He said \"yes\" at 5:30.", &["he said \"yes\" at 5:30"][..], 1.0),
            ("a b c d e f g h", &["h g f e d c b a"][..], 0.3076923076923077),
            ("...", &["..."][..], 0.0),
            ("cats running quickly", &["cat runs quick"][..], 0.0),
            (
                "the quick brown fox jumps over the lazy dog",
                &["the fast brown fox jumped over the sleepy dog"][..],
                0.26666666666666666,
            ),
            ("The cat is here", &["a dog", "the cat is there", "cat"][..], 0.6),
            ("a b c", &["a b", "a b c d"][..], 0.6),
            ("x y", &["x y z", "x"][..], 0.5),
            ("the cat", &["the cat.", "the"][..], 1.0),
        ] {
            let lower: Vec<_> = references.iter().map(|text| text.to_lowercase()).collect();
            let found = gleu(&candidate.to_lowercase(), &lower);
            assert!((found - score).abs() <= 1e-15, "{candidate}: {found} {score}");
        }
    }
}
