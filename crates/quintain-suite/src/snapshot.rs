//! A response as text for snapshots: one value per line, sorted keys, volatile values masked.

use quintain_content::json_text;
use serde_json::{Value, json};

use crate::masks::Masks;

/// Text as it is, anything else as JSON. Text blocks with JSON or several lines are unfolded, so that
/// differences can be shown by line.
pub fn text(value: &Value, masks: &Masks) -> String {
    let mut shown = match value {
        Value::String(text) => match data(text) {
            Some(data) => data,
            None => return ended(masks.text(text).into_owned()),
        },
        other => other.clone(),
    };
    masks.places(&mut shown);
    unfold(&mut shown, masks);
    masks.forms(&mut shown);
    shown.sort_all_objects();
    // Serialising a `Value` cannot fail.
    ended(serde_json::to_string_pretty(&shown).unwrap_or_default())
}

fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Parses a text that is a JSON object or list.
fn data(text: &str) -> Option<Value> {
    let value = json_text::parse(text).ok()?;
    (value.is_object() || value.is_array()).then_some(value)
}

fn unfold(value: &mut Value, masks: &Masks) {
    match value {
        Value::Array(items) => {
            for item in items {
                unfold(item, masks);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if key == "text" => {
                        if let Some(mut inner) = data(text) {
                            masks.places(&mut inner);
                            *value = json!({"$json": inner});
                        } else if text.contains('\n') {
                            *value = json!({"$lines": text.lines().collect::<Vec<_>>()});
                        }
                    }
                    other => unfold(other, masks),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_becomes_lines() {
        let answer = json!([
            {"type": "text", "text": "{\"b\": 1, \"a\": [2]}"},
            {"type": "text", "text": "one\ntwo"},
            {"type": "text", "text": "42"}
        ]);
        let shown = text(&Value::String(answer.to_string()), &Masks::default());
        assert_eq!(shown, text(&answer, &Masks::default()));
        for line in ["\"$json\": {", "\"two\"", "\"text\": \"42\""] {
            assert!(shown.contains(line), "{shown}");
        }
        assert!(shown.find("\"a\"") < shown.find("\"b\""), "{shown}");
        assert_eq!(text(&json!("plain"), &Masks::default()), "plain\n");
    }
}
