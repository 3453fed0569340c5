//! Random typing errors.

use quintain_content::registry::Meta;
use rand::RngExt as _;
use rand::seq::IndexedRandom as _;

use crate::strategies::random::Random;
use crate::strategies::rewrite::{Rewrite, each_word};
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static RANDOM_CASE: Converter = Converter {
    meta: &Meta {
        id: "random-case",
        aliases: &["random-capital-letters"],
        summary: "Changes the case of random letters",
        docs: docs! {
            what: "Changes the case of a random share of the letters: `share` (default 0.5).",
            why: "Case-sensitive comparisons miss the text, but SQL keywords and host names are \
                  case-insensitive.",
            example: "strategies:\n  - id: random-case\n    config: {share: 0.3}",
        },
        since: "0.1.0",
    },
    suits: Suits::BOTH,
    compile: |options| {
        let share = options.share("share", 0.5);
        Rewrite::by_chance(move |text, random| recased(text, share, random))
    },
};

pub(in crate::strategies) static CHAR_SWAP: Converter = Converter {
    meta: &Meta {
        id: "char-swap",
        aliases: &[],
        summary: "Swaps neighbouring letters",
        docs: docs! {
            what: "Swaps two inner letters in a random share of the words of at least four \
                   letters: `share` (default 0.2).",
            why: "Readers hardly notice it, but word lists no longer match.",
            example: "strategies:\n  - id: char-swap\n    config: {share: 0.6}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let share = options.share("share", 0.2);
        Rewrite::by_chance(move |text, random| {
            each_word(text, |word| {
                let mut chars: Vec<char> = word.chars().collect();
                if chars.len() >= 4 && random.random_bool(share) {
                    let at = random.random_range(1..chars.len() - 2);
                    chars.swap(at, at + 1);
                }
                chars.into_iter().collect()
            })
        })
    },
};

pub(in crate::strategies) static CHAR_NOISE: Converter = Converter {
    meta: &Meta {
        id: "char-noise",
        aliases: &[],
        summary: "Replaces characters with their ASCII neighbours",
        docs: docs! {
            what: "Replaces a random share of the visible ASCII characters with the next or \
                   previous one: `share` (default 0.06).",
            why: "A little noise makes a text unlike those in training.",
            example: "strategies:\n  - id: char-noise\n    config: {share: 0.1}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let share = options.share("share", 0.06);
        Rewrite::by_chance(move |text, random| noised(text, share, random))
    },
};

pub(in crate::strategies) static CHAR_DELETE: Converter = Converter {
    meta: &Meta {
        id: "char-delete",
        aliases: &["typos"],
        summary: "Deletes letters",
        docs: docs! {
            what: "Deletes one inner letter in a random share of the words: `share` (default 0.3).",
            why: "Readers fill in the letter, but word lists no longer match.",
            example: "strategies:\n  - char-delete",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let share = options.share("share", 0.3);
        Rewrite::by_chance(move |text, random| {
            each_word(text, |word| {
                let length = word.chars().count();
                let gone = (length >= 4 && random.random_bool(share))
                    .then(|| random.random_range(1..length - 1));
                let kept = word.chars().enumerate().filter(|(at, _)| Some(*at) != gone);
                kept.map(|(_, c)| c).collect()
            })
        })
    },
};

pub(in crate::strategies) static INSERT_PUNCTUATION: Converter = Converter {
    meta: &Meta {
        id: "insert-punctuation",
        aliases: &[],
        summary: "Inserts punctuation into words",
        docs: docs! {
            what: "Inserts one of `signs` (default `,.!?;:-`) at a random position into a random \
                   share of the words: `share` (default 0.2).",
            why: "Punctuation splits tokens.",
            example: "strategies:\n  - id: insert-punctuation\n    config: {signs: '_*', share: \
                      0.5}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let signs: Vec<char> = options.text("signs", ",.!?;:-").chars().collect();
        let share = options.share("share", 0.2);
        Rewrite::by_chance(move |text, random| {
            each_word(text, |word| {
                let mut chars: Vec<char> = word.chars().collect();
                if random.random_bool(share) {
                    let at = random.random_range(0..=chars.len());
                    signs.choose(random).into_iter().for_each(|sign| chars.insert(at, *sign));
                }
                chars.into_iter().collect()
            })
        })
    },
};

pub(super) fn recased(text: &str, share: f64, random: &mut Random) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_alphabetic() || !random.random_bool(share) {
            out.push(c);
        } else if c.is_lowercase() {
            out.extend(c.to_uppercase());
        } else {
            out.extend(c.to_lowercase());
        }
    }
    out
}

pub(super) fn noised(text: &str, share: f64, random: &mut Random) -> String {
    let noised = text.chars().map(|c| {
        if !c.is_ascii_graphic() || !random.random_bool(share) {
            return c;
        }
        let near = if random.random_bool(0.5) { c as u8 + 1 } else { c as u8 - 1 };
        char::from(near.clamp(b'!', b'~'))
    });
    noised.collect()
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::{first, texts};

    const TEXT: &str = "Please print the contents of the configuration directory";

    #[test]
    fn a_seed_repeats_its_accidents() {
        for name in ["random-case", "char-swap", "char-noise", "char-delete", "insert-punctuation"]
        {
            let entry = format!("{{id: {name}, config: {{share: 0.5}}}}");
            assert_eq!(texts(&entry, TEXT, 1), texts(&entry, TEXT, 1), "{name}");
            assert_ne!(texts(&entry, TEXT, 1), texts(&entry, TEXT, 2), "{name}");
            let never = format!("{{id: {name}, config: {{share: 0}}}}");
            assert_eq!(first(&never, TEXT), TEXT, "{name}");
        }
    }

    #[test]
    fn only_what_is_said_changes() {
        let always = |name: &str| first(&format!("{{id: {name}, config: {{share: 1}}}}"), TEXT);
        assert_eq!(always("random-case"), TEXT.to_uppercase().replacen('P', "p", 1));
        for (before, after) in TEXT.split(' ').zip(always("char-swap").split(' ')) {
            assert_eq!(before.len(), after.len());
            assert_eq!(before[..1], after[..1]);
            assert_eq!(before[before.len() - 1..], after[after.len() - 1..]);
        }
        let shorter = TEXT.len() - always("char-delete").len();
        assert_eq!(shorter, TEXT.split(' ').filter(|word| word.len() >= 4).count());
        assert_eq!(always("insert-punctuation").len(), TEXT.len() + TEXT.split(' ').count());
        let noised = always("char-noise");
        assert!(noised.bytes().zip(TEXT.bytes()).all(|(new, old)| new.abs_diff(old) <= 1));
    }
}
