//! Named fields of a record into an entry: the names of common data sets, the mapping of the user, lists as text.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::entry::{Entry, Expected, Role, Turn};
use super::import_error::ImportError;

/// Our fields with other accepted names, the most specific first.
const FIELDS: &[(&str, &[&str])] = &[
    ("id", &["uuid"]),
    (
        "value",
        &[
            "prompt",
            "text",
            "question",
            "input",
            "query",
            "goal",
            "objective",
            "behavior",
            "instruction",
            "message",
            "content",
            "seed",
        ],
    ),
    ("data_type", &[]),
    ("harm_categories", &["harm_category", "categories", "category", "intents", "intent"]),
    ("expected", &[]),
    ("expected_behavior", &["expected_behaviour", "rubric"]),
    ("canary", &[]),
    ("success_marks", &["success_mark", "triggers"]),
    ("forbidden_tools", &["forbidden_tool"]),
    ("answers", &["answer", "expected_output", "reference"]),
    ("system_prompt", &["system", "system_instruction"]),
    ("turns", &["conversation", "messages", "dialogue"]),
    ("metadata", &[]),
    ("source", &["url"]),
    ("license", &["licence"]),
];

/// The target of a mapping that drops a field.
const IGNORE: &str = "ignore";

fn is_ours(name: &str) -> bool {
    name == IGNORE || name.starts_with("metadata.") || FIELDS.iter().any(|(ours, _)| *ours == name)
}

/// Whether a name means the text of an entry.
pub(super) fn is_value(name: &str) -> bool {
    ours(name) == Some("value")
}

/// The field of ours that a name means.
pub(super) fn ours(name: &str) -> Option<&'static str> {
    let name = name.trim().to_lowercase().replace([' ', '-'], "_");
    let means =
        |(ours, others): &&(&str, &[&str])| *ours == name || others.contains(&name.as_str());
    FIELDS.iter().find(means).map(|(ours, _)| *ours)
}

/// Checks a mapping and turns it around where it is written the other way.
pub(super) fn mapping(
    given: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>, ImportError> {
    let directed = given.iter().map(|(key, value)| match (is_ours(key), is_ours(value)) {
        (_, true) => Ok((key.clone(), value.clone())),
        (true, false) => Ok((value.clone(), key.clone())),
        (false, false) => Err(ImportError::UnknownField(value.clone())),
    });
    directed.collect()
}

/// Makes an entry of a record, with remarks about what was dropped. What no field of ours means becomes metadata.
pub(super) fn entry(
    record: Map<String, Value>,
    mapping: &BTreeMap<String, String>,
) -> Result<(Entry, Vec<String>), String> {
    let mut sorted: BTreeMap<&'static str, (usize, String, Value)> = BTreeMap::new();
    let mut metadata = Map::new();
    for (name, value) in record {
        let field = match mapping.get(&name) {
            Some(target) if target == IGNORE => continue,
            Some(target) => match target.strip_prefix("metadata.") {
                Some(key) => {
                    metadata.insert(key.to_owned(), value);
                    continue;
                }
                // A mapping wins over every name.
                None => FIELDS.iter().find(|(ours, _)| ours == target).map(|(ours, _)| (*ours, 0)),
            },
            None => rank(&name),
        };
        let Some((field, rank)) = field.filter(|_| !value.is_null()) else {
            if !value.is_null() {
                metadata.insert(name, value);
            }
            continue;
        };
        match sorted.remove(field) {
            Some(better) if better.0 <= rank => {
                metadata.insert(name, value);
                sorted.insert(field, better);
            }
            worse => {
                if let Some((_, name, value)) = worse {
                    metadata.insert(name, value);
                }
                sorted.insert(field, (rank, name, value));
            }
        }
    }
    let mut record: Map<String, Value> =
        sorted.into_iter().map(|(field, (_, _, value))| (field.to_owned(), value)).collect();
    if let Some(Value::Object(own)) = record.remove("metadata") {
        metadata.extend(own);
    }
    build(record, metadata)
}

/// The field of ours that a name means, and how far the name is from ours.
fn rank(name: &str) -> Option<(&'static str, usize)> {
    let field = ours(name)?;
    let name = name.trim().to_lowercase().replace([' ', '-'], "_");
    let (_, others) = FIELDS.iter().find(|(ours, _)| *ours == field)?;
    Some((field, 1 + others.iter().position(|other| *other == name).map_or(0, |at| at + 1)))
}

fn build(
    mut record: Map<String, Value>,
    metadata: Map<String, Value>,
) -> Result<(Entry, Vec<String>), String> {
    let mut remarks = Vec::new();
    let mut text = |field: &str| -> Result<Option<String>, String> {
        let Some(value) = record.remove(field) else { return Ok(None) };
        as_text(&value).map(Some).ok_or_else(|| format!("`{field}` is not text"))
    };
    let mut entry = Entry::new(text("value")?.unwrap_or_default());
    entry.id = text("id")?.unwrap_or_default();
    entry.expected_behavior = text("expected_behavior")?.unwrap_or_default();
    entry.canary = text("canary")?.filter(|canary| !canary.trim().is_empty());
    entry.system_prompt = text("system_prompt")?.filter(|prompt| !prompt.is_empty());
    entry.source = text("source")?.unwrap_or_default();
    if let Some(data_type) = text("data_type")?.filter(|word| !word.is_empty()) {
        entry.data_type = data_type;
    }
    if let Some(license) = text("license")?.filter(|word| !word.is_empty()) {
        entry.license = license;
    }
    if let Some(expected) = text("expected")? {
        match serde_json::from_value::<Expected>(Value::String(expected.clone())) {
            Ok(expected) => entry.expected = Some(expected),
            Err(_) if entry.expected_behavior.is_empty() => entry.expected_behavior = expected,
            Err(_) => remarks.push(format!("`expected` is dropped: unknown word {expected:?}")),
        }
    }
    let mut list = |field: &str, splits: bool| -> Result<Vec<String>, String> {
        record.remove(field).map_or(Ok(Vec::new()), |value| {
            as_list(&value, splits).ok_or_else(|| format!("`{field}` is not a list of texts"))
        })
    };
    entry.harm_categories = list("harm_categories", true)?;
    entry.success_marks = list("success_marks", false)?;
    entry.forbidden_tools = list("forbidden_tools", true)?;
    entry.answers = list("answers", false)?;
    if let Some(turns) = record.remove("turns") {
        entry.turns = as_turns(&turns).ok_or("`turns` is not a list of messages")?;
    }
    if entry.value.is_empty() {
        let last = entry.turns.iter().rfind(|turn| turn.role == Role::User);
        entry.value = last.map(|turn| turn.text.clone()).unwrap_or_default();
    }
    entry.metadata = metadata;
    Ok((entry, remarks))
}

/// Text, numbers and booleans as text.
pub(super) fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A list of texts: an array, a JSON array as text, or one text, which may be split at commas and semicolons.
pub(super) fn as_list(value: &Value, splits: bool) -> Option<Vec<String>> {
    let kept = |texts: Vec<String>| texts.into_iter().filter(|text| !text.is_empty()).collect();
    match value {
        Value::Array(items) => items.iter().map(as_text).collect::<Option<Vec<_>>>().map(kept),
        Value::String(text) if text.trim_start().starts_with('[') => {
            match serde_json::from_str::<Value>(text) {
                Ok(array @ Value::Array(_)) => as_list(&array, splits),
                _ => Some(vec![text.clone()]),
            }
        }
        Value::String(text) if splits => {
            Some(kept(text.split([',', ';']).map(|part| part.trim().to_owned()).collect()))
        }
        other => as_text(other).map(|text| kept(vec![text])),
    }
}

/// A list of messages: texts, or objects with a role and a content. A JSON array as text is accepted.
pub(super) fn as_turns(value: &Value) -> Option<Vec<Turn>> {
    match value {
        Value::Array(items) => items.iter().map(turn).collect(),
        Value::String(text) => match serde_json::from_str::<Value>(text).ok()? {
            array @ Value::Array(_) => as_turns(&array),
            _ => None,
        },
        Value::Object(object) => as_turns(object.get("turns").or_else(|| object.get("messages"))?),
        _ => None,
    }
}

fn turn(value: &Value) -> Option<Turn> {
    let Value::Object(object) = value else {
        return as_text(value).map(|text| Turn { role: Role::User, text });
    };
    let field = |names: &[&str]| names.iter().find_map(|name| object.get(*name));
    let role = field(&["role", "from", "speaker"]).and_then(Value::as_str).unwrap_or("user");
    let role = match role.to_lowercase().as_str() {
        "system" | "developer" => Role::System,
        "assistant" | "model" | "gpt" | "bot" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => Role::User,
    };
    let text = content(field(&["content", "text", "value", "message"])?)?;
    Some(Turn { role, text })
}

/// Text, an object with text, or a list of such parts.
pub(super) fn content(value: &Value) -> Option<String> {
    match value {
        Value::Object(part) => part.get("text").and_then(content),
        Value::Array(parts) => {
            let texts: Vec<String> = parts.iter().filter_map(content).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        other => as_text(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(record: Value, pairs: &[(&str, &str)]) -> Result<(Entry, Vec<String>), String> {
        let given = pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        let Value::Object(record) = record else { panic!("an object") };
        entry(record, &mapping(&given).expect("a valid mapping"))
    }

    #[test]
    fn common_names_are_understood_and_the_rest_is_metadata() {
        let record = json!({"Goal": "g", "text": "t", "category": "a; b", "target": "x", "n": 3});
        let (entry, _) = read(record, &[]).unwrap();
        assert_eq!(entry.value, "t");
        assert_eq!(entry.harm_categories, ["a", "b"]);
        assert_eq!(Value::Object(entry.metadata), json!({"Goal": "g", "target": "x", "n": 3}));
    }

    #[test]
    fn a_mapping_works_in_both_directions_and_wins() {
        for pair in [("frage", "value"), ("value", "frage")] {
            let (entry, _) = read(json!({"frage": "f", "prompt": "p"}), &[pair]).unwrap();
            assert_eq!((entry.value.as_str(), &entry.metadata["prompt"]), ("f", &json!("p")));
        }
        let pairs = [("a", "metadata.b"), ("c", "ignore")];
        let (entry, _) = read(json!({"value": "v", "a": 1, "c": 2}), &pairs).unwrap();
        assert_eq!(Value::Object(entry.metadata), json!({"b": 1}));
        let unknown = [("a".to_owned(), "b".to_owned())].into();
        assert_eq!(mapping(&unknown), Err(ImportError::UnknownField("b".into())));
    }

    #[test]
    fn conversations_of_several_shapes_are_read() {
        let messages = json!([{"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "u"}]}]);
        let (entry, _) = read(json!({"messages": messages}), &[]).unwrap();
        assert_eq!((entry.value.as_str(), entry.turns[0].role), ("u", Role::System));
        let (entry, _) = read(json!({"turns": ["a", "b"]}), &[]).unwrap();
        assert_eq!(entry.messages(), ["a", "b"]);
        assert!(read(json!({"turns": 3}), &[]).is_err());
    }

    #[test]
    fn lists_may_be_text_and_wrong_types_are_errors() {
        let (entry, _) =
            read(json!({"value": 5, "answers": "[\"a\", \"b,c\"]", "expected": "refuse"}), &[])
                .unwrap();
        assert_eq!(
            (entry.value.as_str(), entry.answers.as_slice()),
            ("5", &["a".to_owned(), "b,c".to_owned()][..])
        );
        assert_eq!(entry.expected, Some(Expected::Refuse));
        assert_eq!(read(json!({"value": {"a": 1}}), &[]).unwrap_err(), "`value` is not text");
        let (_, remarks) =
            read(json!({"value": "v", "expected": "x", "rubric": "y"}), &[]).unwrap();
        assert_eq!(remarks.len(), 1);
    }
}
