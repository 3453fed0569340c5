//! Cuts a text into pieces: words, numbers, paths and addresses, without the punctuation around them.

use super::literal::is_group_space;

/// A part of a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub start: usize,
    pub end: usize,
}

impl Piece {
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// The pieces of a text in their order. Takes time in proportion to the text.
pub fn pieces(text: &str) -> Vec<Piece> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = char_at(text, at) {
        let start = at;
        at += c.len_utf8();
        if is_blank(c) || !begins(c, char_at(text, at).unwrap_or(' ')) {
            continue;
        }
        if is_ideograph(c) {
            while let Some(c) = char_at(text, at).filter(|c| is_ideograph(*c)) {
                at += c.len_utf8();
            }
            found.push(Piece { start, end: at });
            continue;
        }
        let mut previous = c;
        loop {
            let plain = bytes[at..].iter().take_while(|byte| is_plain(**byte)).count();
            if plain > 0 {
                at += plain;
                previous = char::from(bytes[at - 1]);
            }
            let Some(c) = char_at(text, at) else { break };
            let rest = &text[at + c.len_utf8()..];
            if c == ':' && rest.starts_with("//") && is_scheme(&text[start..at]) {
                at = url_end(text, at);
                break;
            }
            if !continues(&text[start..at], previous, c, rest) {
                break;
            }
            previous = c;
            at += c.len_utf8();
        }
        let kept = text[start..at].trim_end_matches(['.', '-', ',', ':', '+', '\'']);
        if !kept.is_empty() {
            found.push(Piece { start, end: start + kept.len() });
        }
    }
    found
}

fn char_at(text: &str, at: usize) -> Option<char> {
    match *text.as_bytes().get(at)? {
        byte if byte.is_ascii() => Some(char::from(byte)),
        _ => text[at..].chars().next(),
    }
}

/// Most of what lies between pieces.
fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\n' | '"' | ',' | ':' | ';' | '(' | ')' | '{' | '}' | '[' | ']')
}

/// Whether a byte is a character that belongs to any piece before it.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'/')
}

fn begins(c: char, next: char) -> bool {
    match c {
        '/' | '\\' => next.is_alphanumeric() || matches!(next, '.' | '_'),
        '.' => next.is_ascii_digit() || matches!(next, '/' | '.') || next.is_ascii_lowercase(),
        '~' => next == '/',
        '+' | '\u{2212}' => next.is_ascii_digit(),
        '-' => next.is_ascii_digit() || next == '.',
        '_' => next.is_alphanumeric(),
        _ => c.is_alphanumeric(),
    }
}

/// Whether a character belongs to the piece before it.
fn continues(piece: &str, previous: char, c: char, rest: &str) -> bool {
    let next = rest.chars().next().unwrap_or(' ');
    match c {
        _ if is_ideograph(c) => false,
        _ if c.is_alphanumeric() => true,
        '_' | '/' => true,
        '\\' => next.is_alphanumeric() || matches!(next, '_' | '.'),
        '.' => next.is_alphanumeric() || matches!(next, '_' | '/' | '.'),
        '-' => previous != '-' && (next.is_alphanumeric() || next == '_'),
        '@' | '+' => previous.is_alphanumeric() && next.is_alphanumeric(),
        ',' => previous.is_ascii_digit() && next.is_ascii_digit() && !begins_column(rest),
        '\'' | '\u{2019}' => previous.is_ascii_digit() && next.is_ascii_digit(),
        ':' => {
            let drive =
                piece.len() == 1 && previous.is_ascii_alphabetic() && matches!(next, '\\' | '/');
            drive || previous.is_ascii_digit() && next.is_ascii_digit()
        }
        '%' => {
            piece.contains('/') && rest.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2
        }
        _ if is_group_space(c) => {
            let digits = rest.bytes().take(4).take_while(u8::is_ascii_digit).count();
            digits == 3
                && piece.bytes().rev().take_while(u8::is_ascii_digit).count() <= 3
                && previous.is_ascii_digit()
        }
        _ => false,
    }
}

/// Whether a day follows, or a number with a point and more columns: `9071,12.00,2026-04-30`. No number is grouped like
/// that.
fn begins_column(rest: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let first = digits(rest);
    let after = &rest[first..];
    match after.bytes().next() {
        Some(b'-') => first == 4 && digits(&after[1..]) == 2,
        Some(b'.') if first < 3 => {
            let fraction = digits(&after[1..]);
            fraction > 0 && after[1 + fraction..].starts_with(',')
        }
        _ => false,
    }
}

fn is_scheme(text: &str) -> bool {
    (2..=20).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
}

/// Where a URL ends that has its `://` at a place: closing brackets end it unless it opened them.
fn url_end(text: &str, at: usize) -> usize {
    let mut open = 0;
    let mut end = text.len();
    for (offset, c) in text[at..].char_indices() {
        match c {
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            ')' | ']' | '}' | '<' | '>' | '"' | '\'' | '`' | '|' | '*' | '\\' | '^' | '“' | '”'
            | '…' => {
                end = at + offset;
                break;
            }
            _ if c.is_whitespace() || is_ideograph(c) => {
                end = at + offset;
                break;
            }
            _ => {}
        }
    }
    at + text[at..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '/']).len()
}

/// Scripts that put no space between words.
pub fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2ffff}')
        && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        pieces(text).into_iter().map(|piece| piece.of(text)).collect()
    }

    #[test]
    fn punctuation_is_left_out() {
        assert_eq!(cut("Hello, (world)! `a_b`."), ["Hello", "world", "a_b"]);
        assert_eq!(
            cut(r#"{"id":"ORD-1","n":12.5,"t":[1,2]}"#),
            ["id", "ORD-1", "n", "12.5", "t", "1,2"]
        );
        assert_eq!(cut("~$1,234.50 or 15%."), ["1,234.50", "or", "15"]);
        assert_eq!(cut("at 14:30: ok"), ["at", "14:30", "ok"]);
        assert_eq!(cut("票价544元"), ["票价", "544", "元"]);
        assert_eq!(cut("1\u{202f}234 €"), ["1\u{202f}234"]);
    }

    #[test]
    fn paths_and_addresses_stay_whole() {
        assert_eq!(
            cut("see /root/a-b.md, ~/x and ./y/z.rs."),
            ["see", "/root/a-b.md", "~/x", "and", "./y/z.rs"]
        );
        assert_eq!(cut(r"C:\Users\me\a.txt"), [r"C:\Users\me\a.txt"]);
        assert_eq!(
            cut("[x](https://a.b/c?d=1&e=2) and <http://x.y/>"),
            ["x", "https://a.b/c?d=1&e=2", "and", "http://x.y"]
        );
        assert_eq!(
            cut("https://en.wikipedia.org/wiki/Rust_(lang)."),
            ["https://en.wikipedia.org/wiki/Rust_(lang)"]
        );
        assert_eq!(cut("Ann <ann.lee+x@b.org>, bob@c.de"), ["Ann", "ann.lee+x@b.org", "bob@c.de"]);
    }

    proptest! {
        #[test]
        fn pieces_are_slices_in_order(text in "\\PC{0,60}") {
            let mut last = 0;
            for piece in pieces(&text) {
                prop_assert!(piece.start >= last && piece.end > piece.start);
                prop_assert!(text.get(piece.start..piece.end).is_some());
                last = piece.end;
            }
        }
    }
}
