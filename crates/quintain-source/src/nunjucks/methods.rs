//! The JavaScript methods of values that templates use.

use minijinja::value::{Value as Variable, ValueKind};
use minijinja::{Error, ErrorKind};

use super::filters::{bounded, failed};
use super::value::{float, items, json, list, pairs, text};

/// Calls a method of a text, list, number or map.
pub(super) fn call(value: &Variable, name: &str, args: &[Variable]) -> Result<Variable, Error> {
    let found = match value.kind() {
        ValueKind::String => of_text(value.as_str().unwrap_or_default(), name, args)?,
        ValueKind::Seq | ValueKind::Iterable => of_list(value, name, args)?,
        ValueKind::Number => of_number(value, name, args),
        ValueKind::Map => of_map(value, name, args),
        _ => None,
    };
    match (found, name) {
        (Some(found), _) => Ok(found),
        (None, "toString") => Ok(text(value).into()),
        _ => Err(Error::new(ErrorKind::UnknownMethod, format!("there is no method `{name}`"))),
    }
}

fn argument(args: &[Variable], at: usize) -> Variable {
    args.get(at).cloned().unwrap_or(Variable::UNDEFINED)
}

fn word(args: &[Variable], at: usize) -> String {
    text(&argument(args, at))
}

fn of_text(subject: &str, name: &str, args: &[Variable]) -> Result<Option<Variable>, Error> {
    let first = || word(args, 0);
    Ok(Some(match name {
        "toUpperCase" | "toLocaleUpperCase" => subject.to_uppercase().into(),
        "toLowerCase" | "toLocaleLowerCase" => subject.to_lowercase().into(),
        "trim" => subject.trim().into(),
        "trimStart" => subject.trim_start().into(),
        "trimEnd" => subject.trim_end().into(),
        "includes" => subject.contains(&first()).into(),
        "startsWith" => subject.starts_with(&first()).into(),
        "endsWith" => subject.ends_with(&first()).into(),
        "indexOf" => position(subject, subject.find(&first())).into(),
        "lastIndexOf" => position(subject, subject.rfind(&first())).into(),
        "split" => split(subject, args),
        "slice" => cut(subject, |len| range(args, len)).into(),
        "substring" => cut(subject, |len| substring(args, len)).into(),
        "substr" => cut(subject, |len| substr(args, len)).into(),
        "charAt" => cut(subject, |len| {
            let at = index(&argument(args, 0), 0.0, len);
            at..(at + 1).min(len)
        })
        .into(),
        "replace" => {
            bounded(subject.len().saturating_add(word(args, 1).len()))?;
            subject.replacen(&first(), &word(args, 1), 1).into()
        }
        "replaceAll" => {
            let found = subject.matches(&first()).count();
            let added = found.saturating_mul(word(args, 1).len());
            bounded(subject.len().saturating_add(added))?;
            subject.replace(&first(), &word(args, 1)).into()
        }
        "repeat" => {
            let count = float(&argument(args, 0)).clamp(0.0, 1e9) as usize;
            bounded(count.saturating_mul(subject.len()))?;
            subject.repeat(count).into()
        }
        "padStart" => format!("{}{subject}", padding(subject, args)?).into(),
        "padEnd" => format!("{subject}{}", padding(subject, args)?).into(),
        "concat" => {
            let rest: String = args.iter().map(text).collect();
            bounded(subject.len() + rest.len())?;
            format!("{subject}{rest}").into()
        }
        _ => return Ok(None),
    }))
}

fn of_list(value: &Variable, name: &str, args: &[Variable]) -> Result<Option<Variable>, Error> {
    let all = items(value);
    let wanted = json(&argument(args, 0));
    let place = || all.iter().position(|item| json(item) == wanted);
    let count = |place: Option<usize>| place.map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX));
    Ok(Some(match name {
        "join" => {
            let separator = args.first().map_or_else(|| ",".to_owned(), text);
            let texts: Vec<_> = all.iter().map(text).collect();
            bounded(texts.iter().map(|text| text.len() + separator.len()).sum())?;
            texts.join(&separator).into()
        }
        "slice" => list(all.get(range(args, all.len())).unwrap_or_default().to_vec()),
        "includes" => place().is_some().into(),
        "indexOf" => count(place()).into(),
        "lastIndexOf" => count(all.iter().rposition(|item| json(item) == wanted)).into(),
        "reverse" => list(all.into_iter().rev().collect()),
        "concat" => {
            let more = args.iter().flat_map(|arg| match arg.kind() {
                ValueKind::Seq | ValueKind::Iterable => items(arg),
                _ => vec![arg.clone()],
            });
            list(all.iter().cloned().chain(more).collect())
        }
        "at" => {
            let at = float(&argument(args, 0));
            let at = if at < 0.0 { at + all.len() as f64 } else { at };
            let found = (at >= 0.0).then(|| all.get(at as usize).cloned()).flatten();
            found.unwrap_or(Variable::UNDEFINED)
        }
        _ => return Ok(None),
    }))
}

fn of_number(value: &Variable, name: &str, args: &[Variable]) -> Option<Variable> {
    match name {
        "toFixed" => {
            let digits = float(&argument(args, 0)).clamp(0.0, 100.0) as usize;
            Some(format!("{:.digits$}", float(value)).into())
        }
        _ => None,
    }
}

fn of_map(value: &Variable, name: &str, args: &[Variable]) -> Option<Variable> {
    match name {
        "hasOwnProperty" => {
            let wanted = word(args, 0);
            Some(pairs(value).iter().any(|(key, _)| *key == wanted).into())
        }
        "keys" => Some(list(pairs(value).into_iter().map(|(key, _)| key.into()).collect())),
        _ => None,
    }
}

/// An offset in the units of JavaScript.
fn position(subject: &str, at: Option<usize>) -> i64 {
    at.map_or(-1, |at| i64::try_from(subject[..at].encode_utf16().count()).unwrap_or(i64::MAX))
}

fn split(subject: &str, args: &[Variable]) -> Variable {
    let separator = argument(args, 0);
    if separator.is_undefined() {
        return list(vec![subject.into()]);
    }
    let separator = text(&separator);
    let parts: Vec<Variable> = if separator.is_empty() {
        subject.chars().map(|c| c.to_string().into()).collect()
    } else {
        subject.split(&separator).map(Variable::from).collect()
    };
    let limit = argument(args, 1);
    let limit = if limit.is_number() { float(&limit).max(0.0) as usize } else { usize::MAX };
    list(parts.into_iter().take(limit).collect())
}

fn cut(subject: &str, place: impl FnOnce(usize) -> std::ops::Range<usize>) -> String {
    let units: Vec<u16> = subject.encode_utf16().collect();
    String::from_utf16_lossy(units.get(place(units.len())).unwrap_or_default())
}

/// An index of `slice`: a negative one counts from the end.
fn index(value: &Variable, default: f64, len: usize) -> usize {
    let at = if value.is_undefined() { default } else { float(value) };
    let at = if at.is_nan() { 0.0 } else { at };
    let at = if at < 0.0 { at + len as f64 } else { at };
    at.clamp(0.0, len as f64) as usize
}

fn range(args: &[Variable], len: usize) -> std::ops::Range<usize> {
    let start = index(&argument(args, 0), 0.0, len);
    start..index(&argument(args, 1), len as f64, len).max(start)
}

fn substring(args: &[Variable], len: usize) -> std::ops::Range<usize> {
    let place = |at: usize, default: f64| {
        let value = argument(args, at);
        let at = if value.is_undefined() { default } else { float(&value) };
        at.max(0.0).min(len as f64) as usize
    };
    let (a, b) = (place(0, 0.0), place(1, len as f64));
    a.min(b)..a.max(b)
}

fn substr(args: &[Variable], len: usize) -> std::ops::Range<usize> {
    let start = index(&argument(args, 0), 0.0, len);
    let count = argument(args, 1);
    let count = if count.is_undefined() { len } else { float(&count).max(0.0) as usize };
    start..start.saturating_add(count).min(len)
}

fn padding(subject: &str, args: &[Variable]) -> Result<String, Error> {
    let width = float(&argument(args, 0)).clamp(0.0, 1e9) as usize;
    bounded(width)?;
    let unit = argument(args, 1);
    let unit = if unit.is_undefined() { " ".to_owned() } else { text(&unit) };
    if unit.is_empty() {
        return Err(failed("the padding text is empty"));
    }
    let missing = width.saturating_sub(subject.encode_utf16().count());
    Ok(unit.chars().cycle().take(missing).collect())
}
