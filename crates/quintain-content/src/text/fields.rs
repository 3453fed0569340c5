//! Several texts in one, parted by commas, with quotes around those that contain commas.

use super::js;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FieldsError {
    #[error("Unterminated quoted field in contains assertion value")]
    Unterminated,
    #[error("Expected comma after quoted field in contains assertion value")]
    NoComma,
}

/// Splits `a, "b, c"` into its fields. White space around them and empty ones without quotes do
/// not count; inside of quotes a quote is written `""` or `\"`, a backslash `\\`.
///
/// # Errors
/// If quotes are not closed or text follows them.
pub fn split(text: &str) -> Result<Vec<String>, FieldsError> {
    let mut fields = Vec::new();
    let mut rest = skip_separators(text);
    while !rest.is_empty() {
        let field;
        (field, rest) = if let Some(inside) = rest.strip_prefix('"') {
            quoted(inside)?
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            (js::trim(&rest[..end]).to_owned(), &rest[end..])
        };
        fields.push(field);
        rest = skip_separators(rest);
    }
    Ok(fields)
}

fn skip_separators(text: &str) -> &str {
    text.trim_start_matches(|c| c == ',' || js::is_space(c))
}

/// The field whose opening quote was just read, and what follows it.
fn quoted(text: &str) -> Result<(String, &str), FieldsError> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let at = rest.find(['"', '\\']).ok_or(FieldsError::Unterminated)?;
        field.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(escaped) = ["\\\"", "\\\\", "\"\""].iter().find(|e| rest.starts_with(**e)) {
            field.push_str(&escaped[1..]);
            rest = &rest[2..];
        } else if let Some(after) = rest.strip_prefix('"') {
            let after = after.trim_start_matches(js::is_space);
            let ends = after.is_empty() || after.starts_with(',');
            return if ends { Ok((field, after)) } else { Err(FieldsError::NoComma) };
        } else {
            field.push('\\');
            rest = &rest[1..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn splits(text: &str, fields: &[&str]) {
        assert_eq!(
            split(text).as_deref(),
            Ok(&*fields.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>())
        );
    }

    #[test]
    fn commas_part_and_white_space_is_cut() {
        splits("a, b c ,d", &["a", "b c", "d"]);
        splits(" ,,a,,b, ", &["a", "b"]);
        splits("", &[]);
        splits("it\"s, ok", &["it\"s", "ok"]);
    }

    #[test]
    fn quotes_keep_commas_and_escapes_keep_quotes() {
        splits(r#""a, b" , c"#, &["a, b", "c"]);
        splits(
            r#""say ""hi""", "x\"y", "back\\slash", "n\n""#,
            &["say \"hi\"", "x\"y", "back\\slash", "n\\n"],
        );
        splits(r#""", a"#, &["", "a"]);
        splits("\"ü, 👍\"", &["ü, 👍"]);
    }

    #[test]
    fn broken_quotes_are_reported() {
        assert_eq!(split(r#"a, "b"#), Err(FieldsError::Unterminated));
        assert_eq!(split(r#""b\"#), Err(FieldsError::Unterminated));
        assert_eq!(split(r#""b" c"#), Err(FieldsError::NoComma));
    }
}
