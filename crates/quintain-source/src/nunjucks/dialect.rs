//! Rewrites what Nunjucks writes differently from Jinja: expressions, `elseif`, `verbatim`,
//! `for key, value in map`, `switch`.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::expression::{identical, quoted, rewritten};
use crate::template::expression_end;

/// The template in the dialect of the engine.
pub(super) fn translated(text: &str) -> Cow<'_, str> {
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text;
    let mut switches = Vec::new();
    while let Some(at) = rest.find('{') {
        let (before, tag) = rest.split_at(at);
        let piece = match tag.as_bytes().get(1) {
            Some(b'{') => expression_end(&tag[2..]).map(|end| (Piece::Code, end + 2)),
            Some(b'%') => tag_end(&tag[2..]).map(|end| (Piece::Tag, end + 2)),
            Some(b'#') => tag.find("#}").map(|end| (Piece::Comment, end + 2)),
            _ => {
                out.push_str(before);
                out.push('{');
                rest = &tag[1..];
                continue;
            }
        };
        out.push_str(before);
        let Some((piece, end)) = piece else {
            rest = tag;
            break;
        };
        let (tag, after) = tag.split_at(end);
        rest = after;
        match piece {
            Piece::Comment => out.push_str(tag),
            Piece::Code => output(tag, &mut out),
            Piece::Tag if switched(tag, &mut switches, &mut out) => {}
            Piece::Tag => rest = statement(tag, after, &mut out),
        }
    }
    out.push_str(rest);
    if out == text { Cow::Borrowed(text) } else { Cow::Owned(out) }
}

/// One expression of a template, without its braces.
pub(super) fn expression(text: &str) -> String {
    rewritten(text).unwrap_or_else(|| {
        // The engine accepts it or reports the error.
        let mut out = String::with_capacity(text.len());
        code(text, &mut out);
        out
    })
}

/// Writes a `{{ ... }}`.
fn output(tag: &str, out: &mut String) {
    let inner = &tag[2..tag.len() - 2];
    let body = inner.strip_prefix('-').unwrap_or(inner).trim_start();
    let start = tag.len() - 2 - body.len();
    let body = body.strip_suffix('-').unwrap_or(body).trim_end();
    out.push_str(&tag[..start]);
    out.push_str(&expression(body));
    out.push_str(&tag[start + body.len()..]);
}

enum Piece {
    Code,
    Tag,
    Comment,
}

/// The offset after `%}`. Quotes protect it.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\\') => {
                bytes.next();
            }
            (Some(open), _) if open == byte => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'%') if text.as_bytes().get(at + 1) == Some(&b'}') => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// An open `switch`.
struct Switch {
    subject: String,
    /// Whether one of its cases has been written.
    begun: bool,
}

/// Writes the tags of `switch` as those of `if`. False for any other tag.
fn switched(tag: &str, switches: &mut Vec<Switch>, out: &mut String) -> bool {
    let body = tag[2..tag.len() - 2].trim_matches('-').trim();
    let (word, argument) = body.split_at(body.find(char::is_whitespace).unwrap_or(body.len()));
    if word == "switch" {
        switches.push(Switch { subject: expression(argument.trim()), begun: false });
        return true;
    }
    let Some(Switch { subject, begun }) = switches.last_mut() else { return false };
    match word {
        "case" => {
            let test = if *begun { "elif" } else { "if" };
            let value = expression(argument.trim());
            let _ = write!(out, "{{% {test} {} %}}", identical(subject, &value));
            *begun = true;
        }
        "default" => {
            out.push_str(if *begun { "{% else %}" } else { "{% if true %}" });
            *begun = true;
        }
        "endswitch" => {
            out.push_str(if *begun { "{% endif %}" } else { "" });
            switches.pop();
        }
        _ => return false,
    }
    true
}

/// Writes a `{% ... %}` and returns the remaining text.
fn statement<'t>(tag: &str, after: &'t str, out: &mut String) -> &'t str {
    let inner = &tag[2..tag.len() - 2];
    let open = if inner.starts_with('-') { "{%-" } else { "{%" };
    let close = if inner.ends_with('-') { "-%}" } else { "%}" };
    let body = inner.trim_start_matches('-').trim_end_matches('-').trim();
    let (word, arguments) = body.split_at(body.find(char::is_whitespace).unwrap_or(body.len()));
    match word {
        "raw" | "verbatim" => return raw(word, open, close, after, out),
        "if" | "elif" | "elseif" => {
            let word = if word == "if" { "if" } else { "elif" };
            let _ = write!(out, "{open} {word} {} {close}", expression(arguments));
        }
        "for" => match looped(arguments) {
            Some((names, each, sequence)) => {
                let sequence = expression(sequence);
                let _ = write!(out, "{open} for {names} in ({sequence})|{each} {close}");
            }
            None => code(tag, out),
        },
        "set" => match assigned(arguments) {
            Some((names, value)) => {
                let value = expression(value);
                for name in names {
                    let _ = write!(out, "{open} set {name} = {value} {close}");
                }
            }
            None => code(tag, out),
        },
        _ => code(tag, out),
    }
    after
}

/// `item in list` or `key, value in map`, with the filter that makes it a sequence. In brackets,
/// `if` is an expression as in Nunjucks, which has no other form here.
fn looped(arguments: &str) -> Option<(&str, &'static str, &str)> {
    let (names, sequence) = arguments.split_once(" in ")?;
    let each = if are_names(names) && names.contains(',') { "__pairs" } else { "__items" };
    Some((names.trim(), each, sequence.trim()))
}

/// `a = value`, or `a, b = value`, which assigns the same value to all.
fn assigned(arguments: &str) -> Option<(Vec<&str>, &str)> {
    let (names, value) = arguments.split_once('=')?;
    are_names(names).then(|| (names.split(',').map(str::trim).collect(), value.trim()))
}

fn are_names(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ',' | ' '))
}

/// The text between `raw` and `endraw` is copied unchanged.
fn raw<'t>(word: &str, open: &str, close: &str, after: &'t str, out: &mut String) -> &'t str {
    let end_word = format!("end{word}");
    let mut from = 0;
    while let Some(at) = after[from..].find("{%").map(|at| from + at) {
        let Some(len) = tag_end(&after[at + 2..]) else { break };
        let tag = &after[at..at + 2 + len];
        let inner = tag[2..tag.len() - 2].trim_matches('-').trim();
        if inner == end_word {
            out.push_str(open);
            out.push_str(" raw ");
            out.push_str(close);
            out.push_str(&after[..at]);
            out.push_str(&tag.replace(&end_word, "endraw"));
            return &after[at + tag.len()..];
        }
        from = at + 2;
    }
    // Never closed: the engine reports it.
    out.push_str("{% raw %}");
    out.push_str(after);
    ""
}

/// Copies code and replaces the operators and words that the engine spells differently.
fn code(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '"' | '\'' => {
                let len = quoted(rest);
                out.push_str(&rest[..len]);
                len
            }
            '=' if rest.starts_with("===") => {
                out.push_str("==");
                3
            }
            '!' if rest.starts_with("!==") => {
                out.push_str("!=");
                3
            }
            '.' if is_length(rest) => {
                out.push_str("|__length");
                ".length".len()
            }
            c if c.is_alphabetic() || c == '_' => {
                let word = |c: char| c.is_alphanumeric() || c == '_';
                let len = rest.find(|c| !word(c)).unwrap_or(rest.len());
                let member = out.trim_end().ends_with('.');
                out.push_str(match &rest[..len] {
                    "null" if !member => "none",
                    other => other,
                });
                len
            }
            c => {
                out.push(c);
                c.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
}

/// `.length` as a property, not as part of a longer name or a method.
fn is_length(text: &str) -> bool {
    text.strip_prefix(".length").is_some_and(|after| {
        let next = after.chars().next();
        next.is_none_or(|c| !c.is_alphanumeric() && c != '_' && c != '(')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dialect_is_translated() {
        for (text, expected) in [
            ("{{ a === b }} ===", "{{ (a|__calc('===', b)) }} ==="),
            ("{% if a !== 'x===y' %}{% endif %}", "{% if (a|__calc('!==', 'x===y')) %}{% endif %}"),
            ("{{ a.length }}{{ a.lengths }}", "{{ (a|__length) }}{{ a.lengths }}"),
            ("{% if x %}{% elseif y %}{% endif %}", "{% if x %}{% elif y %}{% endif %}"),
            ("{% for k, v in m %}{% endfor %}", "{% for k, v in (m)|__pairs %}{% endfor %}"),
            (
                "{% for x in l if x %}{% endfor %}",
                "{% for x in ((l if x else ''))|__items %}{% endfor %}",
            ),
            (
                "{% switch n %}{% case 1 %}a{% default %}b{% endswitch %}",
                "{% if (n)|__calc('===', 1) %}a{% else %}b{% endif %}",
            ),
            ("{% set a, b = 1 %}", "{% set a = 1 %}{% set b = 1 %}"),
            ("{{ null }} null {{ a.null }}", "{{ none }} null {{ a.null }}"),
            (
                "{%- verbatim %}{{ a === b }}{% endverbatim %}",
                "{%- raw %}{{ a === b }}{% endraw %}",
            ),
            ("{{- a -}} {{ - 1 }}", "{{- a -}} {{ (1|__negative) }}"),
            ("{{ a = b }}", "{{ a = b }}"),
            ("{# a === b #}", "{# a === b #}"),
            ("{\"a\": {\"b\": 1}}", "{\"a\": {\"b\": 1}}"),
            ("{{ \"never closed", "{{ \"never closed"),
            ("{% raw %}{{", "{% raw %}{{"),
        ] {
            assert_eq!(translated(text), expected, "{text}");
        }
    }
}
