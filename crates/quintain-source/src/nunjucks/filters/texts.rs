//! Filters on texts.

use minijinja::Error;
use minijinja::value::{Value as Variable, ValueKind};

use super::{Args, bounded, capitalized, normal, utf16_len};
use crate::nunjucks::value::{float, items, pairs, text};

pub(super) fn title(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
    Ok(normal(value).split(' ').map(capitalized).collect::<Vec<_>>().join(" ").into())
}

pub(super) fn center(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let text = normal(value);
    let width = args.count(0, "width", 80);
    bounded(width)?;
    let spaces = width.saturating_sub(utf16_len(&text));
    let before = " ".repeat(spaces / 2);
    Ok(format!("{before}{text}{}", " ".repeat(spaces.div_ceil(2))).into())
}

pub(super) fn escape(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
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

pub(super) fn indent(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
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

pub(super) fn replace(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
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

/// Removes tags and comments, and collapses white space unless line breaks are kept.
pub(super) fn striptags(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
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
    // Searched once: a text of opening brackets only must not be searched again for each.
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

pub(super) fn truncate(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
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
    let end = if missing { "...".to_owned() } else { crate::nunjucks::value::text(&end) };
    Ok(format!("{}{end}", String::from_utf16_lossy(&units[..cut])).into())
}

pub(super) fn urlencode(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
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

/// As `encodeURIComponent` does it.
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

pub(super) fn urlize(value: &Variable, args: &Args<'_>) -> Result<Variable, Error> {
    let text = text(value);
    let shown = args.get(0, "length");
    let shown = if shown.is_number() { float(&shown).max(0.0) as usize } else { usize::MAX };
    // A link repeats its address.
    bounded(text.len().saturating_mul(2))?;
    Ok(crate::nunjucks::links::urlize(&text, shown, args.flag(1, "nofollow")).into())
}

pub(super) fn wordcount(value: &Variable, _: &Args<'_>) -> Result<Variable, Error> {
    let text = normal(value);
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let count = words.filter(|word| !word.is_empty()).count();
    Ok(if count == 0 { Variable::from(()) } else { count.into() })
}
