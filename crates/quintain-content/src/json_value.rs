//! What every reader of JSON values needs: the texts in a value, and the tokens of JSON pointers (RFC 6901).

use serde_json::Value;

/// All texts in a value, in order. Keys are not texts.
pub fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(entries) => entries.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// A key as a token of a JSON pointer.
pub fn pointer_token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The key that a token of a JSON pointer stands for.
pub fn pointer_key(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_of_all_depths_are_found_in_order() {
        assert_eq!(
            texts(&json!({"a": "x", "b": [1, "y", {"c": ["z"]}], "d": null})),
            ["x", "y", "z"]
        );
    }

    #[test]
    fn tokens_name_their_keys() {
        for key in ["a/b", "~1", "~01", "m~n/o", ""] {
            let value = json!({key: 7});
            assert_eq!(value.pointer(&format!("/{}", pointer_token(key))), Some(&json!(7)));
            assert_eq!(pointer_key(&pointer_token(key)), key);
        }
    }
}
