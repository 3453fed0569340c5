//! Telephone numbers in text, whatever their spaces, brackets and dashes.

/// A telephone number in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub start: usize,
    pub end: usize,
    pub digits: String,
}

/// All telephone numbers that show by their form that they are ones.
pub fn runs(text: &str) -> Vec<Run> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let begins = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'(');
        let Some(next) = bytes[at..].iter().position(begins) else { break };
        at += next;
        let is_inside = at > 0
            && (bytes[at - 1].is_ascii_alphanumeric()
                || matches!(bytes[at - 1], b'_' | b'-' | b'.' | b'/'));
        if is_inside {
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| is_part(**byte)).count();
        let run = text[at..at + length].trim_end_matches(|c: char| !c.is_ascii_digit());
        let follows = bytes
            .get(at + run.len())
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b':');
        if is_phone(run) && !follows {
            let digits = run.chars().filter(char::is_ascii_digit).collect();
            found.push(Run { start: at, end: at + run.len(), digits });
        }
        at += length.max(1);
    }
    found
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'(' | b')' | b' ' | b'-' | b'.' | b'/')
}

/// Whether digits and separators are written like a telephone number.
fn is_phone(run: &str) -> bool {
    let groups: Vec<usize> = run
        .split(|c: char| !c.is_ascii_digit())
        .map(str::len)
        .filter(|length| *length > 0)
        .collect();
    let digits: usize = groups.iter().sum();
    if !(8..=15).contains(&digits)
        || run.get(1..).is_some_and(|rest| rest.contains('+'))
        || run.contains("  ")
    {
        return false;
    }
    let american = groups == [3, 3, 4] && !run.contains(", ") && run.contains(['-', '.', ')', ' ']);
    let bracketed = run.starts_with('(') && run.contains(')') && digits >= 9;
    let national = run.starts_with('0')
        && groups.len() > 1
        && digits >= 9
        && !run.contains('.')
        && groups[0] >= 3;
    run.starts_with('+') || american || bracketed || national
}

/// The digits of a text that consists of a telephone number only.
pub fn whole(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let form = text.bytes().all(is_part) && (7..=15).contains(&digits.len());
    form.then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_their_form() {
        let digits = |text: &str| runs(text).into_iter().map(|run| run.digits).collect::<Vec<_>>();
        assert_eq!(digits("call +49 (0)171 234-5678 now"), ["4901712345678"]);
        assert_eq!(digits("(555) 010-9999, 555-010-9999"), ["5550109999", "5550109999"]);
        assert_eq!(digits("0171 2345678."), ["01712345678"]);
        for text in [
            "2026-05-03 10:00",
            "1 234 567 890",
            "12.05.2026",
            "4111111111",
            "ORD-555-010-9999",
            "+5 %",
            "1.2.3.4",
        ] {
            assert!(digits(text).is_empty(), "{text}");
        }
        assert_eq!(whole("+1 555 0109"), Some("15550109".to_owned()));
    }
}
