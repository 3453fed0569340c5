//! Splits texts into lines and sentences, as promptfoo's metrics count them.

use quintain_content::text::js;

/// The lines that are not blank.
pub(super) fn lines(text: &str) -> Vec<&str> {
    text.split('\n').filter(|line| !js::trim(line).is_empty()).collect()
}

/// The lines of a text with several of them, otherwise its sentences. Lone numbers of a list do not count.
pub(super) fn sentences(text: &str) -> Vec<&str> {
    let lines = lines(text);
    let parts = if lines.len() > 1 { lines } else { split(text) };
    let parts = parts.into_iter().map(js::trim);
    parts.filter(|part| !part.is_empty() && !is_number_of_list(part)).collect()
}

/// Splits at white space after `.`, `!` or `?`.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut from, mut ends) = (0, false);
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if ends && js::is_space(c) {
            parts.push(&text[from..at]);
            while chars.peek().is_some_and(|(_, c)| js::is_space(*c)) {
                chars.next();
            }
            from = chars.peek().map_or(text.len(), |(at, _)| *at);
        }
        ends = matches!(c, '.' | '!' | '?');
    }
    parts.push(&text[from..]);
    parts
}

/// `1.` or `2)`
fn is_number_of_list(part: &str) -> bool {
    let digits = part.strip_suffix(['.', ')']).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A sentence without the mark of a list before it.
pub(super) fn without_bullet(sentence: &str) -> &str {
    let start = sentence.trim_start_matches(js::is_space);
    let digits = start.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match digits.strip_prefix(['.', ')']) {
        Some(rest) if digits.len() < start.len() => rest,
        _ => match start.strip_prefix(['-', '*']) {
            Some(rest) => rest,
            None => return sentence,
        },
    };
    rest.trim_start_matches(js::is_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_split_into_sentences_and_lines_stay_whole() {
        assert_eq!(sentences("A b. C d!  E? f"), ["A b.", "C d!", "E?", "f"]);
        assert_eq!(sentences("1. Paris is. 2. Rome."), ["Paris is.", "Rome."]);
        assert_eq!(sentences("A. b\n\nC. d"), ["A. b", "C. d"]);
        assert_eq!(sentences("\nA. b.\n"), ["A.", "b."]);
        assert_eq!(sentences("3.14 is pi."), ["3.14 is pi."]);
        assert!(sentences(" \n").is_empty());
    }

    #[test]
    fn marks_of_lists_are_removed() {
        for (with, without) in [
            ("1. a", "a"),
            (" 2) a", "a"),
            ("- a", "a"),
            ("*a", "a"),
            ("a - b", "a - b"),
            ("1a", "1a"),
        ] {
            assert_eq!(without_bullet(with), without);
        }
    }
}
