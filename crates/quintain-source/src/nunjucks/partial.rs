//! Tags that are opened and never closed: a text with one is not a template.

/// Whether a tag is still open at the end of its line. A text that contains `raw` is taken as a
/// template.
pub(super) fn is_partial(text: &str) -> bool {
    let open = |line: &str| {
        [("{%", '%'), ("{{", '}'), ("{#", '#')]
            .iter()
            .any(|(tag, end)| line.match_indices(tag).any(|(at, _)| !line[at + 2..].contains(*end)))
    };
    text.lines().any(open) && !(says(text, "raw") && says(text, "endraw"))
}

fn says(text: &str, word: &str) -> bool {
    text.split("{%").skip(1).any(|rest| {
        rest.trim_start().strip_prefix(word).is_some_and(|rest| rest.trim_start().starts_with("%}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_open_is_found() {
        for text in ["a {{ b", "100{% off", "x {# y", "{{a}} {{ b", "{% if a\nand b %}"] {
            assert!(is_partial(text), "{text}");
        }
        for text in ["{{a}}", "{ a {b: {c: 1}} }}", "{% raw %}{{ b{% endraw %}", "{# a #}", ""] {
            assert!(!is_partial(text), "{text}");
        }
    }
}
