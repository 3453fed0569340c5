//! Filters on lists and maps.

use minijinja::Error;
use minijinja::value::{Value as Variable, ValueKind};

use super::{Args, attribute, bounded, failed, sequence};
use crate::nunjucks::value::{dict, float, items, list, pairs, text};

pub(super) fn batch(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let size = args.count(0, "linecount", 1);
    let fill = args.get(1, "fill_with");
    let mut rows: Vec<Vec<Variable>> = sequence(value).chunks(size).map(<[_]>::to_vec).collect();
    if let Some(last) = rows.last_mut().filter(|_| fill.is_true()) {
        bounded(size)?;
        last.resize(size, fill);
    }
    Ok(list(rows.into_iter().map(list).collect()))
}

pub(super) fn dictsort(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
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

pub(super) fn groupby(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
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

pub(super) fn join(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let separator = args.get(0, "d");
    let separator = if separator.is_true() { text(&separator) } else { String::new() };
    let name = args.get(1, "attribute");
    let item = |item: Variable| if name.is_true() { attribute(&item, &name) } else { item };
    let texts: Vec<String> = sequence(value).into_iter().map(|v| text(&item(v))).collect();
    let length: usize = texts.iter().map(|text| text.len() + separator.len()).sum();
    bounded(length)?;
    Ok(texts.join(&separator).into())
}

pub(super) fn as_list(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
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

pub(super) fn select(value: &Variable, args: &Args<'_>, wanted: bool) -> Result<Variable, Error> {
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
            _ => return Err(failed(format!("unknown test `{name}`"))),
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

pub(super) fn select_by(
    value: &Variable,
    args: &Args<'_>,
    wanted: bool,
) -> Result<Variable, Error> {
    let name = args.get(0, "attribute");
    let kept = sequence(value).into_iter();
    Ok(list(kept.filter(|item| attribute(item, &name).is_true() == wanted).collect()))
}

pub(super) fn reverse(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
    Ok(match value.as_str() {
        Some(text) => text.chars().rev().collect::<String>().into(),
        None => list(items(value).into_iter().rev().collect()),
    })
}

pub(super) fn slice(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
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

pub(super) fn sort(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
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

pub(super) fn sum(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let name = args.get(0, "attribute");
    let start = float(&args.get(1, "start"));
    let start = if start.is_nan() { 0.0 } else { start };
    let item = |item: Variable| if name.is_true() { attribute(&item, &name) } else { item };
    Ok(Variable::from(start + items(value).into_iter().map(|v| float(&item(v))).sum::<f64>()))
}
