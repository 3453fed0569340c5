//! JSON values by what they mean: keys in any order, and numbers however they are written, so that 1 equals 1.0.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Number, Value};

/// Deeper values are not compared any further. Readers refuse JSON of this depth.
const MAX_DEPTH: usize = 256;

/// A fingerprint that equal values share. Different values share one only by a collision of 64 bits.
pub fn fingerprint(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    hash(value, MAX_DEPTH, &mut hasher);
    hasher.finish()
}

/// Whether two values mean the same.
pub fn equal(left: &Value, right: &Value) -> bool {
    equal_within(left, right, MAX_DEPTH)
}

/// A number, text or boolean as text, in one notation: the same for `17`, `17.0` and `"17"`. None for lists, objects
/// and null.
pub fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => {
            Some(integer(number).map_or_else(|| number.to_string(), |int| int.to_string()))
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// All scalars inside a value. Keys do not count.
pub fn scalars(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(map) => open.extend(map.values().rev()),
            _ => found.extend(scalar(value)),
        }
    }
    found
}

fn hash(value: &Value, depth: usize, hasher: &mut DefaultHasher) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(flag) => (1_u8, flag).hash(hasher),
        Value::Number(number) => match integer(number) {
            Some(int) => (2_u8, int).hash(hasher),
            None => (3_u8, number.as_f64().map(f64::to_bits)).hash(hasher),
        },
        Value::String(text) => (4_u8, text).hash(hasher),
        Value::Array(items) => {
            (5_u8, items.len()).hash(hasher);
            for item in items {
                hash(item, depth, hasher);
            }
        }
        Value::Object(map) => {
            (6_u8, map.len()).hash(hasher);
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| *key);
            for (key, item) in entries {
                key.hash(hasher);
                hash(item, depth, hasher);
            }
        }
    }
}

fn equal_within(left: &Value, right: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return true };
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (integer(left), integer(right)) {
            (None, None) => left.as_f64() == right.as_f64(),
            (left, right) => left == right,
        },
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal_within(left, right, depth))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| {
                    right.get(key).is_some_and(|right| equal_within(left, right, depth))
                })
        }
        _ => left == right,
    }
}

/// The number as an integer if it is one, however it is written.
fn integer(number: &Number) -> Option<i128> {
    let exact = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    exact.or_else(|| {
        // Beyond this, neighbouring integers share one floating-point number.
        let whole = |float: &f64| float.fract() == 0.0 && float.abs() < 9e15;
        number.as_f64().filter(whole).map(|float| float as i128)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn notation_and_order_do_not_matter() {
        let left = json!({"a": 1, "b": [2.0, {"x": -0.0, "y": null}]});
        let right = json!({"b": [2, {"y": null, "x": 0}], "a": 1.0});
        assert!(equal(&left, &right));
        assert_eq!(fingerprint(&left), fingerprint(&right));
    }

    #[test]
    fn different_values_differ() {
        for (left, right) in [
            (json!(1), json!("1")),
            (json!(1), json!(true)),
            (json!(1.5), json!(1)),
            (json!([1, 2]), json!([2, 1])),
            (json!({"a": null}), json!({})),
            (json!([[1], []]), json!([[], [1]])),
            (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)),
            (json!("a"), json!("A")),
        ] {
            assert!(!equal(&left, &right), "{left} {right}");
            assert_ne!(fingerprint(&left), fingerprint(&right), "{left} {right}");
        }
    }

    #[test]
    fn scalars_have_one_notation() {
        assert_eq!(
            scalars(&json!({"a": [17.0, "17", 17], "b": {"c": null, "d": true}})),
            ["17", "17", "17", "true"]
        );
    }

    proptest! {
        #[test]
        fn equal_values_share_a_fingerprint(numbers in prop::collection::vec(-1000_i32..1000, 0..8)) {
            let whole: Value = numbers.iter().map(|number| json!(number)).collect();
            let float: Value = numbers.iter().map(|number| json!(f64::from(*number))).collect();
            prop_assert!(equal(&whole, &float));
            prop_assert_eq!(fingerprint(&whole), fingerprint(&float));
        }
    }
}
