//! Finds the variables that a text prints as they are, without expanding anything.

use std::ops::Range;

use crate::template::expression_end;

/// The names in `{{name}}`, `{{name.part}}` and `{{name | filter}}`, with their places. Names with a default, in conditions
/// and in texts with tags that define or test them are left out, because they may be unset on purpose.
pub fn plain_names(text: &str) -> Vec<(&str, Range<usize>)> {
    let mut found: Vec<(&str, Range<usize>)> = Vec::new();
    if text.contains("{% raw") || text.contains("{% verbatim") || text.contains("{%- raw") {
        return found;
    }
    let tags = tags(text);
    let mut at = 0;
    while let Some(start) = text[at..].find("{{").map(|offset| at + offset + 2) {
        let Some(end) = expression_end(&text[start..]) else { break };
        let inner = &text[start..start + end - 2];
        at = start + end;
        let skipped = inner.len() - inner.trim_start_matches(['-', ' ', '\t', '\n']).len();
        let body = &inner[skipped..];
        let length = body.find(|c: char| !is_part(c)).unwrap_or(body.len());
        let (name, rest) = body.split_at(length);
        let is_tested = tags.iter().any(|tag| tag.split(|c| !is_part(c)).any(|word| word == name));
        if is_name(name) && is_plain(rest) && !is_tested {
            let start = start + skipped;
            found.push((name, start..start + length));
        }
    }
    found
}

/// The insides of `{% ... %}`.
fn tags(text: &str) -> Vec<&str> {
    let tags = text.split("{%").skip(1);
    tags.map(|tag| tag.split_once("%}").map_or(tag, |(inside, _)| inside)).collect()
}

/// Whether what follows a name always prints it.
fn is_plain(rest: &str) -> bool {
    let rest = rest.trim().trim_end_matches('-').trim_end();
    let follows = rest.is_empty() || rest.starts_with(['.', '[', '|']);
    let words: Vec<&str> = rest.split(|c| !is_part(c)).collect();
    let may_be_unset = ["default", "d", "or", "if", "and", "is"];
    follows && !words.iter().any(|word| may_be_unset.contains(word)) && !rest.contains("||")
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && !["true", "false", "none", "null", "loop", "super", "not"].contains(&text)
}

#[cfg(test)]
mod tests {
    use super::plain_names;

    fn names(text: &str) -> Vec<&str> {
        plain_names(text).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn printed_names_are_found_with_their_places() {
        assert_eq!(names("{{a}} {{ b.c }} {{- d | upper -}} {{e[0]}}"), ["a", "b", "d", "e"]);
        assert_eq!(plain_names("x {{ idd }}"), [("idd", 5..8)]);
        assert_eq!(names("{{ é }}"), ["é"]);
    }

    #[test]
    fn names_that_may_be_unset_are_left_out() {
        for text in [
            "{{ a | default('x') }}",
            "{{ a or b }}",
            "{{ 'x' if a }}",
            "{% if a %}{{ a }}{% endif %}",
            "{% for x in xs %}{{ x.y }}{% endfor %}",
            "{% set a = 1 %}{{ a }}",
            "{% raw %}{{ a }}{% endraw %}",
            "{{ range(3) }}",
            "{{ 7*7 }}",
            "{{ a",
            "{{}}",
            "{{ \"a\" }}",
        ] {
            assert_eq!(names(text), Vec::<&str>::new(), "{text}");
        }
    }
}
