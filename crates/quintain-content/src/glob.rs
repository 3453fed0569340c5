//! Patterns with `*` (anything) and `?` (one character) over names. Case does not count, as in
//! promptfoo.

/// Whether the whole text matches.
pub fn matches(pattern: &str, text: &str) -> bool {
    let fold = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<_>>();
    let (pattern, text) = (fold(pattern), fold(text));
    let (mut p, mut t) = (0, 0);
    // Position of the last star, and how much of the text it matches.
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((at, swallowed)) = star else { return false };
                star = Some((at, swallowed + 1));
                p = at + 1;
                t = swallowed + 1;
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks_match_without_case() {
        assert!(matches("pay*", "Payment"));
        assert!(matches("*", ""));
        assert!(matches("a*b*c", "axxbyyc"));
        assert!(matches("get_?", "get_x"));
        assert!(!matches("pay", "payment"));
        assert!(!matches("get_?", "get_"));
        assert!(!matches("a.c", "abc"), "a dot is a dot");
    }
}
