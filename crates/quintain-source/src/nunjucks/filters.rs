//! The filters of Nunjucks, with its results. Filters that lengthen text have a limit.

mod lists;
mod texts;

use minijinja::value::{Kwargs, Rest, Value as Variable, ValueKind};
use minijinja::{Environment, Error, ErrorKind};

use lists::{
    as_list, batch, dictsort, groupby, join, reverse, select, select_by, slice, sort, sum,
};
use texts::{
    center, escape, indent, replace, striptags, title, truncate, urlencode, urlize, wordcount,
};

use super::value::{float, items, json, list, pairs, text, variable};

/// Maximum length of a filter's result.
const MAX_LENGTH: usize = 16 << 20;

type Filter = fn(&Variable, &Args<'_>) -> Result<Variable, Error>;

/// The arguments of a filter.
struct Args<'a> {
    given: &'a [Variable],
    named: Kwargs,
}

impl Args<'_> {
    fn get(&self, at: usize, name: &str) -> Variable {
        let named = self.named.peek::<Variable>(name).ok();
        named.or_else(|| self.given.get(at).cloned()).unwrap_or(Variable::UNDEFINED)
    }

    /// A count; the default for zero and for values that are not numbers.
    fn count(&self, at: usize, name: &str, default: usize) -> usize {
        let count = float(&self.get(at, name));
        if count >= 1.0 { count.min(1e9) as usize } else { default }
    }

    fn flag(&self, at: usize, name: &str) -> bool {
        self.get(at, name).is_true()
    }
}

static FILTERS: &[(&str, Filter)] = &[
    ("abs", |value, _| Ok(Variable::from(float(value).abs()))),
    ("batch", batch),
    ("capitalize", |value, _| Ok(capitalized(&normal(value)).into())),
    ("center", center),
    ("d", default),
    ("default", default),
    ("dictsort", dictsort),
    ("dump", dump),
    ("e", escape),
    ("escape", escape),
    ("first", |value, _| Ok(sequence(value).into_iter().next().unwrap_or(Variable::UNDEFINED))),
    ("float", |value, args| Ok(or_default(parse_float(&text(value)), args))),
    ("forceescape", escape),
    ("groupby", groupby),
    ("indent", indent),
    ("int", int),
    ("join", join),
    ("last", |value, _| Ok(sequence(value).pop().unwrap_or(Variable::UNDEFINED))),
    ("length", |value, _| Ok(length(value))),
    ("list", as_list),
    ("load", load),
    ("lower", |value, _| Ok(normal(value).to_lowercase().into())),
    ("nl2br", |value, _| Ok(normal(value).replace("\r\n", "\n").replace('\n', "<br />\n").into())),
    ("reject", |value, args| select(value, args, false)),
    ("rejectattr", |value, args| select_by(value, args, false)),
    ("replace", replace),
    ("reverse", reverse),
    ("round", round),
    ("safe", |value, _| Ok(text(value).into())),
    ("select", |value, args| select(value, args, true)),
    ("selectattr", |value, args| select_by(value, args, true)),
    ("slice", slice),
    ("sort", sort),
    ("string", |value, _| Ok(text(value).into())),
    ("striptags", striptags),
    ("sum", sum),
    ("title", title),
    ("trim", |value, _| Ok(normal(value).trim().into())),
    ("truncate", truncate),
    ("upper", |value, _| Ok(normal(value).to_uppercase().into())),
    ("urlencode", urlencode),
    ("urlize", urlize),
    ("wordcount", wordcount),
    ("__length", |value, _| Ok(length_property(value))),
    ("__items", |value, _| Ok(iterated(value))),
    ("__pairs", |value, _| Ok(unpacked(value))),
];

const FOREIGN: [&str; 16] = [
    "attr", "bool", "chain", "count", "format", "items", "lines", "map", "max", "min", "pprint",
    "random", "split", "tojson", "unique", "zip",
];

pub(super) fn register(engine: &mut Environment<'static>) {
    for (name, filter) in FILTERS {
        engine.add_filter(*name, move |value: Variable, given: Rest<Variable>, named: Kwargs| {
            filter(&value, &Args { given: &given, named })
        });
    }
    // `random` would make runs differ; Nunjucks has none of the others.
    for name in FOREIGN {
        engine.remove_filter(name);
    }
    engine.add_test("truthy", |value: &Variable| value.is_true());
    engine.add_test("falsy", |value: &Variable| !value.is_true());
    engine.add_test("null", |value: &Variable| value.is_none());
}

pub(super) fn failed(reason: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, reason.into())
}

/// Text of at most the allowed length.
pub(super) fn bounded(length: usize) -> Result<(), Error> {
    within(length, MAX_LENGTH)
}

pub(super) fn within(length: usize, limit: usize) -> Result<(), Error> {
    if length > limit { Err(failed("the text grows without bounds")) } else { Ok(()) }
}

/// The text of a value; empty for missing and false values.
fn normal(value: &Variable) -> String {
    if value.kind() == ValueKind::Bool && !value.is_true() { String::new() } else { text(value) }
}

/// The items of a list, or the characters of a text.
fn sequence(value: &Variable) -> Vec<Variable> {
    match value.as_str() {
        Some(text) => text.chars().map(|c| Variable::from(c.to_string())).collect(),
        None => items(value),
    }
}

fn attribute(value: &Variable, name: &Variable) -> Variable {
    let path = text(name);
    path.split('.')
        .fold(value.clone(), |value, step| value.get_attr(step).unwrap_or(Variable::UNDEFINED))
}

pub(super) fn utf16_len(text: &str) -> usize {
    text.encode_utf16().count()
}

fn length(value: &Variable) -> Variable {
    match value.kind() {
        ValueKind::String => utf16_len(value.as_str().unwrap_or_default()).into(),
        ValueKind::Undefined | ValueKind::None => 0.into(),
        ValueKind::Bool if !value.is_true() => 0.into(),
        _ => value.len().map_or(Variable::UNDEFINED, Variable::from),
    }
}

/// `.length`, which maps have only if they have such a key.
fn length_property(value: &Variable) -> Variable {
    match value.kind() {
        ValueKind::String | ValueKind::Seq | ValueKind::Iterable => length(value),
        _ => value.get_attr("length").unwrap_or(Variable::UNDEFINED),
    }
}

fn unpacked(value: &Variable) -> Variable {
    if value.kind() != ValueKind::Map {
        return value.clone();
    }
    list(pairs(value).into_iter().map(|(key, value)| list(vec![key.into(), value])).collect())
}

/// What `for x in ...` iterates over: a map has no length, hence nothing.
fn iterated(value: &Variable) -> Variable {
    if value.kind() == ValueKind::Map { list(Vec::new()) } else { value.clone() }
}

fn capitalized(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut chars = lower.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn default(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let missing = if args.flag(1, "bool") { !value.is_true() } else { value.is_undefined() };
    Ok(if missing { args.get(0, "default_value") } else { value.clone() })
}

fn dump(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    if value.is_undefined() {
        return Ok(Variable::UNDEFINED);
    }
    let json = json(value);
    let indent = args.get(0, "spaces");
    let unit = match indent.as_str() {
        Some(text) => text.to_owned(),
        None if indent.is_number() => " ".repeat(float(&indent).clamp(0.0, 10.0) as usize),
        None => String::new(),
    };
    if unit.is_empty() {
        return Ok(json.to_string().into());
    }
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    serde::Serialize::serialize(&json, &mut serializer).map_err(|why| failed(why.to_string()))?;
    Ok(String::from_utf8_lossy(&out).into_owned().into())
}

fn load(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
    serde_json::from_str(&text(value))
        .map(|value: serde_json::Value| variable(&value))
        .map_err(|why| failed(format!("`load` needs JSON: {why}")))
}

/// What is at the start of a text as a number.
fn parse_float(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
    };
    let mut end = digits(sign);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let exponent = end + 1 + usize::from(text[end + 1..].starts_with(['-', '+']));
        end = if digits(exponent) > exponent { digits(exponent) } else { end };
    }
    text[..end].parse().ok()
}

fn or_default(number: Option<f64>, args: &Args<'_>) -> Variable {
    number.map_or_else(|| args.get(0, "default"), Variable::from)
}

fn int(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    if value.is_integer() {
        return Ok(value.clone());
    }
    let text = text(value);
    let text = text.trim_start();
    let base = args.count(1, "base", 10).clamp(2, 36) as u32;
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = &text[sign..];
    let end = digits.find(|c: char| !c.is_digit(base)).unwrap_or(digits.len());
    let number = i64::from_str_radix(&text[..sign + end], base).ok();
    Ok(number.map_or_else(|| args.get(0, "default"), Variable::from))
}

fn round(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let precision = float(&args.get(0, "precision"));
    let precision = if precision.is_nan() { 0.0 } else { precision };
    let factor = 10f64.powf(precision);
    let scaled = float(value) * factor;
    let rounded = match text(&args.get(1, "method")).as_str() {
        "ceil" => scaled.ceil(),
        "floor" => scaled.floor(),
        // As JavaScript: halves round up, also below zero.
        _ => (scaled + 0.5).floor(),
    };
    Ok(Variable::from(rounded / factor))
}
