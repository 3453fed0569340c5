//! Words and punctuation by the rules of the Penn Treebank, as the library behind promptfoo's
//! ROUGE applies them: quotes become `` and '', contractions are split, only the last period of
//! the text is a separate token.

use unicode_general_category::{GeneralCategory as Category, get_general_category as category};

use super::js;

const CONTRACTIONS: &[(&str, &str)] = &[
    ("can", "not"),
    ("d", "'ye"),
    ("gim", "me"),
    ("gon", "na"),
    ("got", "ta"),
    ("lem", "me"),
    ("more", "'n"),
    ("wan", "na"),
    ("'t", "is"),
    ("'t", "was"),
];

/// What is split off behind an apostrophe or a `n`.
const ENDINGS: &[&str] = &["'ll", "'LL", "'re", "'RE", "'ve", "'VE", "n't", "N'T"];

/// The text with single spaces between its tokens, for `split`.
pub fn tokens(text: &str) -> String {
    let text: Vec<char> = one_space(text).chars().collect();
    if text.is_empty() {
        return String::new();
    }
    let text = quotes(&text);
    let text = final_period(punctuation(&text));
    let text = apostrophes(&[&[' '], &*text, &[' ']].concat());
    let text = endings(&text);
    contractions(&text)
}

/// The tokens of a text that `tokens` has prepared.
pub fn split(tokens: &str) -> impl Iterator<Item = &str> {
    tokens.split(' ').filter(|token| !token.is_empty())
}

/// White space, which includes the control character that JavaScript does not count, is one space.
fn one_space(text: &str) -> String {
    let words = text.split(|c| js::is_space(c) || c == '\u{85}').filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Quotes that open become "``", those that close "''".
fn quotes(text: &[char]) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    let mut inside = false;
    let mut next_quote = 0;
    let mut at = 0;
    while at < text.len() {
        let Some(quote) = quote_at(text, at) else {
            out.push(text[at]);
            at += 1;
            continue;
        };
        let after = at + quote.len();
        let before = at.checked_sub(1).map(|before| text[before]);
        inside = quote == "``" || {
            let at_end = after == text.len();
            let may_open = !at_end || before.is_none_or(|c| c == ' ' || c == '<' || opens(c));
            let stands_free = before.is_none_or(|c| c == ' ' || c == '<' || is_punctuation(c))
                && !before.is_some_and(|c| ".!?".contains(c));
            let mut paired = || {
                next_quote = next_quote.max(after);
                while next_quote < text.len() && quote_at(text, next_quote).is_none() {
                    next_quote += 1;
                }
                before.is_some()
                    && text.get(after).is_some_and(|c| begins_quotation(*c))
                    && quote_at(text, next_quote) == Some("''")
            };
            may_open && !inside && stands_free && (quote == "\"" || paired())
        };
        out.extend(if inside { " `` " } else { " '' " }.chars());
        at = after;
    }
    out
}

fn quote_at(text: &[char], at: usize) -> Option<&'static str> {
    match text.get(at..)? {
        ['`', '`', ..] => Some("``"),
        ['\'', '\'', ..] => Some("''"),
        ['"', ..] => Some("\""),
        _ => None,
    }
}

/// Spaces around punctuation; not around separators within numbers and single periods.
fn punctuation(text: &[char]) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.first() {
        let length = match rest {
            ['.', '.', '.', ..] => 3,
            ['-', '-', ..] => 2,
            [':' | ',', digit, ..] if category(*digit) == Category::DecimalNumber => 0,
            _ if ":,;@#$%&?![](){}<>".contains(*c) => 1,
            _ => 0,
        };
        if length > 0 {
            out.push(' ');
            out.extend(&rest[..length]);
            out.push(' ');
        } else {
            out.push(*c);
        }
        rest = &rest[length.max(1)..];
    }
    out
}

/// Splits off the period that ends the text, unless it belongs to an acronym or an ellipsis.
fn final_period(mut text: Vec<char>) -> Vec<char> {
    let closes = |c: &char| "])}>'".contains(*c) || js::is_space(*c);
    let tail = text.iter().rev().take_while(|c| closes(c)).count();
    let Some(period) = (text.len() - tail).checked_sub(1) else { return text };
    let acronym = match &text[..period] {
        [.., before, a, '.', b] => {
            a.is_ascii_alphabetic() && b.is_ascii_alphabetic() && !is_ascii_word(*before)
        }
        [a, '.', b] => a.is_ascii_alphabetic() && b.is_ascii_alphabetic(),
        _ => false,
    };
    let alone = period > 0 && text[period - 1] != '.';
    if text[period] == '.' && alone && !acronym {
        text.insert(period, ' ');
        text.push(' ');
    }
    text
}

/// An apostrophe at the end of a word is a separate token.
fn apostrophes(text: &[char]) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.first() {
        if *c != '\'' && matches!(rest, [_, '\'', ' ', ..]) {
            out.extend([*c, ' ', '\'', ' ']);
            rest = &rest[3..];
        } else {
            out.push(*c);
            rest = &rest[1..];
        }
    }
    out
}

/// Splits off 's, 'm, 'd, then 'll, 're, 've and n't at the end of words.
fn endings(text: &[char]) -> Vec<char> {
    let short = split_before(text, |rest| match rest {
        ['\'', 's' | 'S' | 'm' | 'M' | 'd' | 'D', ' ', ..] => 3,
        _ => 0,
    });
    split_before(&short, |rest| {
        let ending = ENDINGS.iter().any(|ending| {
            ending.chars().eq(rest.iter().copied().take(3)) && rest.get(3) == Some(&' ')
        });
        if ending { 4 } else { 0 }
    })
}

fn split_before(text: &[char], length: impl Fn(&[char]) -> usize) -> Vec<char> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let length = length(rest);
        if length > 0 {
            out.push(' ');
        }
        let (taken, others) = rest.split_at(length.max(1));
        out.extend(taken);
        rest = others;
    }
    out
}

/// Splits "cannot", "gonna" and the like.
fn contractions(text: &[char]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut within_word = false;
    while let Some(c) = rest.first() {
        let found = if within_word { None } else { contraction(rest) };
        if let Some((first, second)) = found {
            out.extend([' '].iter().chain(first).chain(&[' ']).chain(second).chain(&[' ']));
            rest = &rest[first.len() + second.len()..];
            within_word = false;
        } else {
            out.push(*c);
            rest = &rest[1..];
            within_word = is_word(*c);
        }
    }
    out
}

/// The two parts of the contraction that a text begins with.
fn contraction(text: &[char]) -> Option<(&[char], &[char])> {
    if !text.first().is_some_and(|c| "cdglmwCDGLMW'".contains(*c)) {
        return None;
    }
    let begins = |text: &[char], part: &str| {
        part.len() <= text.len() && part.chars().zip(text).all(|(a, b)| a == b.to_ascii_lowercase())
    };
    CONTRACTIONS.iter().find_map(|(first, second)| {
        let rest = begins(text, first).then(|| &text[first.len()..])?;
        let next = begins(rest, second).then(|| rest.get(second.len()))?;
        let ends = match next {
            Some(next) if *first == "wan" => *next == ' ',
            Some(next) => !is_word(*next),
            None => *first != "wan",
        };
        ends.then(|| (&text[..first.len()], &rest[..second.len()]))
    })
}

fn is_ascii_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether an identifier may contain it.
fn is_word(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '_' | '\u{200c}' | '\u{200d}')
        || matches!(
            category(c),
            Category::NonspacingMark | Category::SpacingMark | Category::ConnectorPunctuation
        )
}

fn opens(c: char) -> bool {
    category(c) == Category::OpenPunctuation
}

fn begins_quotation(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(
            category(c),
            Category::OtherNumber | Category::CurrencySymbol | Category::OpenPunctuation
        )
}

fn is_punctuation(c: char) -> bool {
    matches!(
        category(c),
        Category::ConnectorPunctuation
            | Category::DashPunctuation
            | Category::OpenPunctuation
            | Category::ClosePunctuation
            | Category::InitialPunctuation
            | Category::FinalPunctuation
            | Category::OtherPunctuation
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from the library that promptfoo uses.
    #[test]
    fn tokens_are_those_of_promptfoo() {
        for (text, wanted) in [
            ("The quick brown fox.", &["The", "quick", "brown", "fox", "."][..]),
            (
                "He said \"hello, world\" and left.",
                &["He", "said", "``", "hello", ",", "world", "''", "and", "left", "."][..],
            ),
            ("\"Hi\"", &["``", "Hi", "''"][..]),
            ("\"", &["``"][..]),
            ("a \" b", &["a", "``", "b"][..]),
            (
                "it's 5:30, 1,000 items; you can't! we'll see--they've gone...",
                &[
                    "it", "'s", "5:30", ",", "1,000", "items", ";", "you", "ca", "n't", "!", "we",
                    "'ll", "see", "--", "they", "'ve", "gone", "...",
                ][..],
            ),
            ("U.S.A.", &["U.S.A."][..]),
            ("in the U.S.", &["in", "the", "U.S."][..]),
            ("I live in the U.S.)", &["I", "live", "in", "the", "U.S.", ")"][..]),
            ("end.')  ", &["end", ".", "'", ")"][..]),
            (
                "I cannot; gonna, wanna go; wanna. 'tis 'twas more'n d'ye lemme gimme gotta",
                &[
                    "I", "can", "not", ";", "gon", "na", ",", "wan", "na", "go", ";", "wanna.",
                    "'t", "is", "'t", "was", "more", "'n", "d", "'ye", "lem", "me", "gim", "me",
                    "got", "ta",
                ][..],
            ),
            ("the dogs' bones' ' x", &["the", "dogs", "'", "bones", "'", "'", "x"][..]),
            (
                "say ''word'' and ``other'' now",
                &["say", "``", "word", "''", "and", "``", "other", "''", "now"][..],
            ),
            ("x ''(y'' z", &["x", "``", "(", "y", "''", "z"][..]),
            ("''start'' a", &["''", "start", "''", "a"][..]),
            ("a ''b", &["a", "''", "b"][..]),
            ("$5 & 10% #tag @me", &["$", "5", "&", "10", "%", "#", "tag", "@", "me"][..]),
            ("wait...", &["wait", "..."][..]),
            ("wait....", &["wait", "...", "."][..]),
            ("no. yes. ok", &["no.", "yes.", "ok"][..]),
            ("a\u{85}b\u{a0}c\u{2028}d", &["a", "b", "c", "d"][..]),
            ("[x](y){z}<w>", &["[", "x", "]", "(", "y", ")", "{", "z", "}", "<", "w", ">"][..]),
            ("---- -- ---", &["--", "--", "--", "--", "-"][..]),
            ("naïve café, ١:٢ a:b", &["naïve", "café", ",", "١:٢", "a", ":", "b"][..]),
            ("He said.\"Yes\"", &["He", "said.", "''", "Yes", "''"][..]),
            ("(\"in\")", &["(", "``", "in", "''", ")"][..]),
            ("<\"q\">", &["<", "``", "q", "''", ">"][..]),
            (
                "can\u{301}not cannot\u{301} _cannot cannot_",
                &["can\u{301}not", "cannot\u{301}", "_cannot", "cannot_"][..],
            ),
            (
                "'S 'M x's y'd z'LL DON'T",
                &["'S", "'M", "x", "'s", "y", "'d", "z", "'LL", "DO", "N'T"][..],
            ),
            ("don't won't", &["do", "n't", "wo", "n't"][..]),
            ("what?! yes", &["what", "?", "!", "yes"][..]),
            ("“smart” ‘quotes’ it’s", &["“smart”", "‘quotes’", "it’s"][..]),
            (".", &["."][..]),
            ("..", &[".."][..]),
            ("a.", &["a", "."][..]),
            ("' '", &["'", "'"][..]),
            ("''", &["''"][..]),
            ("``", &["``"][..]),
            ("a''", &["a", "''"][..]),
            ("cannot'tis", &["can", "not", "'t", "is"][..]),
            ("n't ", &["n't"][..]),
            ("emoji 👍\" x", &["emoji", "👍", "''", "x"][..]),
            ("a \"b\" \"c\" \"d", &["a", "``", "b", "''", "``", "c", "''", "``", "d"][..]),
            (
                "she said \"x.\" \"y\" z.",
                &["she", "said", "``", "x.", "''", "``", "y", "''", "z", "."][..],
            ),
            ("don't's", &["do", "n't", "'s"][..]),
            ("1.5.", &["1.5", "."][..]),
            ("e.g.", &["e.g."][..]),
            ("x.y.", &["x.y."][..]),
            ("ab.c.", &["ab.c", "."][..]),
        ] {
            assert_eq!(split(&tokens(text)).collect::<Vec<_>>(), wanted, "{text}");
        }
        assert_eq!(split(&tokens(" ")).count(), 0);
    }

    #[test]
    fn megabytes_of_quotes_take_linear_time() {
        for text in ["a ''b ", "\"", "' ", "``", ". "] {
            assert!(split(&tokens(&text.repeat(20_000))).count() > 0);
        }
    }
}
