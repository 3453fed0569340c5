//! JSON values as templates see them, with the behaviour of JavaScript: maps keep their order, empty
//! collections are true, and every value can be printed.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, Value as Variable, ValueKind};
use serde_json::{Map, Number, Value};

/// Maximum depth of a value.
const MAX_DEPTH: usize = 200;

#[derive(Debug)]
pub(super) struct List(pub(super) Vec<Variable>);

#[derive(Debug)]
pub(super) struct Dict {
    entries: Vec<(String, Variable)>,
    index: HashMap<String, usize>,
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Variable) -> Option<Variable> {
        self.0.get(key.as_usize()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&joined(&self.0, ",", 1))
    }
}

impl Object for Dict {
    fn get_value(self: &Arc<Self>, key: &Variable) -> Option<Variable> {
        let key = key.as_str().map_or_else(|| text(key), str::to_owned);
        self.index.get(&key).map(|at| self.entries[*at].1.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let keys = self.entries.iter().map(|(key, _)| Variable::from(key.as_str()));
        Enumerator::Values(keys.collect())
    }

    fn is_true(self: &Arc<Self>) -> bool {
        true
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[object Object]")
    }
}

pub(super) fn list(items: Vec<Variable>) -> Variable {
    Variable::from_object(List(items))
}

/// A map in the order of JavaScript: numeric keys come first, in ascending order.
pub(super) fn dict(mut entries: Vec<(String, Variable)>) -> Variable {
    entries.sort_by_key(|(key, _)| array_index(key).map_or((1, 0), |index| (0, index)));
    let index = entries.iter().enumerate().map(|(at, (key, _))| (key.clone(), at)).collect();
    Variable::from_object(Dict { entries, index })
}

/// The number of a key, if JavaScript treats it as one.
pub fn array_index(key: &str) -> Option<u32> {
    let plain = key == "0" || !key.starts_with(['0', '+']);
    key.parse().ok().filter(|index| plain && *index < u32::MAX)
}

pub(super) fn variable(value: &Value) -> Variable {
    match value {
        Value::Null => Variable::from(()),
        Value::Bool(value) => Variable::from(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Variable::from(number),
            (None, Some(number)) => Variable::from(number),
            _ => Variable::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Variable::from(text.as_str()),
        Value::Array(items) => list(items.iter().map(variable).collect()),
        Value::Object(entries) => {
            dict(entries.iter().map(|(name, value)| (name.clone(), variable(value))).collect())
        }
    }
}

/// A variable as JSON. What JSON cannot represent (a macro, an undefined value) is null.
pub(super) fn json(value: &Variable) -> Value {
    json_at(value, 0)
}

fn json_at(value: &Variable, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    match value.kind() {
        ValueKind::Bool => Value::Bool(value.is_true()),
        ValueKind::Number => number(value),
        ValueKind::String => Value::String(value.as_str().unwrap_or_default().to_owned()),
        ValueKind::Seq | ValueKind::Iterable => {
            items(value).iter().map(|item| json_at(item, depth + 1)).collect()
        }
        ValueKind::Map => {
            let entries = pairs(value).into_iter();
            let entries: Map<_, _> =
                entries.map(|(key, value)| (key, json_at(&value, depth + 1))).collect();
            Value::Object(entries)
        }
        _ => Value::Null,
    }
}

/// A number; a whole number where JavaScript makes no difference.
pub(super) fn whole(number: f64) -> Variable {
    let is_whole = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
    // Zero has a sign that an integer loses.
    if is_whole && !(number == 0.0 && number.is_sign_negative()) {
        return Variable::from(number as i64);
    }
    Variable::from(number)
}

fn number(value: &Variable) -> Value {
    if value.is_integer() {
        if let Some(number) = value.as_i64() {
            return number.into();
        }
        if let Ok(number) = u64::try_from(value.clone()) {
            return number.into();
        }
    }
    let number = float(value);
    // JavaScript makes no difference between 2 and 2.0.
    if number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0 {
        return (number as i64).into();
    }
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

pub(super) fn float(value: &Variable) -> f64 {
    f64::try_from(value.clone()).unwrap_or(f64::NAN)
}

/// The items of a list; none for any other value.
pub(super) fn items(value: &Variable) -> Vec<Variable> {
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => {
            value.try_iter().map(Iterator::collect).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The entries of a map; none for any other value.
pub(super) fn pairs(value: &Variable) -> Vec<(String, Variable)> {
    if value.kind() != ValueKind::Map {
        return Vec::new();
    }
    let keys = value.try_iter().map(Iterator::collect::<Vec<_>>).unwrap_or_default();
    let pair = |key: Variable| (text(&key), value.get_item(&key).unwrap_or(Variable::UNDEFINED));
    keys.into_iter().map(pair).collect()
}

/// A variable as a template prints it.
pub(super) fn text(value: &Variable) -> String {
    text_at(value, 0)
}

fn text_at(value: &Variable, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return String::new();
    }
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => String::new(),
        ValueKind::Bool => value.is_true().to_string(),
        ValueKind::Number if !value.is_integer() || float(value).abs() >= 1e21 => {
            js_number(float(value))
        }
        ValueKind::Seq | ValueKind::Iterable => joined(&items(value), ",", depth + 1),
        ValueKind::Map => "[object Object]".to_owned(),
        _ => value.to_string(),
    }
}

fn joined(items: &[Variable], separator: &str, depth: usize) -> String {
    let texts: Vec<_> = items.iter().map(|item| text_at(item, depth)).collect();
    texts.join(separator)
}

/// A value as JavaScript writes it into a text: `1.5`, `a,b`, `[object Object]`, `null`.
pub fn printed(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => text.clone(),
        other => text(&variable(other)),
    }
}

/// A number as JavaScript prints it.
pub(super) fn js_number(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&number.abs()) {
        return format!("{number}");
    }
    let scientific = format!("{number:e}");
    match scientific.split_once('e') {
        Some((mantissa, exponent)) if !exponent.starts_with('-') => {
            format!("{mantissa}e+{exponent}")
        }
        _ => scientific,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_print_as_in_javascript() {
        for (value, expected) in [
            (json!("a"), "a"),
            (json!(1.0), "1"),
            (json!(1.50), "1.5"),
            (json!(-0.1), "-0.1"),
            (json!(1e21), "1e+21"),
            (json!(1e-7), "1e-7"),
            (json!(123_456_789_012_345_680_000.0), "123456789012345680000"),
            (json!(true), "true"),
            (json!(null), "null"),
            (json!([1, null, [2, "x"]]), "1,,2,x"),
            (json!({"a": 1}), "[object Object]"),
            (json!(u64::MAX), "18446744073709551615"),
        ] {
            assert_eq!(printed(&value), expected, "{value}");
        }
    }

    #[test]
    fn values_survive_the_way_there_and_back() {
        let value = json!({"b": [1, 2.5, null, true], "a": {"x": "y"}, "": -1});
        assert_eq!(json(&variable(&value)).to_string(), value.to_string());
        assert_eq!(json(&Variable::from(2.0)), json!(2));
    }
}
