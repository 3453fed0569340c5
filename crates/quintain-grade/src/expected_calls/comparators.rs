//! How single arguments are compared: exactly, or as loosely as the author of a case says.

use std::collections::HashMap;

use regex::Regex;
use serde_json::{Map, Value};

use super::dates::same_date;
use crate::canonical::equal;

/// How a value is compared with the expected one.
#[derive(Debug, Clone)]
pub(crate) enum Comparator {
    /// Equal as JSON; 1 and 1.0 are the same number.
    Exact,
    /// Numbers that differ by at most this much.
    Tolerance { absolute: f64, relative: f64 },
    /// Texts without regard to case and white space around them.
    Case,
    /// Lists without regard to order and repetition.
    Set,
    /// A text that matches this pattern, whatever is expected.
    Regex(Regex),
    /// The same date or time in another notation.
    Date,
    /// Objects and lists that contain at least what is expected.
    Subset,
    /// One of these values, whatever is expected.
    AnyOf(Vec<Value>),
    /// Everything.
    Ignore,
}

/// The comparators of the arguments of each tool; `*` stands for all tools.
#[derive(Debug, Clone, Default)]
pub(crate) struct Comparators(HashMap<String, HashMap<String, Comparator>>);

const WORDS: &str =
    "exact, case, set, date, subset or ignore, or an object with `tolerance`, `regex` or `anyOf`";

impl Comparators {
    /// Reads `{tool: {argument: comparator}}`.
    ///
    /// # Errors
    /// All mistakes, each with its place.
    pub(crate) fn read(value: &Value) -> Result<Self, Vec<String>> {
        let Some(tools) = value.as_object() else {
            return Err(vec!["expected an object of tools".to_owned()]);
        };
        let mut errors = Vec::new();
        let mut all = HashMap::new();
        for (tool, arguments) in tools {
            let Some(arguments) = arguments.as_object() else {
                errors.push(format!("`{tool}`: expected an object of arguments"));
                continue;
            };
            let mut of_tool = HashMap::new();
            for (name, written) in arguments {
                match comparator(written) {
                    Ok(comparator) => {
                        of_tool.insert(name.clone(), comparator);
                    }
                    Err(error) => errors.push(format!("`{tool}.{name}`: {error}")),
                }
            }
            all.insert(tool.clone(), of_tool);
        }
        if errors.is_empty() { Ok(Self(all)) } else { Err(errors) }
    }

    fn of(&self, tool: &str, argument: &str) -> &Comparator {
        let named = |tool: &str| self.0.get(tool).and_then(|of_tool| of_tool.get(argument));
        named(tool).or_else(|| named("*")).unwrap_or(&Comparator::Exact)
    }

    /// The share of arguments that fit, among those that are expected or given.
    pub(crate) fn fit(&self, tool: &str, expected: &Value, made: Option<&Value>) -> f64 {
        let none = Map::new();
        let (Some(wanted), Some(given)) =
            (expected.as_object(), made.map_or(Some(&none), Value::as_object))
        else {
            return f64::from(made.is_some_and(|made| equal(expected, made)));
        };
        let faults = self.faults(tool, wanted, given).count();
        let counted = |name: &&String| !matches!(self.of(tool, name), Comparator::Ignore);
        let all = given.keys().filter(counted).count()
            + wanted.keys().filter(|name| !given.contains_key(*name)).filter(counted).count();
        if all == 0 { 1.0 } else { (all - faults) as f64 / all as f64 }
    }

    /// The names of arguments that do not fit: other values, missing ones, and ones that are not expected.
    pub(crate) fn faults<'a>(
        &'a self,
        tool: &'a str,
        wanted: &'a Map<String, Value>,
        given: &'a Map<String, Value>,
    ) -> impl Iterator<Item = &'a str> {
        let expected = wanted.iter().filter(move |(name, value)| {
            let comparator = self.of(tool, name);
            match given.get(*name) {
                Some(got) => !comparator.accepts(value, got),
                None => !matches!(comparator, Comparator::Ignore),
            }
        });
        let extra = given.iter().filter(move |(name, _)| {
            !wanted.contains_key(*name) && !matches!(self.of(tool, name), Comparator::Ignore)
        });
        expected.chain(extra).map(|(name, _)| name.as_str())
    }
}

fn comparator(written: &Value) -> Result<Comparator, String> {
    let word = written.as_str().unwrap_or_default();
    match word {
        "exact" => return Ok(Comparator::Exact),
        "case" => return Ok(Comparator::Case),
        "set" => return Ok(Comparator::Set),
        "date" => return Ok(Comparator::Date),
        "subset" => return Ok(Comparator::Subset),
        "ignore" => return Ok(Comparator::Ignore),
        _ => {}
    }
    let single = written.as_object().filter(|entries| entries.len() == 1);
    let Some((name, value)) = single.and_then(|entries| entries.iter().next()) else {
        return Err(format!("expected {WORDS}"));
    };
    match name.as_str() {
        "tolerance" => tolerance(value),
        "regex" => {
            let pattern = value.as_str().ok_or("expected a text for `regex`")?;
            Regex::new(&format!(r"\A(?:{pattern})\z"))
                .map(Comparator::Regex)
                .map_err(|_| format!("invalid regular expression `{pattern}`"))
        }
        "anyOf" | "any_of" => {
            let values = value.as_array().ok_or("expected a list for `anyOf`")?;
            Ok(Comparator::AnyOf(values.clone()))
        }
        _ => Err(format!("unknown comparator `{name}`; expected {WORDS}")),
    }
}

fn tolerance(value: &Value) -> Result<Comparator, String> {
    let wrong = || "expected a number, or `{absolute: N, relative: N}`, for `tolerance`".to_owned();
    let positive = |value: &Value| value.as_f64().filter(|number| *number >= 0.0).ok_or_else(wrong);
    if let Some(entries) = value.as_object() {
        let known = entries.keys().all(|name| matches!(name.as_str(), "absolute" | "relative"));
        if !known || entries.is_empty() {
            return Err(wrong());
        }
        let read = |name: &str| entries.get(name).map_or(Ok(0.0), positive);
        return Ok(Comparator::Tolerance {
            absolute: read("absolute")?,
            relative: read("relative")?,
        });
    }
    Ok(Comparator::Tolerance { absolute: positive(value)?, relative: 0.0 })
}

impl Comparator {
    /// Whether a value is as good as the expected one.
    pub(crate) fn accepts(&self, expected: &Value, got: &Value) -> bool {
        match self {
            Self::Exact => equal(expected, got),
            Self::Tolerance { absolute, relative } => match (number(expected), number(got)) {
                (Some(wanted), Some(got)) => {
                    // The last digits of decimal fractions are not exact.
                    let allowed = absolute.max(relative * wanted.abs());
                    (wanted - got).abs() <= allowed + 1e-9 * wanted.abs().max(1e-9)
                }
                _ => equal(expected, got),
            },
            Self::Case => match (expected.as_str(), got.as_str()) {
                (Some(wanted), Some(got)) => {
                    wanted.trim().to_lowercase() == got.trim().to_lowercase()
                }
                _ => equal(expected, got),
            },
            Self::Set => match (expected.as_array(), got.as_array()) {
                (Some(wanted), Some(got)) => {
                    let within = |some: &[Value], all: &[Value]| {
                        some.iter().all(|one| all.iter().any(|other| equal(one, other)))
                    };
                    is_comparable(wanted, got) && within(wanted, got) && within(got, wanted)
                }
                _ => equal(expected, got),
            },
            Self::Regex(pattern) => match got {
                Value::String(text) => pattern.is_match(text),
                other => pattern.is_match(&other.to_string()),
            },
            Self::Date => equal(expected, got) || same_date(expected, got),
            Self::Subset => contains(got, expected),
            Self::AnyOf(values) => values.iter().any(|value| equal(value, got)),
            Self::Ignore => true,
        }
    }
}

/// Lists for which comparing each with each takes too long are compared in order.
fn is_comparable(left: &[Value], right: &[Value]) -> bool {
    left.len().saturating_mul(right.len()) <= 1_000_000
}

/// Whether a value contains at least another one: its entries, its items, or the same scalar.
fn contains(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|inner| contains(inner, value))),
        (Value::Array(whole), Value::Array(part)) => {
            is_comparable(whole, part)
                && part.iter().all(|one| whole.iter().any(|other| contains(other, one)))
        }
        _ => equal(whole, part),
    }
}

fn number(value: &Value) -> Option<f64> {
    let written = |text: &str| text.trim().replace(',', "").parse().ok();
    value
        .as_f64()
        .or_else(|| value.as_str().and_then(written))
        .filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-z0-9,. :/-]{0,8}".prop_map(Value::from),
        ];
        scalar.prop_recursive(3, 20, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-c]", inner, 0..3)
                    .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn every_comparator_accepts_the_expected_value(value in values()) {
            for word in ["exact", "case", "set", "date", "subset", "ignore"] {
                prop_assert!(comparator(&json!(word)).unwrap().accepts(&value, &value), "{}", word);
            }
            let near = accepts(json!({"tolerance": 0}), value.clone(), value.clone());
            let listed = accepts(json!({"anyOf": [value.clone()]}), Value::Null, value);
            prop_assert!(near && listed);
        }

        #[test]
        fn odd_comparators_are_read_or_refused(written in values()) {
            let _ = Comparators::read(&written);
        }
    }

    fn accepts(written: Value, expected: Value, got: Value) -> bool {
        comparator(&written).unwrap().accepts(&expected, &got)
    }

    #[test]
    fn each_comparator_accepts_what_it_should_and_no_more() {
        assert!(accepts(json!("exact"), json!(1), json!(1.0)));
        assert!(!accepts(json!("exact"), json!(1), json!(true)));
        assert!(!accepts(json!("exact"), json!("1"), json!(1)));
        assert!(accepts(json!({"tolerance": 0.1}), json!(1.0), json!(1.1)));
        assert!(!accepts(json!({"tolerance": 0.1}), json!(1.0), json!(1.11)));
        assert!(accepts(json!({"tolerance": {"relative": 0.01}}), json!(1000), json!("1,009")));
        assert!(!accepts(json!({"tolerance": {"relative": 0.01}}), json!(1000), json!(1011)));
        assert!(accepts(json!("case"), json!("Oslo"), json!(" OSLO ")));
        assert!(!accepts(json!("case"), json!("Oslo"), json!("Osl")));
        assert!(accepts(json!("set"), json!([1, 2]), json!([2, 1, 1])));
        assert!(!accepts(json!("set"), json!([1, 2]), json!([2, 1, 3])));
        assert!(accepts(json!({"regex": "a+|b"}), json!(null), json!("aaa")));
        assert!(!accepts(json!({"regex": "a+|b"}), json!(null), json!("bb")));
        assert!(accepts(json!("date"), json!("2026-03-05"), json!("March 5, 2026")));
        assert!(!accepts(json!("date"), json!("2026-03-05"), json!("May 3, 2026")));
        assert!(accepts(json!("subset"), json!({"a": [1]}), json!({"a": [2, 1], "b": 0})));
        assert!(!accepts(json!("subset"), json!({"a": [1], "c": 0}), json!({"a": [2, 1]})));
        assert!(accepts(json!({"anyOf": ["x", "y"]}), json!("z"), json!("y")));
        assert!(!accepts(json!({"any_of": ["x", "y"]}), json!("z"), json!("z")));
        assert!(accepts(json!("ignore"), json!(1), json!("anything")));
    }

    #[test]
    fn all_mistakes_are_reported_with_their_place() {
        let written =
            json!({"get": {"a": "wat", "b": {"regex": "("}, "c": {"tolerance": -1}}, "put": 7});
        let errors = Comparators::read(&written).unwrap_err();
        assert_eq!(errors.len(), 4, "{errors:?}");
        assert!(errors[0].starts_with("`get.a`: expected exact"), "{errors:?}");
    }

    #[test]
    fn the_share_counts_expected_and_given_arguments() {
        let comparators =
            Comparators::read(&json!({"*": {"trace": "ignore"}, "get": {"n": {"tolerance": 1}}}))
                .unwrap();
        let fit = |expected: Value, made: Value| comparators.fit("get", &expected, Some(&made));
        let near =
            |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one} is not {other}");
        near(fit(json!({"n": 1}), json!({"n": 2})), 1.0);
        near(fit(json!({"n": 1, "m": 1}), json!({"n": 2})), 0.5);
        near(fit(json!({"n": 1}), json!({"n": 1, "x": 1})), 0.5);
        near(fit(json!({"n": 1, "trace": 1}), json!({"n": 1, "trace": 2})), 1.0);
        near(fit(json!({}), json!({})), 1.0);
        near(fit(json!({}), json!([])), 0.0);
        near(comparators.fit("get", &json!({}), None), 1.0);
        near(comparators.fit("get", &json!({"a": 1}), None), 0.0);
    }
}
