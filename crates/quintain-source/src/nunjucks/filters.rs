//! The filters of Nunjucks, with its results. Filters that lengthen text have a limit.

use minijinja::value::{Kwargs, Rest, Value as Variable, ValueKind};
use minijinja::{Environment, Error, ErrorKind};

use super::value::{dict, float, items, json, list, pairs, text, variable};

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

fn batch(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let size = args.count(0, "linecount", 1);
    let fill = args.get(1, "fill_with");
    let mut rows: Vec<Vec<Variable>> = sequence(value).chunks(size).map(<[_]>::to_vec).collect();
    if let Some(last) = rows.last_mut().filter(|_| fill.is_true()) {
        bounded(size)?;
        last.resize(size, fill);
    }
    Ok(list(rows.into_iter().map(list).collect()))
}

fn capitalized(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut chars = lower.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

fn title(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
    Ok(normal(value).split(' ').map(capitalized).collect::<Vec<_>>().join(" ").into())
}

fn center(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let text = normal(value);
    let width = args.count(0, "width", 80);
    bounded(width)?;
    let spaces = width.saturating_sub(utf16_len(&text));
    let before = " ".repeat(spaces / 2);
    Ok(format!("{before}{text}{}", " ".repeat(spaces.div_ceil(2))).into())
}

fn default(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let missing = if args.flag(1, "bool") { !value.is_true() } else { value.is_undefined() };
    Ok(if missing { args.get(0, "default_value") } else { value.clone() })
}

fn dictsort(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let exact = args.flag(0, "case_sensitive");
    let by_value = text(&args.get(1, "by")) == "value";
    let mut entries = pairs(value);
    let folded = |text: String| if exact { text } else { text.to_uppercase() };
    if by_value {
        entries.sort_by(|(_, a), (_, b)| compare(a, b, exact));
    } else {
        entries.sort_by_cached_key(|(key, _)| folded(key.clone()));
    }
    Ok(list(entries.into_iter().map(|(key, value)| list(vec![key.into(), value])).collect()))
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

fn escape(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
    let mut out = String::new();
    for c in text(value).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '`' => out.push_str("&#96;"),
            '\\' => out.push_str("&#92;"),
            c => out.push(c),
        }
    }
    Ok(out.into())
}

fn groupby(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let name = args.get(0, "attribute");
    let mut groups: Vec<(String, Vec<Variable>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for item in sequence(value) {
        let key = text(&attribute(&item, &name));
        let at = *places.entry(key.clone()).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(item);
    }
    Ok(dict(groups.into_iter().map(|(key, items)| (key, list(items))).collect()))
}

fn indent(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let text = normal(value);
    if text.is_empty() {
        return Ok("".into());
    }
    let width = args.count(0, "width", 4);
    bounded(text.split('\n').count().saturating_mul(width).saturating_add(text.len()))?;
    let space = " ".repeat(width);
    let first = if args.flag(1, "indentfirst") { space.as_str() } else { "" };
    Ok(format!("{first}{}", text.replace('\n', &format!("\n{space}"))).into())
}

/// The number at the start of a text.
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

fn join(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let separator = args.get(0, "d");
    let separator = if separator.is_true() { text(&separator) } else { String::new() };
    let name = args.get(1, "attribute");
    let item = |item: Variable| if name.is_true() { attribute(&item, &name) } else { item };
    let texts: Vec<String> = sequence(value).into_iter().map(|v| text(&item(v))).collect();
    let length: usize = texts.iter().map(|text| text.len() + separator.len()).sum();
    bounded(length)?;
    Ok(texts.join(&separator).into())
}

fn as_list(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
    match value.kind() {
        ValueKind::String | ValueKind::Seq | ValueKind::Iterable => Ok(list(sequence(value))),
        ValueKind::Map => {
            let entry = |(key, value): (String, Variable)| {
                dict(vec![("key".to_owned(), key.into()), ("value".to_owned(), value)])
            };
            Ok(list(pairs(value).into_iter().map(entry).collect()))
        }
        _ => Err(failed("`list` needs a list, a map or a text")),
    }
}

fn select(value: &Variable, args: &Args<'_>, wanted: bool) -> Result<Variable, Error> {
    let name = args.get(0, "test");
    let name = if name.is_undefined() { "truthy".to_owned() } else { text(&name) };
    let other = args.get(1, "argument");
    let number = |value: &Variable| if value.is_number() { float(value) } else { f64::NAN };
    let test = |item: &Variable| -> Result<bool, Error> {
        Ok(match name.as_str() {
            "truthy" => item.is_true(),
            "falsy" => !item.is_true(),
            "odd" => (number(item) % 2.0 - 1.0).abs() < f64::EPSILON,
            "even" => number(item) % 2.0 == 0.0,
            "divisibleby" => number(item) % number(&other) == 0.0,
            "string" => item.kind() == ValueKind::String,
            "number" => item.is_number(),
            "defined" => !item.is_undefined(),
            "undefined" => item.is_undefined(),
            "null" | "none" => item.is_none(),
            "equalto" | "eq" | "sameas" => *item == other,
            "ne" => *item != other,
            "lt" | "lessthan" => number(item) < number(&other),
            "gt" | "greaterthan" => number(item) > number(&other),
            "le" => number(item) <= number(&other),
            "ge" => number(item) >= number(&other),
            _ => return Err(failed(format!("there is no test `{name}`"))),
        })
    };
    let mut kept = Vec::new();
    for item in sequence(value) {
        if test(&item)? == wanted {
            kept.push(item);
        }
    }
    Ok(list(kept))
}

fn select_by(value: &Variable, args: &Args<'_>, wanted: bool) -> Result<Variable, Error> {
    let name = args.get(0, "attribute");
    let kept = sequence(value).into_iter();
    Ok(list(kept.filter(|item| attribute(item, &name).is_true() == wanted).collect()))
}

fn replace(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let (old, new) = (args.get(0, "old"), args.get(1, "new"));
    let usable = |value: &Variable| value.is_number() || value.kind() == ValueKind::String;
    if !usable(&old) || !usable(value) {
        return Ok(value.clone());
    }
    let (subject, old, new) = (text(value), text(&old), text(&new));
    let limit = args.get(2, "count");
    let limit = if limit.is_undefined() { usize::MAX } else { args.count(2, "count", 0) };
    let found = subject.matches(&old).take(limit).count();
    bounded(found.saturating_mul(new.len()).saturating_add(subject.len()))?;
    Ok(subject.replacen(&old, &new, limit).into())
}

fn reverse(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
    Ok(match value.as_str() {
        Some(text) => text.chars().rev().collect::<String>().into(),
        None => list(items(value).into_iter().rev().collect()),
    })
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

fn slice(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let slices = args.count(0, "slices", 1);
    bounded(slices)?;
    let fill = args.get(1, "fill_with");
    let items = sequence(value);
    let (length, extra) = (items.len() / slices, items.len() % slices);
    let mut rest = items.into_iter();
    let mut rows = Vec::new();
    for index in 0..slices {
        let mut row: Vec<_> = rest.by_ref().take(length + usize::from(index < extra)).collect();
        if fill.is_true() && index >= extra {
            row.push(fill.clone());
        }
        rows.push(list(row));
    }
    Ok(list(rows))
}

fn compare(a: &Variable, b: &Variable, exact: bool) -> std::cmp::Ordering {
    match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) if !exact => a.to_lowercase().cmp(&b.to_lowercase()),
        (Some(a), Some(b)) => a.cmp(b),
        _ => float(a).partial_cmp(&float(b)).unwrap_or(std::cmp::Ordering::Equal),
    }
}

fn sort(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let exact = args.flag(1, "case_sensitive");
    let name = args.get(2, "attribute");
    let key = |item: &Variable| {
        if name.is_true() { attribute(item, &name) } else { item.clone() }
    };
    let mut keyed: Vec<_> = sequence(value).into_iter().map(|item| (key(&item), item)).collect();
    let reversed = args.flag(0, "reverse");
    keyed.sort_by(|(a, _), (b, _)| {
        let order = compare(a, b, exact);
        if reversed { order.reverse() } else { order }
    });
    Ok(list(keyed.into_iter().map(|(_, item)| item).collect()))
}

/// Removes tags and comments, and collapses white space unless line breaks are to be kept.
fn striptags(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let stripped = without_tags(&normal(value));
    let trimmed = stripped.trim();
    if !args.flag(0, "preserve_linebreaks") {
        return Ok(trimmed.split_whitespace().collect::<Vec<_>>().join(" ").into());
    }
    let lines = trimmed.replace("\r\n", "\n");
    let squeezed = lines
        .split('\n')
        .map(|line| line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "));
    let mut kept: Vec<String> = Vec::new();
    let mut empty = 0;
    for line in squeezed {
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty < 2 {
            kept.push(line);
        }
    }
    Ok(kept.join("\n").into())
}

fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Searched once, so that a text of opening brackets does not cost quadratic time.
    let (mut may_close, mut may_comment) = (true, true);
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        let tag = &rest[at..];
        let name = tag[1..].strip_prefix('/').unwrap_or(&tag[1..]);
        let mut end = None;
        if tag.starts_with("<!--") && may_comment {
            end = tag.find("-->").map(|end| end + 3);
            may_comment = end.is_some();
        } else if name.starts_with(|c: char| c.is_ascii_alphabetic()) && may_close {
            end = tag.find('>').map(|end| end + 1);
            may_close = end.is_some();
        }
        if let Some(end) = end {
            rest = &tag[end..];
        } else {
            out.push('<');
            rest = &tag[1..];
        }
    }
    out.push_str(rest);
    out
}

fn sum(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let name = args.get(0, "attribute");
    let start = float(&args.get(1, "start"));
    let start = if start.is_nan() { 0.0 } else { start };
    let item = |item: Variable| if name.is_true() { attribute(&item, &name) } else { item };
    Ok(Variable::from(start + items(value).into_iter().map(|v| float(&item(v))).sum::<f64>()))
}

fn truncate(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let text = normal(value);
    let length = args.count(0, "length", 255);
    let units: Vec<u16> = text.encode_utf16().collect();
    if units.len() <= length {
        return Ok(text.into());
    }
    let space = || units[..=length].iter().rposition(|unit| *unit == u16::from(b' '));
    let cut = if args.flag(1, "killwords") { length } else { space().unwrap_or(length) };
    let end = args.get(2, "end");
    let missing = end.is_undefined() || end.is_none();
    let end = if missing { "...".to_owned() } else { super::value::text(&end) };
    Ok(format!("{}{end}", String::from_utf16_lossy(&units[..cut])).into())
}

fn urlencode(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
    let pair = |key: &str, value: &str| format!("{}={}", component(key), component(value));
    let joined: Vec<String> = match value.kind() {
        ValueKind::Map => pairs(value).iter().map(|(k, v)| pair(k, &text(v))).collect(),
        ValueKind::Seq => items(value)
            .iter()
            .map(|item| {
                let item = items(item);
                let part = |at: usize| item.get(at).map(text).unwrap_or_default();
                pair(&part(0), &part(1))
            })
            .collect(),
        _ => return Ok(component(&text(value)).into()),
    };
    Ok(joined.join("&").into())
}

/// As `encodeURIComponent`.
fn component(text: &str) -> String {
    use std::fmt::Write;
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn urlize(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let text = text(value);
    let shown = args.get(0, "length");
    let shown = if shown.is_number() { float(&shown).max(0.0) as usize } else { usize::MAX };
    // A link repeats its URL.
    bounded(text.len().saturating_mul(2))?;
    Ok(super::links::urlize(&text, shown, args.flag(1, "nofollow")).into())
}

fn wordcount(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
    let text = normal(value);
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let count = words.filter(|word| !word.is_empty()).count();
    Ok(if count == 0 { Variable::from(()) } else { count.into() })
}
