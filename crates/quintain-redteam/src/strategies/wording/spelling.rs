//! Other spellings of words.

use quintain_content::registry::Meta;

use crate::strategies::rewrite::{Rewrite, each_word};
use crate::strategies::strategy::{Converter, Suits};

pub(in crate::strategies) static LEETSPEAK: Converter = Converter {
    meta: &Meta {
        id: "leetspeak",
        aliases: &["leet"],
        summary: "Replaces letters with digits",
        docs: docs! {
            what: "Replaces a, e, i, l, o, s and t with digits that look alike.",
            why: "Readers understand it, but none of its words is in a word list.",
            example: "strategies:\n  - leetspeak",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| {
        Rewrite::chars(|c| {
            Some(match c.to_ascii_lowercase() {
                'a' => "4",
                'e' => "3",
                'i' | 'l' => "1",
                'o' => "0",
                's' => "5",
                't' => "7",
                _ => return None,
            })
        })
    },
};

pub(in crate::strategies) static PIGLATIN: Converter = Converter {
    meta: &Meta {
        id: "piglatin",
        aliases: &["pig-latin"],
        summary: "Pig Latin",
        docs: docs! {
            what: "Moves the consonants at the beginning of a word to its end and adds `ay`; a \
                   word that begins with a vowel gets `way`.",
            why: "Models know this language game; filters do not.",
            example: "strategies:\n  - piglatin",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| Rewrite::one(|text| ascii_runs(text, pig)),
};

pub(in crate::strategies) static CAMELCASE: Converter = Converter {
    meta: &Meta {
        id: "camelcase",
        aliases: &["camel-case"],
        summary: "Joins words in camel case",
        docs: docs! {
            what: "Joins the words; each except the first begins with a capital letter.",
            why: "Word filters rely on word boundaries.",
            example: "strategies:\n  - camelcase",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| Rewrite::one(camelcase),
};

pub(in crate::strategies) static FIRST_LETTER: Converter = Converter {
    meta: &Meta {
        id: "first-letter",
        aliases: &[],
        summary: "Keeps only the first letter of each word",
        docs: docs! {
            what: "Keeps the first letter of each word, separated by `separator` (default a \
                   space).",
            why: "It shows whether a target completes a request from memory.",
            example: "strategies:\n  - id: first-letter\n    config: {separator: '. '}",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |options| {
        let separator = options.text("separator", " ");
        Rewrite::one(move |text| {
            let first = text.split_whitespace().filter_map(|word| word.chars().next());
            first.map(String::from).collect::<Vec<_>>().join(&separator)
        })
    },
};

pub(in crate::strategies) static COLLOQUIAL: Converter = Converter {
    meta: &Meta {
        id: "colloquial",
        aliases: &["colloquial-wordswap"],
        summary: "Replaces formal words with casual ones",
        docs: docs! {
            what: "Replaces common words with casual ones: `you` with `ya`, `please` with `pls`, \
                   `because` with `cuz`.",
            why: "Safety training uses careful English; many people write differently.",
            example: "strategies:\n  - colloquial",
        },
        since: "0.1.0",
    },
    suits: Suits::MODELS,
    compile: |_| {
        Rewrite::one(|text| {
            each_word(text, |word| {
                let casual = CASUAL.iter().find(|(formal, _)| formal.eq_ignore_ascii_case(word));
                casual.map_or(word, |(_, casual)| casual).to_owned()
            })
        })
    },
};

const CASUAL: [(&str, &str); 24] = [
    ("you", "ya"),
    ("your", "ur"),
    ("are", "r"),
    ("please", "pls"),
    ("because", "cuz"),
    ("going", "goin"),
    ("about", "bout"),
    ("them", "em"),
    ("with", "wit"),
    ("the", "da"),
    ("this", "dis"),
    ("that", "dat"),
    ("friend", "pal"),
    ("money", "cash"),
    ("children", "kids"),
    ("child", "kid"),
    ("man", "bloke"),
    ("police", "cops"),
    ("thanks", "ta"),
    ("okay", "k"),
    ("something", "smth"),
    ("before", "b4"),
    ("great", "gr8"),
    ("information", "info"),
];

fn ascii_runs(text: &str, rewrite: impl Fn(&str) -> String) -> String {
    each_word(text, |run| {
        // Only ASCII runs count as words; é splits a word in two.
        let mut out = String::new();
        for piece in run.split_inclusive(|c: char| !c.is_ascii()) {
            let end = piece.find(|c: char| !c.is_ascii()).unwrap_or(piece.len());
            let (word, rest) = piece.split_at(end);
            if !word.is_empty() {
                out.push_str(&rewrite(word));
            }
            out.push_str(rest);
        }
        out
    })
}

fn pig(word: &str) -> String {
    if !word.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return word.to_owned();
    }
    let vowel = |c: char| "aeiou".contains(c.to_ascii_lowercase());
    match word.find(vowel) {
        Some(0) => format!("{word}way"),
        Some(at) => format!("{}{}ay", &word[at..], &word[..at]),
        None => format!("{word}ay"),
    }
}

fn camelcase(text: &str) -> String {
    let words = text.split_whitespace().enumerate().map(|(index, word)| {
        let end = word.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(word.len());
        let (base, rest) = word.split_at(end);
        let lower = base.to_ascii_lowercase();
        match lower.chars().next() {
            Some(first) if index > 0 => {
                format!("{}{}{rest}", first.to_ascii_uppercase(), &lower[1..])
            }
            _ => lower + rest,
        }
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use crate::strategies::testing::first;

    #[test]
    fn known_values() {
        assert_eq!(first("leetspeak", "Leet Toast"), "1337 70457");
        assert_eq!(
            first("piglatin", "Hello, apple my str1ng 4you"),
            "elloHay, appleway myay str1ngay 4you"
        );
        assert_eq!(first("camelcase", " Hello  wORLD, (now) 2day"), "helloWorld,(now)2day");
        assert_eq!(first("first-letter", "show me more"), "s m m");
        assert_eq!(first("colloquial", "Thanks, you are great"), "ta, ya r gr8");
    }
}
