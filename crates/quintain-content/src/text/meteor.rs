//! METEOR (Banerjee and Lavie, 2005) without synonyms: words are paired if they or their stems are
//! the same.

use std::collections::HashMap;

use super::js;
use super::ngrams::share;
use super::porter::stem;

#[derive(Debug, Clone, Copy)]
pub struct Weights {
    /// Of precision, against recall.
    pub alpha: f64,
    /// How quickly disorder counts.
    pub beta: f64,
    /// How much disorder can take off.
    pub gamma: f64,
}

/// The score against the reference that is most like it. All texts are in lower case already.
pub fn meteor(candidate: &str, references: &[String], weights: Weights) -> f64 {
    let candidate = words(candidate);
    let scores = references.iter().map(|reference| single(&candidate, &words(reference), weights));
    scores.fold(0.0, f64::max)
}

/// JavaScript's `split(/\s+/)`: white space at the ends gives empty words. Periods at the end of
/// words do not count.
fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<_> = js::words(text).map(|word| word.trim_end_matches('.')).collect();
    if words.is_empty() || text.starts_with(js::is_space) {
        words.insert(0, "");
    }
    if text.ends_with(js::is_space) {
        words.push("");
    }
    words
}

fn single(candidate: &[&str], reference: &[&str], weights: Weights) -> f64 {
    let (mine, theirs): (Vec<_>, Vec<_>) = (indexed(candidate), indexed(reference));
    let (mut pairs, mine, theirs) = pair(&mine, &theirs);
    let stems = |words: &[(usize, &str)]| -> Vec<(usize, String)> {
        words.iter().map(|(at, word)| (*at, stem(word))).collect()
    };
    let (mine, theirs) = (stems(&mine), stems(&theirs));
    pairs.extend(pair(&borrowed(&mine), &borrowed(&theirs)).0);
    if pairs.is_empty() {
        return 0.0;
    }
    pairs.sort_unstable();
    let precision = share(pairs.len(), candidate.len());
    let recall = share(pairs.len(), reference.len());
    let weighed = weights.alpha * precision + (1.0 - weights.alpha) * recall;
    if weighed == 0.0 {
        return 0.0;
    }
    let breaks = pairs.windows(2).filter(|two| two[1] != (two[0].0 + 1, two[0].1 + 1)).count();
    let disorder = share(breaks + 1, pairs.len());
    (1.0 - weights.gamma * disorder.powf(weights.beta)) * (precision * recall / weighed)
}

type Indexed<'a> = Vec<(usize, &'a str)>;

fn indexed<'a>(words: &[&'a str]) -> Indexed<'a> {
    words.iter().copied().enumerate().collect()
}

fn borrowed(words: &[(usize, String)]) -> Indexed<'_> {
    words.iter().map(|(at, word)| (*at, word.as_str())).collect()
}

/// Pairs equal words, from the end of both texts on; what is left over follows.
fn pair<'a>(
    mine: &[(usize, &'a str)],
    theirs: &[(usize, &'a str)],
) -> (Vec<(usize, usize)>, Indexed<'a>, Indexed<'a>) {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, (_, word)) in theirs.iter().enumerate() {
        places.entry(word).or_default().push(place);
    }
    let mut taken = vec![false; theirs.len()];
    let (mut pairs, mut left) = (Vec::new(), Vec::new());
    for (at, word) in mine.iter().rev() {
        match places.get_mut(word).and_then(Vec::pop) {
            Some(place) => {
                taken[place] = true;
                pairs.push((*at, theirs[place].0));
            }
            None => left.push((*at, *word)),
        }
    }
    left.reverse();
    let others = theirs.iter().zip(taken).filter(|(_, taken)| !taken).map(|(word, _)| *word);
    (pairs, left, others.collect())
}

#[cfg(test)]
#[expect(clippy::unreadable_literal, reason = "numbers as they were recorded")]
mod tests {
    use super::*;

    /// Recorded from promptfoo's own function, with a WordNet that knows no words.
    #[test]
    fn scores_are_those_of_promptfoo_without_synonyms() {
        for (candidate, references, score) in [
            ("the cat sat on the mat.", &["the cat sat on the mat."][..], 0.9976851851851852),
            ("the cat sat on the mat", &["on the mat sat the cat"], 0.5),
            ("cats running quickly", &["cat runs quick"], 0.625),
            (
                "the quick brown fox jumps over the lazy dog",
                &["the fast brown fox jumped over the sleepy dog"],
                0.7471655328798186,
            ),
            ("a b", &["x", "b a c"], 0.3448275862068965),
            (" a b ", &["a b"], 0.8522727272727273),
            ("one one two", &["two one"], 0.4761904761904762),
            (
                "it is a guide to action which ensures that the military always obeys the \
                 commands of the party",
                &["it is a guide to action that ensures that the military will forever heed \
                   party commands"],
                0.6944444444444445,
            ),
        ] {
            let references: Vec<_> = references.iter().map(|text| (*text).to_owned()).collect();
            let weights = Weights { alpha: 0.9, beta: 3.0, gamma: 0.5 };
            let found = meteor(candidate, &references, weights);
            assert!((found - score).abs() <= 1e-15, "{candidate}: {found} {score}");
        }
    }
}
