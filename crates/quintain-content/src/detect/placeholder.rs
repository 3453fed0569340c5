//! Placeholders for secrets in documentation.

/// Parts that no real secret has.
const WORDS: [&str; 22] = [
    "example",
    "xxxx",
    "your",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "dummy",
    "redacted",
    "****",
    "....",
    "sample",
    "foobar",
    "insert",
    "replace",
    "todo",
    "fake",
    "abcdef123",
    "1234567890",
    "0123456789",
    "00000000",
    "…",
];

/// References to a secret.
const STARTS: [&str; 12] =
    ["$", "{", "<", "%", "[", "(", "env.", "os.", "process.", "config.", "secrets.", "file:"];

/// Whether a text is a placeholder or reference instead of a secret.
pub(super) fn is_placeholder(text: &str) -> bool {
    let start = text.floor_char_boundary(text.len().min(256));
    let lower = text[..start].to_lowercase();
    let one_letter = || {
        let mut letters = lower.chars();
        let first = letters.next();
        letters.all(|letter| Some(letter) == first)
    };
    STARTS.iter().any(|start| lower.starts_with(start))
        || WORDS.iter().any(|word| lower.contains(word))
        || one_letter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_known() {
        for text in [
            "AKIAIOSFODNN7EXAMPLE",
            "<your-key>",
            "xxxxxxxxxxxx",
            "${TOKEN}",
            "{{ secret }}",
            "process.env.KEY",
            "YOUR_API_KEY",
            "************",
            "aaaaaaaa",
            "changeme",
        ] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["kX9vQ2mL7pR4tZ8w", "hunter2!", "correct-horse-7"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
