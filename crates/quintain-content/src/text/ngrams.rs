//! Sequences of tokens that two texts have in common.

use std::collections::HashMap;

/// How many sequences of `n` tokens there are.
pub fn total(tokens: &[&str], n: usize) -> usize {
    (tokens.len() + 1).saturating_sub(n)
}

/// How many sequences of `n` tokens of the candidate are in the reference as well, each of them at
/// most as often as there.
pub fn clipped(candidate: &[&str], reference: &[&str], n: usize) -> usize {
    let mut left: HashMap<&[&str], usize> = HashMap::new();
    for gram in reference.windows(n) {
        *left.entry(gram).or_default() += 1;
    }
    let matches = candidate.windows(n).filter(|gram| match left.get_mut(gram) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    });
    matches.count()
}

/// A share as a number.
pub fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_counts_as_often_as_it_is_there_in_both() {
        let (a, b) = (["a", "b", "a", "b", "a"], ["a", "b", "c", "a"]);
        assert_eq!(clipped(&a, &b, 1), 3);
        assert_eq!(clipped(&a, &b, 2), 1);
        assert_eq!(clipped(&b, &a, 1), 3);
        assert_eq!(clipped(&a, &b, 9), 0);
        assert_eq!((total(&a, 1), total(&a, 5), total(&a, 6), total(&[], 1)), (5, 1, 0, 0));
    }
}
