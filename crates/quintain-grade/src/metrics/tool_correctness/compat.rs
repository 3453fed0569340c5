//! The scores of deepeval 4.3.1, including what one would do differently: greedy pairing, calls that equal a used one count
//! as used, and exceptions. Values are compared as in Python, where 1, 1.0 and True are equal.

use std::collections::HashMap;

use quintain_evidence::trace::ExpectedCall;
use serde_json::{Map, Value};

use super::super::{Measured, MetricInput, Scored};
use super::Params;
use crate::expected_calls::{MadeCall, made_calls};

/// More pairs than this are refused: deepeval needs time and memory in proportion to them.
const MAX_PAIRS: usize = 4_000_000;

/// How deepeval compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Default,
    Ordered,
    Exact,
}

impl Mode {
    /// deepeval looks at exact matching first.
    pub(super) fn new(is_exact: bool, is_ordered: bool) -> Self {
        match (is_exact, is_ordered) {
            (true, _) => Self::Exact,
            (false, true) => Self::Ordered,
            (false, false) => Self::Default,
        }
    }
}

/// deepeval raises an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Raised;

pub(super) fn measure(input: &MetricInput<'_>, mode: Mode, params: Params) -> Measured {
    let Some(expected) = &input.view.trace.expected.calls else {
        return Measured::undefined("the case has no expected calls");
    };
    let made = made_calls(input.view, params.output);
    if expected.len().saturating_mul(made.len()) > MAX_PAIRS {
        return Measured::Failed("too many calls to compare".to_owned());
    }
    let score = match mode {
        Mode::Exact => Ok(f64::from(is_exact(expected, &made, params))),
        _ if expected.is_empty() => Ok(f64::from(made.is_empty())),
        Mode::Ordered => ordered(expected, &made, params),
        Mode::Default => greedy(expected, &made, params),
    };
    match score {
        Ok(value) => {
            let reason = format!("expected calls: {}, calls: {}", expected.len(), made.len());
            Measured::Score(Scored::new(value, reason).with("compat", "deepeval"))
        }
        Err(Raised) => Measured::Failed(
            "deepeval raises an exception: one of two compared calls has no arguments".to_owned(),
        ),
    }
}

fn is_same_tool(expected: &ExpectedCall, made: &MadeCall<'_>) -> bool {
    const DEFAULT: &str = "FUNCTION";
    let kind = expected.kind.as_deref().unwrap_or(DEFAULT);
    expected.name == made.name && kind == made.kind.unwrap_or(DEFAULT)
}

fn is_exact(expected: &[ExpectedCall], made: &[MadeCall<'_>], params: Params) -> bool {
    expected.len() == made.len()
        && expected.iter().zip(made).all(|(expected, made)| {
            is_same_tool(expected, made)
                && (!params.arguments || equal_options(expected.args.as_ref(), made.args))
                && (!params.output
                    || equal_options(expected.output.as_ref(), made.output.as_deref()))
        })
}

/// How well two calls of the same tool fit.
fn fit(expected: &ExpectedCall, made: &MadeCall<'_>, params: Params) -> Result<f64, Raised> {
    let mut fit = 1.0;
    if params.arguments {
        fit = match (object(expected.args.as_ref()), object(made.args)) {
            (None, None) => 1.0,
            (Some(wanted), Some(given)) => similarity(wanted, given),
            _ => return Err(Raised),
        };
    }
    if params.output && !equal_options(expected.output.as_ref(), made.output.as_deref()) {
        fit = 0.0;
    }
    Ok(fit)
}

fn object(args: Option<&Value>) -> Option<&Map<String, Value>> {
    args.and_then(Value::as_object)
}

fn greedy(expected: &[ExpectedCall], made: &[MadeCall<'_>], params: Params) -> Result<f64, Raised> {
    let classes = classes(made);
    let mut is_used = vec![false; made.len()];
    let mut total = 0.0;
    for wanted in expected {
        let mut best: Option<(f64, usize)> = None;
        for (index, call) in made.iter().enumerate() {
            if is_used[classes[index]] || !is_same_tool(wanted, call) {
                continue;
            }
            let fit = fit(wanted, call, params)?;
            if fit > best.map_or(0.0, |(best, _)| best) {
                best = Some((fit, index));
            }
        }
        if let Some((fit, index)) = best {
            total += fit;
            is_used[classes[index]] = true;
        }
    }
    Ok(total / expected.len() as f64)
}

/// For each call the first one that equals it: deepeval remembers used calls in a set, in which equal calls are one.
fn classes(made: &[MadeCall<'_>]) -> Vec<usize> {
    let mut first: HashMap<String, usize> = HashMap::new();
    let class = |(index, call): (usize, &MadeCall<'_>)| {
        let mut key = format!("{}:{}", call.name.len(), call.name);
        for part in [call.args, call.output.as_deref()] {
            write_key(part.unwrap_or(&Value::Null), &mut key);
        }
        *first.entry(key).or_insert(index)
    };
    made.iter().enumerate().map(class).collect()
}

/// The same text for values that are equal in Python.
fn write_key(value: &Value, key: &mut String) {
    use std::fmt::Write as _;
    match value {
        Value::Null => key.push('n'),
        Value::Bool(flag) => {
            let _ = write!(key, "#{}", u8::from(*flag));
        }
        Value::Number(number) => {
            let float = number.as_f64().filter(|_| number.is_f64());
            // Python compares whole numbers and floats exactly.
            let whole = float.filter(|float| float.fract() == 0.0 && float.abs() < 1e38);
            let _ = match (whole, float) {
                (Some(whole), _) => write!(key, "#{}", whole as i128),
                (None, Some(float)) => write!(key, "#{float:e}"),
                (None, None) => write!(key, "#{number}"),
            };
        }
        Value::String(text) => {
            let _ = write!(key, "\"{}:{text}", text.len());
        }
        Value::Array(items) => {
            let _ = write!(key, "[{}:", items.len());
            items.iter().for_each(|item| write_key(item, key));
        }
        Value::Object(entries) => {
            let _ = write!(key, "{{{}:", entries.len());
            let mut names: Vec<&String> = entries.keys().collect();
            names.sort_unstable();
            for name in names {
                let _ = write!(key, "\"{}:{name}", name.len());
                write_key(&entries[name], key);
            }
        }
    }
}

/// The longest common subsequence, weighted by fits, as a share of the expected calls.
fn ordered(
    expected: &[ExpectedCall],
    made: &[MadeCall<'_>],
    params: Params,
) -> Result<f64, Raised> {
    let width = made.len() + 1;
    let mut sums = vec![0.0_f64; width * (expected.len() + 1)];
    for (row, wanted) in expected.iter().enumerate() {
        for (column, call) in made.iter().enumerate() {
            let without = sums[row * width + column + 1].max(sums[(row + 1) * width + column]);
            let mut best = without;
            if is_same_tool(wanted, call) {
                let fit = fit(wanted, call, params)?;
                if fit > 0.0 {
                    best = without.max(sums[row * width + column] + fit);
                }
            }
            sums[(row + 1) * width + column + 1] = best;
        }
    }
    // The same steps back as deepeval, so that rounding is the same.
    let (mut row, mut column) = (expected.len(), made.len());
    let mut total = 0.0;
    while row > 0 && column > 0 {
        let here = sums[row * width + column].to_bits();
        if here == sums[(row - 1) * width + column].to_bits() {
            row -= 1;
        } else if here == sums[row * width + column - 1].to_bits() {
            column -= 1;
        } else {
            total += sums[row * width + column] - sums[(row - 1) * width + column - 1];
            (row, column) = (row - 1, column - 1);
        }
    }
    Ok(total / expected.len() as f64)
}

/// The share of keys with equal values among the keys of both; objects inside count by their own share.
fn similarity(left: &Map<String, Value>, right: &Map<String, Value>) -> f64 {
    if equal_objects(left, right) {
        return 1.0;
    }
    let common = left.keys().filter(|key| right.contains_key(*key)).count();
    let all = (left.len() + right.len() - common) as f64;
    let mut sum = 0.0;
    for (key, value) in left {
        let Some(other) = right.get(key) else { continue };
        if equal(value, other) {
            sum += 1.0 / all;
        } else if let (Value::Object(inner), Value::Object(other)) = (value, other) {
            sum += similarity(inner, other) / all;
        }
    }
    sum
}

fn equal_options(left: Option<&Value>, right: Option<&Value>) -> bool {
    equal(left.unwrap_or(&Value::Null), right.unwrap_or(&Value::Null))
}

/// Equality of Python: a truth value is a number.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(_) | Value::Bool(_), Value::Number(_) | Value::Bool(_)) => {
            let key = |value: &Value| {
                let mut key = String::new();
                write_key(value, &mut key);
                key
            };
            left == right || key(left) == key(right)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => equal_objects(left, right),
        _ => left == right,
    }
}

fn equal_objects(left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    left.len() == right.len()
        && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
}
