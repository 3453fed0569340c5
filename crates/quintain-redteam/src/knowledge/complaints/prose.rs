//! Complaints in sentences.

use serde_json::{Value, json};

use super::{Complaint, MAX_CHOICES, Want, quoted};

/// Reads sentences such as `"city" is required`, `missing 'city'`, `must be one of: a, b`.
pub(super) fn prose(said: &str) -> Vec<Complaint> {
    let mut found: Vec<Complaint> = Vec::new();
    for line in said.lines().take(20) {
        let low = line.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| low.contains(word));
        if says(&[
            "missing",
            "required",
            "must provide",
            "undefined",
            "must be of type",
            "expected",
        ]) {
            let names = names(line);
            let typed = ["string", "number", "integer", "boolean", "array", "object"]
                .into_iter()
                .find(|kind| low.contains(&format!("of type {kind}")));
            for name in names {
                let path: Vec<String> = name.split('.').map(str::to_owned).collect();
                let want = typed.map_or(Want::Present, Want::Type);
                found.push(Complaint { path, want });
            }
        }
        found.extend(choices(line).map(|choices| Complaint {
            path: named_before(line).into_iter().collect(),
            want: Want::OneOf(choices),
        }));
    }
    found.dedup();
    found
}

/// Names in a sentence about something missing: in quotes, or else after a colon or before `is required`.
fn names(line: &str) -> Vec<String> {
    let is_name = |name: &str| {
        (1..40).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
            && name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
    };
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if is_name(name) && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    for quote in ['\'', '"', '`'] {
        line.split(quote).skip(1).step_by(2).for_each(&mut add);
    }
    if !names.is_empty() {
        names.truncate(8);
        return names;
    }
    let mut add = |name: &str| {
        if is_name(name) && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    let low = line.to_ascii_lowercase();
    for mark in [" is required", " are required", " is missing", ": required", " required"] {
        if let Some(at) = low.find(mark) {
            let word = line[..at].rsplit([' ', ':', ',', '(']).next().unwrap_or_default();
            if !COMMON.contains(&word.to_lowercase().as_str()) {
                add(word);
            }
        }
    }
    for mark in ["missing required ", "missing "] {
        let Some(at) = low.find(mark) else { continue };
        let rest = &line[at + mark.len()..];
        let rest = rest.split_once(':').map_or(rest, |(_, rest)| rest);
        for word in rest.split([' ', ',', ';', '.']).filter(|word| !word.is_empty()) {
            if !COMMON.contains(&word.to_lowercase().as_str()) {
                add(word);
            }
        }
        break;
    }
    names.truncate(4);
    names
}

/// Words around names that are not names.
const COMMON: [&str; 36] = [
    "a",
    "an",
    "and",
    "are",
    "argument",
    "arguments",
    "at",
    "be",
    "error",
    "field",
    "fields",
    "for",
    "in",
    "input",
    "it",
    "this",
    "that",
    "they",
    "is",
    "least",
    "missing",
    "must",
    "no",
    "not",
    "of",
    "one",
    "or",
    "param",
    "parameter",
    "parameters",
    "property",
    "required",
    "the",
    "to",
    "value",
    "with",
];

/// Phrases that introduce a list of choices.
const LISTS: [&str; 8] = [
    "must be one of",
    "should be one of",
    "one of the following",
    "one of:",
    "expected one of",
    "is not one of",
    "supported values",
    "choose from",
];

/// Words that introduce a list after a noun and a colon: `Known jobs: nightly, weekly`.
const GOOD: [&str; 8] =
    ["accepted", "allowed", "available", "known", "permitted", "possible", "supported", "valid"];

/// The text after the words that introduce a list.
fn listed(line: &str) -> Option<&str> {
    let low = line.to_ascii_lowercase();
    if let Some((at, mark)) = LISTS.iter().find_map(|mark| Some((low.find(mark)?, *mark))) {
        let rest = &line[at + mark.len()..];
        return Some(rest.split_once(':').map_or(rest, |(_, rest)| rest));
    }
    // Not `invalid` or `unknown`; one or two more words come before the colon.
    let whole = |at: usize| !low[..at].ends_with(|c: char| c.is_alphanumeric());
    let starts = GOOD.iter().flat_map(|word| low.match_indices(word));
    let of = |(at, word): (usize, &str)| {
        let (noun, rest) = line[at + word.len()..].split_once(':')?;
        let plain = noun.chars().all(|c| c.is_alphanumeric() || c == ' ' || c == '_');
        let fits = noun.starts_with(' ') && (1..3).contains(&noun.split_whitespace().count());
        // The colon of a URL does not introduce a list.
        (whole(at) && plain && fits && !rest.starts_with('/')).then_some(rest)
    };
    starts.into_iter().find_map(of)
}

/// The choices that a sentence lists.
pub(super) fn choices(line: &str) -> Option<Vec<Value>> {
    let rest = listed(line)?;
    let in_quotes = quoted(rest);
    if in_quotes.len() > 1 {
        return Some(in_quotes);
    }
    let rest = rest.trim().trim_start_matches(['[', '(', '{']);
    let rest = rest.split([']', ')', '}', '\n']).next().unwrap_or_default();
    let words = rest.split([',', '|', '/']).flat_map(|part| part.split(" or "));
    let is_word = |word: &&str| {
        (1..40).contains(&word.len())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.+:".contains(c))
    };
    let words = words.map(|word| word.trim().trim_matches(['"', '\'', '`', '.']));
    let found: Vec<Value> = words.filter(is_word).take(MAX_CHOICES).map(|w| json!(w)).collect();
    (found.len() > 1).then_some(found)
}

/// The name at the beginning of a sentence about choices: `format must be one of`, `Invalid format "x"`.
fn named_before(line: &str) -> Option<String> {
    let low = line.to_ascii_lowercase();
    let at = [" must be", " should be", " is not one of"].iter().find_map(|mark| low.find(mark));
    let word = if let Some(at) = at {
        line[..at].rsplit([' ', ':', '(']).next()?
    } else {
        let mark = ["invalid ", "unknown ", "unsupported ", "no such "]
            .iter()
            .find(|m| low.contains(**m))?;
        let rest = &line[low.find(*mark)? + mark.len()..];
        rest.split([' ', ':', ',']).next()?
    };
    let word = word.trim_matches(['"', '\'', '`', '.']);
    let is_name = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then(|| word.to_owned())
}
