//! Where texts occur in other texts. Many texts are looked for at once, so that the time grows with the length of all
//! texts and not with its square.

use std::collections::HashMap;

use aho_corasick::AhoCorasick;

/// Texts that contain each other could match at every place; more matches say no more.
const MAX_MATCHES: usize = 10_000_000;

/// The first place of each of the texts that were looked for.
#[derive(Debug, Default)]
pub(crate) struct Occurrences {
    first: HashMap<String, usize>,
}

impl Occurrences {
    /// Looks for `wanted` in texts, each of which has a place. The places must not decrease.
    pub(crate) fn find<'t>(
        wanted: impl IntoIterator<Item = String>,
        texts: impl IntoIterator<Item = (usize, &'t str)>,
    ) -> Self {
        let mut wanted: Vec<String> = wanted.into_iter().filter(|text| !text.is_empty()).collect();
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return Self::default();
        }
        let Ok(automaton) = AhoCorasick::new(&wanted) else { return Self::default() };
        let mut first: Vec<Option<usize>> = vec![None; wanted.len()];
        let mut missing = wanted.len();
        let mut matches = 0;
        for (place, text) in texts {
            for found in automaton.find_overlapping_iter(text) {
                let entry = &mut first[found.pattern().as_usize()];
                missing -= usize::from(entry.is_none());
                entry.get_or_insert(place);
                matches += 1;
                if missing == 0 || matches > MAX_MATCHES {
                    break;
                }
            }
            if missing == 0 || matches > MAX_MATCHES {
                break;
            }
        }
        let found = wanted.into_iter().zip(first);
        Self { first: found.filter_map(|(text, place)| Some((text, place?))).collect() }
    }

    /// The first place of a text.
    pub(crate) fn first(&self, text: &str) -> Option<usize> {
        self.first.get(text).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_counts() {
        let wanted = ["ab", "b", "zz", "abab"].map(str::to_owned);
        let found = Occurrences::find(wanted, [(1, "x"), (3, "cab"), (7, "abab")]);
        assert_eq!(
            (found.first("ab"), found.first("b"), found.first("abab"), found.first("zz")),
            (Some(3), Some(3), Some(7), None)
        );
        assert_eq!(Occurrences::find([], [(0, "a")]).first("a"), None);
    }
}
