//! The YAML between the first two `---` lines of a `SKILL.md`, as JSON, for comparison.
//!
//! Features that parsers interpret differently (duplicate keys, aliases, tags) are refused: the comparison must detect
//! a file that means one thing to us and another to a host.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

const FENCE: &str = "---";
/// Maximum depth: deeper than any front matter, and safe for recursion.
const DEPTH: usize = 32;

/// Reads the front matter of a file.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut lines = text.split_inclusive('\n');
    let is_fence = |line: &str| line.trim_end() == FENCE;
    let first = lines.next().filter(|line| is_fence(line));
    let first = first.ok_or("it does not start with front matter")?;
    let mut end = first.len();
    for line in lines {
        if is_fence(line) {
            return parse(&text[first.len()..end]);
        }
        end += line.len();
    }
    Err("its front matter has no end".to_owned())
}

/// An open sequence or mapping; a mapping has the key of the next value.
enum Open {
    Sequence(Vec<Value>),
    Mapping(Map<String, Value>, Option<String>),
}

fn parse(yaml: &str) -> Result<Value, String> {
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|error| format!("its front matter is not YAML: {error}"))?;
        if open.len() > DEPTH {
            return Err("its front matter is nested too deeply".to_owned());
        }
        let value = match event {
            Event::Scalar(text, style, _, None) => scalar(&text, style),
            Event::SequenceStart(_, None) => {
                open.push(Open::Sequence(Vec::new()));
                continue;
            }
            Event::MappingStart(_, None) => {
                open.push(Open::Mapping(Map::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::Sequence(items)) => Value::Array(items),
                Some(Open::Mapping(members, _)) => Value::Object(members),
                None => continue,
            },
            Event::Alias(_) => return Err("its front matter uses aliases".to_owned()),
            Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..) => {
                return Err("its front matter uses tags".to_owned());
            }
            Event::DocumentStart(_) if root.is_some() => {
                return Err("its front matter is more than one document".to_owned());
            }
            _ => continue,
        };
        match open.last_mut() {
            None => root = Some(value),
            Some(Open::Sequence(items)) => items.push(value),
            Some(Open::Mapping(members, key)) => match key.take() {
                Some(name) => {
                    members.insert(name, value);
                }
                None => *key = Some(name_of(value, members)?),
            },
        }
    }
    root.ok_or_else(|| "its front matter is empty".to_owned())
}

fn name_of(key: Value, members: &Map<String, Value>) -> Result<String, String> {
    let name = match key {
        Value::String(name) => name,
        Value::Array(_) | Value::Object(_) => {
            return Err("its front matter has a key that is not a scalar".to_owned());
        }
        other => other.to_string(),
    };
    if members.contains_key(&name) {
        return Err(format!("its front matter has `{}` twice", name.escape_debug()));
    }
    Ok(name)
}

/// A scalar in the core schema of YAML 1.2.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return text.into();
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        text if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            number(text).unwrap_or_else(|| text.into())
        }
        text => text.into(),
    }
}

fn number(text: &str) -> Option<Value> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return u64::from_str_radix(digits, radix).ok().map(Value::from);
        }
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) {
        return None;
    }
    let whole = text.parse::<i64>().ok().map(Value::from);
    whole.or_else(|| text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from))
}

/// Compares field by field; the error names the first field that differs.
pub(super) fn compare(found: &Value, promised: &Value) -> Result<(), String> {
    let (Value::Object(found), Value::Object(promised)) = (found, promised) else {
        return Err("its front matter is not a mapping".to_owned());
    };
    let differs = |name: &&String| match (found.get(*name), promised.get(*name)) {
        (Some(found), Some(promised)) => !same(found, promised),
        _ => true,
    };
    match found.keys().chain(promised.keys()).find(differs) {
        Some(name) => Err(format!("`{}` of its front matter differs", name.escape_debug())),
        None => Ok(()),
    }
}

/// Equality in which `1` and `1.0` are the same number, because a server in JavaScript does not distinguish them.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let equal = |(name, value)| other.get(name).is_some_and(|other| same(value, other));
            one.len() == other.len() && one.iter().all(equal)
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn front_matter_is_read_as_a_host_reads_it() {
        let text = "---\nname: x\nversion: 1.0\nquoted: \"1.0\"\nold: 012-a\ndate: 2026-07-28\n\
                    flag: true\nnone:\nlist: [a, 2]\nmeta:\n  deep: 'y: z'\n---\nname: body\n";
        let expected = json!({
            "name": "x", "version": 1, "quoted": "1.0", "old": "012-a", "date": "2026-07-28",
            "flag": true, "none": null, "list": ["a", 2], "meta": {"deep": "y: z"},
        });
        assert_eq!(compare(&read(text).unwrap(), &expected), Ok(()));
    }

    #[test]
    fn what_readers_disagree_about_is_refused() {
        for text in [
            "name: x\n",
            "---\nname: x\n",
            "---\n---\n",
            "---\nname: x\nname: y\n---\n",
            "---\na: &a x\nb: *a\n---\n",
            "---\na: !!binary x\n---\n",
            "---\na: [x\n---\n",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(&format!("---\na: {}\n---\n", "[".repeat(1000))).is_err());
    }

    #[test]
    fn a_field_too_many_or_too_few_differs() {
        let one = json!({"a": 1});
        let two = json!({"a": 1, "b": null});
        assert!(compare(&one, &two).is_err());
        assert!(compare(&two, &one).is_err());
        assert!(compare(&json!([1]), &one).is_err());
        assert!(compare(&one, &json!({"a": "1"})).is_err());
    }

    proptest! {
        #[test]
        fn no_file_makes_the_reader_panic(text in "(?s)---\n.{0,200}\n---\n") {
            let _ = read(&text);
        }
    }
}
