//! The scalar values of JSON with their places.

use quintain_content::json_value::pointer_token;
use serde_json::Value;

/// A scalar value: where it is, and the name of the nearest field above it.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaf<'v> {
    pub pointer: String,
    pub key: &'v str,
    pub value: &'v Value,
    /// Whether it is an element of a list, or below one.
    pub is_listed: bool,
}

/// Deeper values are not looked at.
const MAX_DEPTH: usize = 64;
const MAX_LEAVES: usize = 100_000;

/// All scalar values in their order.
pub fn leaves(value: &Value) -> Vec<Leaf<'_>> {
    let mut found = Vec::new();
    collect(
        value,
        Leaf { pointer: String::new(), key: "", value, is_listed: false },
        0,
        &mut found,
    );
    found
}

fn collect<'v>(value: &'v Value, place: Leaf<'v>, depth: usize, found: &mut Vec<Leaf<'v>>) {
    if depth > MAX_DEPTH || found.len() >= MAX_LEAVES {
        return;
    }
    match value {
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                let pointer = format!("{}/{index}", place.pointer);
                collect(
                    value,
                    Leaf { pointer, key: place.key, value, is_listed: true },
                    depth + 1,
                    found,
                );
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                let pointer = format!("{}/{}", place.pointer, pointer_token(key));
                collect(
                    value,
                    Leaf { pointer, key, value, is_listed: place.is_listed },
                    depth + 1,
                    found,
                );
            }
        }
        _ => found.push(Leaf { value, ..place }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn leaves_know_their_place_and_their_name() {
        let value = json!({"a/b": [{"c": 1}, 2], "d": null});
        let found = leaves(&value);
        let places: Vec<(&str, &str, bool)> =
            found.iter().map(|leaf| (leaf.pointer.as_str(), leaf.key, leaf.is_listed)).collect();
        assert_eq!(
            places,
            [("/a~1b/0/c", "c", true), ("/a~1b/1", "a/b", true), ("/d", "d", false)]
        );
    }
}
