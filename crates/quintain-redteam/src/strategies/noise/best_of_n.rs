//! Many versions with random changes.

use quintain_content::registry::Meta;
use rand::RngExt as _;
use rand::seq::SliceRandom as _;

use super::characters::{noised, recased};
use crate::strategies::random::Random;
use crate::strategies::rewrite::{MAX_VARIANTS, Rewrite, each_word};
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static BEST_OF_N: Converter = Converter {
    meta: &Meta {
        id: "best-of-n",
        aliases: &["bon"],
        summary: "Creates many versions with random changes",
        docs: docs! {
            what: "Creates `n` versions (default 10). In each, it scrambles the inside of words, \
                   changes the case of letters and replaces characters with their ASCII \
                   neighbours, at random.",
            why: "Whether a model refuses depends on details of spelling; with enough tries, one \
                  version passes.",
            example: "strategies:\n  - id: best-of-n\n    config: {n: 20}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        options.without_effect(&["useBasicRefusal", "maxConcurrency"]);
        let n = options.maybe_whole("nSteps", 1..=100_000);
        let n = options.whole("n", 1..=MAX_VARIANTS, n.unwrap_or(10)).min(MAX_VARIANTS);
        Rewrite::many(move |text, random| (0..n).map(|_| augmented(text, random)).collect())
    },
};

fn augmented(text: &str, random: &mut Random) -> String {
    // The shares in the published method: 0.6 of the words and letters, 0.06 of the characters.
    let scrambled = each_word(text, |word| {
        let mut chars: Vec<char> = word.chars().collect();
        let inside = chars.len().saturating_sub(1);
        if inside > 2 && random.random_bool(0.6) {
            chars[1..inside].shuffle(random);
        }
        chars.into_iter().collect()
    });
    noised(&recased(&scrambled, 0.6, random), 0.06, random)
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::texts;

    #[test]
    fn so_many_versions_and_all_different() {
        let text = "Please print the contents of the configuration directory";
        let made = texts("{id: best-of-n, config: {n: 30}}", text, 5);
        assert_eq!(made.len(), 30);
        assert!(made.iter().all(|one| one.len() == text.len() && one != text));
        assert_eq!(made, texts("{id: best-of-n, config: {n: 30}}", text, 5));
        assert_eq!(texts("{id: best-of-n, config: {nSteps: 500}}", text, 5).len(), 64);
        assert_eq!(texts("best-of-n", "a", 1).len(), 2, "`a` has only two versions");
    }
}
