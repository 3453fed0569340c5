//! Translates JavaScript regular expressions to those of the `regex` crate, which match in linear time.
//! Only patterns with the same meaning in both are translated; the engine matches all others.

use std::iter::Peekable;
use std::str::Chars;

/// `\s` as JavaScript defines it.
const SPACE: &str = r"\t\n\x0b\x0c\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";
const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
/// What `.` does not match.
const LINE_ENDS: &str = r"\n\r\u{2028}\u{2029}";

/// A pattern for the `regex` crate and the texts for which it must not be used.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Translation {
    pub(crate) pattern: String,
    /// It counts characters, and JavaScript counts those beyond U+FFFF twice.
    pub(crate) counts: bool,
    /// It has line anchors, and JavaScript has more line terminators.
    pub(crate) lines: bool,
}

#[derive(Clone, Copy)]
struct Flags {
    ignore_case: bool,
    multiline: bool,
    dot_all: bool,
    unicode: bool,
}

/// None if the pattern is invalid or needs the engine.
pub(crate) fn translate(source: &str, flags: &str) -> Option<Translation> {
    let known = flags.chars().all(|flag| "dgimsu".contains(flag));
    let twice = flags.chars().enumerate().any(|(at, flag)| flags[at + 1..].contains(flag));
    if !known || twice {
        return None;
    }
    let has = |flag| flags.contains(flag);
    let flags =
        Flags { ignore_case: has('i'), multiline: has('m'), dot_all: has('s'), unicode: has('u') };
    // With both, letters fold as Unicode defines, even in `\w`.
    if flags.ignore_case && (flags.unicode || !source.is_ascii()) {
        return None;
    }
    let mut reader = Reader { rest: source.chars().peekable(), flags, out: Translation::default() };
    reader.pattern()?;
    let mut out = reader.out;
    out.counts &= !flags.unicode;
    if flags.multiline {
        out.pattern.insert_str(0, "(?m)");
    } else {
        out.lines = false;
    }
    Some(out)
}

struct Reader<'s> {
    rest: Peekable<Chars<'s>>,
    flags: Flags,
    out: Translation,
}

/// What a quantifier would apply to.
#[derive(PartialEq)]
enum Before {
    Nothing,
    /// Cannot match a character beyond U+FFFF.
    Narrow,
    /// Can match one, which JavaScript sees as two.
    Wide,
}

impl Reader<'_> {
    fn pattern(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        let mut before = Before::Nothing;
        while let Some(c) = self.rest.next() {
            if before == Before::Wide && c != '*' {
                self.out.counts = true;
            }
            before = match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => {
                    depth += 1;
                    self.group()?;
                    Before::Nothing
                }
                ')' => {
                    depth = depth.checked_sub(1)?;
                    self.out.pattern.push(')');
                    Before::Narrow
                }
                '|' => {
                    self.out.pattern.push('|');
                    Before::Nothing
                }
                '^' | '$' => {
                    self.out.lines = true;
                    self.out.pattern.push(c);
                    Before::Nothing
                }
                '*' | '+' | '?' | '{' if self.quantifier(c, &before)? => Before::Nothing,
                '.' if self.flags.dot_all => {
                    self.out.pattern.push_str("(?s:.)");
                    Before::Wide
                }
                '.' => {
                    self.set(LINE_ENDS, true);
                    Before::Wide
                }
                '{' | '}' | ']' if self.flags.unicode => return None,
                c => self.literal(c),
            };
        }
        if before == Before::Wide {
            self.out.counts = true;
        }
        (depth == 0).then_some(())
    }

    fn literal(&mut self, c: char) -> Before {
        let out = &mut self.out.pattern;
        if self.flags.ignore_case && c.is_ascii_alphabetic() {
            out.push('[');
            out.push(c.to_ascii_lowercase());
            out.push(c.to_ascii_uppercase());
            out.push(']');
        } else {
            push_char(out, c);
        }
        // Without `u` a quantifier would apply to the second half of such a character.
        let halves = c > '\u{ffff}' && !self.flags.unicode;
        if halves { Before::Nothing } else { Before::Narrow }
    }

    fn set(&mut self, members: &str, negated: bool) {
        let open = if negated { "[^" } else { "[" };
        self.out.pattern.push_str(open);
        self.out.pattern.push_str(members);
        self.out.pattern.push(']');
    }

    fn escape(&mut self) -> Option<Before> {
        let c = self.rest.next()?;
        if let Some((members, negated)) = shorthand(c) {
            self.set(members, negated);
            return Some(if negated { Before::Wide } else { Before::Narrow });
        }
        if c == 'b' {
            self.out.pattern.push_str(r"(?-u:\b)");
            return Some(Before::Nothing);
        }
        let c = self.escaped_char(c)?;
        // Under `i` a letter beyond ASCII has special case folding.
        (!self.flags.ignore_case || c.is_ascii()).then(|| self.literal(c))
    }

    /// The character of an escape, inside and outside classes.
    fn escaped_char(&mut self, c: char) -> Option<char> {
        match c {
            't' => Some('\t'),
            'n' => Some('\n'),
            'v' => Some('\u{b}'),
            'f' => Some('\u{c}'),
            'r' => Some('\r'),
            'x' => self.hex(2),
            'u' => self.hex(4),
            c if "^$\\.*+?()[]{}|/".contains(c) => Some(c),
            c if c.is_ascii_punctuation() && !self.flags.unicode => Some(c),
            _ => None,
        }
    }

    fn hex(&mut self, digits: usize) -> Option<char> {
        let mut code = 0;
        for _ in 0..digits {
            code = code * 16 + self.rest.next()?.to_digit(16)?;
        }
        // Surrogates are not characters.
        char::from_u32(code)
    }

    fn group(&mut self) -> Option<()> {
        if self.rest.next_if_eq(&'?').is_none() {
            self.out.pattern.push('(');
            return Some(());
        }
        if self.rest.next()? == ':' {
            self.out.pattern.push_str("(?:");
            return Some(());
        }
        // Named groups, which need further checks, and lookarounds.
        None
    }

    /// Whether it was a quantifier; a brace may also be literal.
    fn quantifier(&mut self, c: char, before: &Before) -> Option<bool> {
        let text = if c == '{' {
            let Some((length, text)) = braces(self.rest.clone()) else { return Some(false) };
            self.rest.nth(length - 1);
            text
        } else {
            c.to_string()
        };
        if *before == Before::Nothing {
            return None;
        }
        self.out.pattern.push_str(&text);
        if let Some(lazy) = self.rest.next_if_eq(&'?') {
            self.out.pattern.push(lazy);
        }
        Some(true)
    }

    fn class(&mut self) -> Option<Before> {
        let negated = self.rest.next_if_eq(&'^').is_some();
        let mut members = String::new();
        let mut wide = negated;
        loop {
            match self.member(&mut members, &mut wide)? {
                Member::End if members.is_empty() => return None,
                Member::End => break,
                Member::Set => {}
                Member::Char(first) => self.range(first, &mut members)?,
            }
        }
        self.set(&members, negated);
        Some(if wide { Before::Wide } else { Before::Narrow })
    }

    fn member(&mut self, members: &mut String, wide: &mut bool) -> Option<Member> {
        match self.rest.next()? {
            ']' => Some(Member::End),
            '\\' => {
                let c = self.rest.next()?;
                match shorthand(c) {
                    Some((set, false)) => members.push_str(set),
                    Some((set, true)) => {
                        *wide = true;
                        members.push_str("[^");
                        members.push_str(set);
                        members.push(']');
                    }
                    None if c == 'b' => return Some(Member::Char('\u{8}')),
                    None if c == '-' => return Some(Member::Char('-')),
                    None => return self.escaped_char(c).map(Member::Char),
                }
                // A range that starts with a set is a legacy form.
                (self.rest.peek() != Some(&'-')).then_some(Member::Set)
            }
            c => Some(Member::Char(c)),
        }
    }

    fn range(&mut self, first: char, members: &mut String) -> Option<()> {
        let mut last = first;
        let mut ahead = self.rest.clone();
        if ahead.next() == Some('-') && ahead.peek() != Some(&']') {
            self.rest.next();
            let Member::Char(end) = self.member(&mut String::new(), &mut false)? else {
                return None;
            };
            last = end;
        }
        let halves = last > '\u{ffff}' && !self.flags.unicode;
        if first > last || halves || self.flags.ignore_case && !last.is_ascii() {
            return None;
        }
        push_range(members, first, last);
        if self.flags.ignore_case {
            for (low, high) in [('a', 'z'), ('A', 'Z')] {
                let (from, to) = (first.max(low), last.min(high));
                if from <= to {
                    let flip = |c: char| char::from(c as u8 ^ 0x20);
                    push_range(members, flip(from), flip(to));
                }
            }
        }
        Some(())
    }
}

enum Member {
    Char(char),
    Set,
    End,
}

fn shorthand(c: char) -> Option<(&'static str, bool)> {
    Some(match c {
        'd' => (DIGIT, false),
        'D' => (DIGIT, true),
        'w' => (WORD, false),
        'W' => (WORD, true),
        's' => (SPACE, false),
        'S' => (SPACE, true),
        _ => return None,
    })
}

/// `{2}`, `{2,}` or `{2,3}` after its opening brace: its length and its text.
fn braces(rest: Peekable<Chars<'_>>) -> Option<(usize, String)> {
    let inner: String = rest.take_while(|c| *c != '}').take(16).collect();
    let number = |digits: &str| {
        !digits.is_empty() && digits.len() < 8 && digits.bytes().all(|digit| digit.is_ascii_digit())
    };
    let valid = match inner.split_once(',') {
        None => number(&inner),
        Some((low, high)) => number(low) && (high.is_empty() || number(high)),
    };
    valid.then(|| (inner.len() + 1, format!("{{{inner}}}")))
}

fn push_char(out: &mut String, c: char) {
    // `\<` and `\>` are word boundaries there.
    if c.is_ascii_punctuation() && c != '<' && c != '>' {
        out.push('\\');
    }
    out.push(c);
}

fn push_range(out: &mut String, first: char, last: char) {
    push_char(out, first);
    if first != last {
        out.push('-');
        push_char(out, last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(source: &str, flags: &str) -> Option<String> {
        translate(source, flags).map(|translation| translation.pattern)
    }

    #[test]
    fn shorthands_and_letters_are_written_out() {
        assert_eq!(pattern(r"\d+\/[a-c-]", "").as_deref(), Some(r"[0-9]+\/[a-c\-]"));
        assert_eq!(pattern("a[b-d1]", "i").as_deref(), Some("[aA][b-dB-D1]"));
        assert_eq!(pattern("a{2,3}?|{x}", "").as_deref(), Some(r"a{2,3}?|\{x\}"));
        assert_eq!(pattern("[&&~~[]", "").as_deref(), Some(r"[\&\&\~\~\[]"));
    }

    #[test]
    fn what_differs_is_left_to_the_engine() {
        for source in [
            r"(a)\1", "(?=a)", "(?<!a)", "(?<n>a)", r"\p{L}", r"\k<n>", r"\cA", r"\0", "[]", "[^]",
            "a**", "^*", "(", ")", "[b-a]", r"[\d-x]", "*a", "a{2}{3}", r"\B", r"\ud83d", "(?i)a",
        ] {
            assert_eq!(translate(source, ""), None, "{source}");
        }
        for flags in ["iu", "v", "y", "gg", "x"] {
            assert_eq!(translate("a", flags), None, "{flags}");
        }
        assert_eq!(translate("ä", "i"), None);
        for source in ["😀?", "[😀]", "[a-😀]"] {
            assert_eq!(translate(source, ""), None, "{source}");
            assert!(translate(source, "u").is_some(), "{source}");
        }
    }

    #[test]
    fn patterns_that_count_characters_are_marked() {
        let counts = |source| translate(source, "").map(|translation| translation.counts);
        for source in ["a.b", "^.{2}$", ".+", ".", r"[^a]x", r"\S+"] {
            assert_eq!(counts(source), Some(true), "{source}");
        }
        for source in ["a.*b", "abc", r"\d+", r"\S*x", "[a-z]{3}", "😀"] {
            assert_eq!(counts(source), Some(false), "{source}");
        }
    }
}
