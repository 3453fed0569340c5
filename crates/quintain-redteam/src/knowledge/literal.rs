//! Data as Python prints it: `[{'name': 'users', 'size': None}]`. Many servers respond with it.

use serde_json::Value;

/// The data of a text that is a Python list, dictionary or tuple and nothing else.
pub(super) fn python(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['[', '{', '(']) {
        return None;
    }
    let mut json = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\'' | '"' => string(c, &mut rest, &mut json)?,
            '(' => json.push('['),
            ')' | ']' | '}' => {
                // Python allows a trailing comma.
                json.truncate(json.trim_end_matches([',', ' ', '\n']).len());
                json.push(if c == '}' { '}' } else { ']' });
            }
            _ if c.is_ascii_alphabetic() => {
                let mut word = String::from(c);
                while let Some(more) = rest.next_if(char::is_ascii_alphanumeric) {
                    word.push(more);
                }
                json.push_str(match word.as_str() {
                    "None" => "null",
                    "True" => "true",
                    "False" => "false",
                    _ => return None,
                });
            }
            _ => json.push(c),
        }
    }
    serde_json::from_str(&json).ok()
}

/// Reads one string up to its closing quote.
fn string(quote: char, rest: &mut impl Iterator<Item = char>, json: &mut String) -> Option<()> {
    let mut value = String::new();
    loop {
        match rest.next()? {
            '\\' => match rest.next()? {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                other => value.push(other),
            },
            c if c == quote => break,
            c => value.push(c),
        }
    }
    json.push_str(&Value::from(value).to_string());
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_and_dictionaries_of_python_are_data() {
        let rows = "[{'name': 'users', 'n': 3, 'x': None, 'y': True}, {'name': \"it's\"}]";
        let read = json!([{"name": "users", "n": 3, "x": null, "y": true}, {"name": "it's"}]);
        assert_eq!(python(rows), Some(read));
        assert_eq!(python("[('a', 1), ('b',)]"), Some(json!([["a", 1], ["b"]])));
    }

    #[test]
    fn prose_and_broken_data_are_none() {
        for text in ["users: 3", "[see below]", "{'a': ", "[datetime.date(2024, 1, 1)]", ""] {
            assert_eq!(python(text), None, "{text}");
        }
    }
}
