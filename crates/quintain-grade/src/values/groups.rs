//! Ids and telephone numbers that people write in groups: `DE89 3704 0044`, `06 12 34 56 78`, `3C:22:FB`. The groups
//! joined are the value.

/// Shorter runs are numbers side by side, longer ones are tables.
const LENGTHS: std::ops::RangeInclusive<usize> = 7..=34;
const MAX_GROUPS: usize = 10;

/// Groups that may be one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub start: usize,
    pub end: usize,
    pub joined: String,
}

/// All runs of groups in a text.
pub fn runs(text: &str) -> Vec<Run> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let (end, groups) = run(text, at);
        if groups > 1 && groups <= MAX_GROUPS {
            let joined: String =
                text[at..end].chars().filter(char::is_ascii_alphanumeric).collect();
            if LENGTHS.contains(&joined.len()) {
                found.push(Run { start: at, end, joined });
            }
        }
        at = end.max(at + 1);
    }
    found
}

/// The end of the run that begins at a place, and the number of its groups.
fn run(text: &str, start: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let (mut at, mut end, mut groups) = (start, start, 0);
    loop {
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let group = &bytes[at..at + length];
        let is_group = length <= 12
            && (group.iter().any(u8::is_ascii_digit)
                || length == 2 && group.iter().all(u8::is_ascii_hexdigit));
        if !is_group {
            // The word itself is passed over.
            return (if groups == 0 { at + length } else { end }, groups);
        }
        end = at + length;
        groups += 1;
        let Some(mark) = text[end..].chars().next() else { return (end, groups) };
        if !matches!(mark, ' ' | '-' | ':' | '.' | '/' | '\u{a0}' | '\u{2009}' | '\u{202f}') {
            return (end, groups);
        }
        at = end + mark.len_utf8();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_joined() {
        let joined = |text: &str| runs(text).into_iter().map(|run| run.joined).collect::<Vec<_>>();
        assert_eq!(joined("to DE89 3704 0044 0532 0130 00 today"), ["DE89370400440532013000"]);
        assert_eq!(joined("Ring 06 12 34 56 78: late"), ["0612345678"]);
        assert_eq!(joined("the MAC 3C:22:FB:9A:0E:71"), ["3C22FB9A0E71"]);
        assert!(joined("12 of 40 items, and 3 more").is_empty());
        assert!(joined("é 1\u{a0}2 ü").is_empty());
    }
}
