//! The operators of JavaScript, which convert their operands.

use std::cmp::Ordering;

use minijinja::value::{Rest, Value as Variable, ValueKind};
use minijinja::{Environment, Error};

use super::filters::{bounded, failed};
use super::value::{Dict, List, dict, float, items, list, pairs, text, whole};

pub(super) fn register(engine: &mut Environment<'static>) {
    engine.add_filter("__calc", calculated);
    engine.add_filter("__floor", |value: Variable| whole(number(&value).floor()));
    engine.add_filter("__negative", |value: Variable| whole(-number(&value)));
    engine.add_filter("__number", |value: Variable| whole(number(&value)));
    // The engine treats its own empty lists and maps as false.
    engine.add_filter("__list", |value: Variable| list(items(&value)));
    engine.add_filter("__dict", |value: Variable| dict(pairs(&value)));
}

/// Applies operators, each with the operand that follows it, from left to right.
fn calculated(first: Variable, rest: Rest<Variable>) -> Result<Variable, Error> {
    rest.chunks(2).try_fold(first, |left, pair| match pair {
        [operator, right] => applied(operator.as_str().unwrap_or_default(), &left, right),
        _ => Err(failed("an operator has no operand")),
    })
}

fn applied(operator: &str, left: &Variable, right: &Variable) -> Result<Variable, Error> {
    let numbers = || (number(left), number(right));
    let calculate = |f: fn(f64, f64) -> f64| {
        let (left, right) = numbers();
        whole(f(left, right))
    };
    Ok(match operator {
        "+" => return sum(left, right),
        "~" => return joined(left, right),
        "-" => calculate(|left, right| left - right),
        "*" => calculate(|left, right| left * right),
        "/" => calculate(|left, right| left / right),
        "%" => calculate(|left, right| left % right),
        "**" => calculate(f64::powf),
        "==" => is_equal(left, right).into(),
        "!=" => (!is_equal(left, right)).into(),
        "===" => is_identical(left, right).into(),
        "!==" => (!is_identical(left, right)).into(),
        "<" => compared(left, right, Ordering::is_lt).into(),
        "<=" => compared(left, right, Ordering::is_le).into(),
        ">" => compared(left, right, Ordering::is_gt).into(),
        ">=" => compared(left, right, Ordering::is_ge).into(),
        "in" => return contained(left, right).map(Variable::from),
        other => return Err(failed(format!("unknown operator `{other}`"))),
    })
}

/// The types that JavaScript distinguishes.
#[derive(PartialEq, Eq)]
enum Type {
    Undefined,
    Null,
    Boolean,
    Number,
    Text,
    Object,
}

fn type_of(value: &Variable) -> Type {
    match value.kind() {
        ValueKind::Undefined => Type::Undefined,
        ValueKind::None => Type::Null,
        ValueKind::Bool => Type::Boolean,
        ValueKind::Number => Type::Number,
        ValueKind::String => Type::Text,
        _ => Type::Object,
    }
}

fn is_object(value: &Variable) -> bool {
    type_of(value) == Type::Object
}

/// A value as part of a text.
fn string(value: &Variable) -> String {
    match type_of(value) {
        Type::Undefined => "undefined".to_owned(),
        Type::Null => "null".to_owned(),
        _ => text(value),
    }
}

fn number(value: &Variable) -> f64 {
    match type_of(value) {
        Type::Undefined => f64::NAN,
        Type::Null => 0.0,
        Type::Boolean => f64::from(u8::from(value.is_true())),
        Type::Number => float(value),
        Type::Text | Type::Object => parsed(text(value).trim()),
    }
}

fn parsed(text: &str) -> f64 {
    let in_base = |prefix: [&str; 2], base: u32| {
        let digits = prefix.iter().find_map(|prefix| text.strip_prefix(prefix))?;
        let digit =
            |value: f64, c: char| Some(value * f64::from(base) + f64::from(c.to_digit(base)?));
        (!digits.is_empty()).then(|| digits.chars().try_fold(0.0, digit)).flatten()
    };
    let based = in_base(["0x", "0X"], 16).or_else(|| in_base(["0o", "0O"], 8));
    if let Some(number) = based.or_else(|| in_base(["0b", "0B"], 2)) {
        return number;
    }
    match text {
        "" => 0.0,
        "Infinity" | "+Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        // Other words that Rust reads as numbers (`inf`, `nan`) are not numbers here.
        _ if text
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E')) =>
        {
            text.parse().unwrap_or(f64::NAN)
        }
        _ => f64::NAN,
    }
}

fn sum(left: &Variable, right: &Variable) -> Result<Variable, Error> {
    let is_text = |value| matches!(type_of(value), Type::Text | Type::Object);
    if is_text(left) || is_text(right) {
        return joined(left, right);
    }
    Ok(whole(number(left) + number(right)))
}

fn joined(left: &Variable, right: &Variable) -> Result<Variable, Error> {
    let (mut text, right) = (string(left), string(right));
    bounded(text.len().saturating_add(right.len()))?;
    text.push_str(&right);
    Ok(text.into())
}

/// `==`
fn is_equal(left: &Variable, right: &Variable) -> bool {
    let is_nothing = |value| matches!(type_of(value), Type::Undefined | Type::Null);
    match (is_nothing(left), is_nothing(right)) {
        (true, true) => return true,
        (false, false) => {}
        _ => return false,
    }
    match (type_of(left), type_of(right)) {
        (left_type, right_type) if left_type == right_type => is_identical(left, right),
        (Type::Object, Type::Text) | (Type::Text, Type::Object) => text(left) == text(right),
        _ => are_equal(number(left), number(right)),
    }
}

/// `===`
fn is_identical(left: &Variable, right: &Variable) -> bool {
    match (type_of(left), type_of(right)) {
        (Type::Undefined, Type::Undefined) | (Type::Null, Type::Null) => true,
        (Type::Boolean, Type::Boolean) => left.is_true() == right.is_true(),
        (Type::Number, Type::Number) => are_equal(float(left), float(right)),
        (Type::Text, Type::Text) => left.as_str() == right.as_str(),
        (Type::Object, Type::Object) => is_same_object(left, right),
        _ => false,
    }
}

/// Exact comparison, as everywhere in JavaScript.
fn are_equal(left: f64, right: f64) -> bool {
    left.partial_cmp(&right) == Some(Ordering::Equal)
}

/// Lists and maps are equal only to themselves.
fn is_same_object(left: &Variable, right: &Variable) -> bool {
    fn same<T: minijinja::value::Object + 'static>(left: &Variable, right: &Variable) -> bool {
        let (left, right) = (left.downcast_object_ref::<T>(), right.downcast_object_ref::<T>());
        left.zip(right).is_some_and(|(left, right)| std::ptr::eq(left, right))
    }
    same::<List>(left, right) || same::<Dict>(left, right)
}

fn compared(left: &Variable, right: &Variable, is: fn(Ordering) -> bool) -> bool {
    let is_text = |value: &Variable| type_of(value) == Type::Text || is_object(value);
    if is_text(left) && is_text(right) {
        return is(text(left).encode_utf16().cmp(text(right).encode_utf16()));
    }
    number(left).partial_cmp(&number(right)).is_some_and(is)
}

fn contained(item: &Variable, place: &Variable) -> Result<bool, Error> {
    match place.kind() {
        ValueKind::String => Ok(place.as_str().unwrap_or_default().contains(&string(item))),
        ValueKind::Seq | ValueKind::Iterable => {
            Ok(items(place).iter().any(|found| is_identical(found, item)))
        }
        ValueKind::Map => Ok(!place.get_item(item).unwrap_or_default().is_undefined()),
        _ => Err(failed("`in` needs a list, a map or a text")),
    }
}
