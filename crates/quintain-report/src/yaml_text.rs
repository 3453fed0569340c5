//! Writes JSON values as YAML that versions 1.1 and 1.2 read alike: everything ambiguous
//! is quoted.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use quintain_source::visible;
use serde_json::Value;

/// Deeper structures are written on one line as JSON, which is valid YAML.
const MAX_DEPTH: usize = 64;
/// Longer keys need the explicit `? ` form.
const MAX_PLAIN_KEY: usize = 1_000;

/// A value in the form that follows a key, with a leading line break if it is a block.
pub fn block(of: &Value, indent: usize) -> String {
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = value(&mut out, of, indent);
    String::from_utf8_lossy(&out).into_owned()
}

/// Writes what follows a key or a dash: `value` on the same line, or a block on the next lines.
pub(crate) fn value(out: &mut impl Write, value: &Value, indent: usize) -> io::Result<()> {
    match value {
        Value::Object(map) if !map.is_empty() && indent / 2 < MAX_DEPTH => {
            for (name, item) in map {
                write!(out, "\n{:indent$}", "")?;
                key(out, name, item, indent)?;
            }
            Ok(())
        }
        Value::Array(items) if !items.is_empty() && indent / 2 < MAX_DEPTH => {
            for item in items {
                write!(out, "\n{:indent$}", "")?;
                entry(out, item, indent)?;
            }
            Ok(())
        }
        other => write!(out, " {}", scalar(other)),
    }
}

/// `- item`, at the current position.
pub(crate) fn entry(out: &mut impl Write, item: &Value, indent: usize) -> io::Result<()> {
    match item {
        // The first key follows the dash, the others are below it.
        Value::Object(map) if !map.is_empty() && indent / 2 < MAX_DEPTH => {
            write!(out, "- ")?;
            let inner = indent + 2;
            for (at, (name, item)) in map.iter().enumerate() {
                if at > 0 {
                    write!(out, "\n{:inner$}", "")?;
                }
                key(out, name, item, inner)?;
            }
            Ok(())
        }
        item => {
            write!(out, "-")?;
            value(out, item, indent + 2)
        }
    }
}

fn key(out: &mut impl Write, name: &str, item: &Value, indent: usize) -> io::Result<()> {
    let name = string(name);
    if name.len() > MAX_PLAIN_KEY {
        write!(out, "? {name}\n{:indent$}:", "")?;
    } else {
        write!(out, "{name}:")?;
    }
    value(out, item, indent + 2)
}

fn scalar(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => string(text),
        // Empty or too deep structures, numbers, booleans, null.
        Value::Array(_) | Value::Object(_) => Cow::Owned(flow(value)),
        other => Cow::Owned(other.to_string()),
    }
}

fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let items = map.iter().map(|(key, item)| format!("{}: {}", quoted(key), flow(item)));
            format!("{{{}}}", items.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// A text in the form that follows a key.
pub fn string(text: &str) -> Cow<'_, str> {
    if plain(text) { Cow::Borrowed(text) } else { Cow::Owned(quoted(text)) }
}

fn plain(text: &str) -> bool {
    const TAKEN: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let inside = |c: char| c.is_ascii_alphanumeric() || " _./-".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.len() <= 120
        && !text.ends_with(' ')
        && text.chars().all(inside)
        && !TAKEN.iter().any(|word| word.eq_ignore_ascii_case(text))
}

fn quoted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 2);
    shown.push('"');
    for c in text.chars() {
        let _ = match c {
            '"' => write!(shown, "\\\""),
            '\\' => write!(shown, "\\\\"),
            '\n' => write!(shown, "\\n"),
            '\t' => write!(shown, "\\t"),
            '\r' => write!(shown, "\\r"),
            ' '..='~' => {
                shown.push(c);
                Ok(())
            }
            c if hidden(c) => match c as u32 {
                code @ 0..=0xff => write!(shown, "\\x{code:02x}"),
                code @ 0x100..=0xffff => write!(shown, "\\u{code:04x}"),
                code => write!(shown, "\\U{code:08x}"),
            },
            c => {
                shown.push(c);
                Ok(())
            }
        };
    }
    shown.push('"');
    shown
}

fn hidden(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{ffff}')
        || matches!(visible(c.encode_utf8(&mut [0; 4])), Cow::Owned(_))
}

#[cfg(test)]
mod tests {
    use quintain_source::{Diagnostics, SourceFile, Sources};
    use serde_json::json;

    use super::*;

    fn text(of: &Value) -> String {
        let mut out = Vec::new();
        value(&mut out, of, 0).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn structures_are_blocks() {
        let shown = text(&json!({"a": [1, {"b": null, "c": []}, [true]], "d": {}}));
        assert_eq!(shown, "\na:\n  - 1\n  - b: null\n    c: []\n  -\n    - true\nd: {}");
    }

    #[test]
    fn strings_that_could_be_something_else_are_quoted() {
        for odd in [
            "",
            "yes",
            "No",
            "1",
            "1e3",
            "a: b",
            "a #b",
            "- a",
            "~",
            "=x",
            "a\nb",
            " a",
            "2026-01-01",
            "{{a}}",
            "é",
            "a ",
            "*a",
            "&a",
            "!a",
            "%a",
            "@a",
            "`a",
            "0x1f",
            "null",
        ] {
            assert!(string(odd).starts_with('"'), "{odd}");
        }
        assert_eq!(string("tools/call"), "tools/call");
        assert_eq!(
            quoted("\u{1b}\u{202e}\u{e0041}\"\\\u{ffff}"),
            r#""\x1b\u202e\U000e0041\"\\\uffff""#
        );
    }

    #[test]
    fn what_was_written_reads_back_the_same() {
        let deep = (0..40).fold(json!("x: y"), |inner, _| json!([{"k": inner}]));
        let odd = json!({
            "": "\u{202e}\u{0}\n- a: 'b'", "a: b": [[], {}, [[1.5, -2]]], "yes": "no",
            "\u{e0041}": {"#": "---", "k".repeat(3000): {"v": [1]}}, "deep": deep, "n": null,
        });
        let mut sources = Sources::new();
        let id = sources.add(SourceFile::new("x.yaml", text(&odd)));
        let mut dx = Diagnostics::default();
        let read = quintain_source::read(&sources, id, &mut dx).unwrap();
        assert_eq!(read.to_json(), odd);
    }
}
