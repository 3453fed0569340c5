//! About how many tokens a model would make of a text. Every model cuts texts its own way; this is
//! a rule of thumb instead of a table: no model, no file, the same number everywhere.

use unicode_general_category::{GeneralCategory, get_general_category};

/// What a run of characters is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// ASCII letters; common English words are one token.
    Latin,
    /// Letters of other alphabets.
    Letter,
    /// Scripts whose characters are words or syllables.
    Syllable,
    Digit,
    LineEnd,
    Space,
    /// Punctuation.
    Mark,
    /// Emoji and the like.
    Symbol,
}

/// - A word of ASCII letters is one token for every 8 letters it has begun, one of other letters for
///   every 3; accented letters count as other letters.
/// - Characters of Chinese, Japanese and Korean are one token each, emoji two.
/// - Digits go by threes, punctuation by twos.
/// - One space belongs to the word after it; longer white space is a token, and so are line ends in
///   a row.
pub fn estimate(text: &str) -> usize {
    let mut tokens = 0;
    let mut chars = text.chars().peekable();
    while let Some(first) = chars.next() {
        let kind = kind(first);
        let mut length = 1;
        while chars.next_if(|c| self::kind(*c) == kind).is_some() {
            length += 1;
        }
        tokens += match kind {
            Kind::Latin => usize::div_ceil(length, 8),
            Kind::Letter | Kind::Digit => usize::div_ceil(length, 3),
            Kind::Syllable => length,
            Kind::Mark => usize::div_ceil(length, 2),
            Kind::Symbol => 2 * length,
            Kind::LineEnd => 1,
            Kind::Space => usize::from(length > 1 || chars.peek().is_none()),
        };
    }
    tokens
}

fn kind(c: char) -> Kind {
    match c {
        'a'..='z' | 'A'..='Z' => Kind::Latin,
        '0'..='9' => Kind::Digit,
        '\n' | '\r' => Kind::LineEnd,
        c if c.is_ascii_punctuation() => Kind::Mark,
        c if c.is_whitespace() => Kind::Space,
        '\u{1100}'..='\u{11ff}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff00}'..='\u{ffef}'
        | '\u{20000}'..='\u{3ffff}' => Kind::Syllable,
        c if c.is_alphabetic() => Kind::Letter,
        c if c.is_numeric() => Kind::Digit,
        c => match get_general_category(c) {
            GeneralCategory::NonspacingMark | GeneralCategory::SpacingMark => Kind::Letter,
            GeneralCategory::OtherSymbol | GeneralCategory::Unassigned => Kind::Symbol,
            _ => Kind::Mark,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_by_rule_of_thumb() {
        for (text, tokens) in [
            ("", 0),
            ("Hello, world!", 4),
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("internationalization", 3),
            ("1234567", 3),
            ("你好世界", 4),
            ("Привет", 2),
            ("😀", 2),
            ("a\n\n    b", 4),
            ("{\"a\":1}", 5),
        ] {
            assert_eq!(estimate(text), tokens, "{text}");
        }
    }
}
