//! References in configurations, which stand for values that are kept elsewhere.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// All the forms that clients know: `${env:X}`, `${X:-default}`, `${input:x}`, `${{ secrets.X }}`,
/// `{{env.X}}`, `{env:X}`, `{file:x}`, `$X`, `%X%`.
static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let forms = [
        r"\$\{\{\s*(?P<doubled>[^{}]*?)\s*\}\}",
        r"\$\{(?P<braced>[^{}]*)\}",
        r"\{\{\s*(?P<template>[^{}]*?)\s*\}\}",
        r"\{(?P<kind>(?:env|file):[^{}]*)\}",
        r"\$(?P<bare>[A-Z_][A-Z0-9_]*)",
        r"%(?P<percent>[A-Z_][A-Z0-9_]+)%",
    ];
    Regex::new(&forms.join("|")).ok()
});

/// Whether a text contains a reference.
pub fn is_reference(text: &str) -> bool {
    REFERENCE.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// The text with a space instead of every reference.
pub fn without_references(text: &str) -> Cow<'_, str> {
    // The pattern takes longer to compile than most commands take to run.
    if !text.contains(['$', '{', '%']) {
        return Cow::Borrowed(text);
    }
    REFERENCE.as_ref().map_or(Cow::Borrowed(text), |regex| regex.replace_all(text, " "))
}

/// What references can stand for.
pub trait Lookup {
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;

    /// `workspaceFolder`, `userHome`.
    fn folder(&self, name: &str) -> Option<String>;
}

/// Fills in all references.
///
/// # Errors
/// The first reference that nobody here can fill in.
pub fn resolve(text: &str, lookup: &dyn Lookup) -> Result<String, String> {
    let Some(regex) = REFERENCE.as_ref() else { return Ok(text.to_owned()) };
    let mut filled = String::with_capacity(text.len());
    let mut end = 0;
    for found in regex.captures_iter(text) {
        let whole = found.get_match();
        let name = found.iter().skip(1).flatten().next().map_or("", |name| name.as_str());
        let value = value(name, lookup).ok_or_else(|| whole.as_str().to_owned())?;
        filled.push_str(&text[end..whole.start()]);
        filled.push_str(&value);
        end = whole.end();
    }
    filled.push_str(&text[end..]);
    Ok(filled)
}

fn value(name: &str, lookup: &dyn Lookup) -> Option<String> {
    let (name, default) = match name.split_once(":-") {
        Some((name, default)) => (name, Some(default.to_owned())),
        None => (name, None),
    };
    let name = name.trim();
    let variable = name.strip_prefix("env:").or_else(|| name.strip_prefix("env."));
    let found = match variable {
        Some(variable) => lookup.variable(variable),
        None => lookup.folder(name).or_else(|| lookup.variable(name)),
    };
    found.or(default)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Here;

    impl Lookup for Here {
        fn variable(&self, name: &str) -> Option<String> {
            (name == "TOKEN").then(|| "t".to_owned())
        }

        fn folder(&self, name: &str) -> Option<String> {
            (name == "workspaceFolder").then(|| "/w".to_owned())
        }
    }

    #[test]
    fn every_form_of_a_reference_is_known() {
        for text in [
            "${env:TOKEN}",
            "${TOKEN}",
            "$TOKEN",
            "{{env.TOKEN}}",
            "{env:TOKEN}",
            "%TOKEN%",
            "${{ env.TOKEN }}",
            "${TOKEN:-x}",
        ] {
            assert!(is_reference(text), "{text}");
            assert_eq!(without_references(text), " ", "{text}");
            assert_eq!(resolve(text, &Here).as_deref(), Ok("t"), "{text}");
        }
        for text in ["plain", "$5", "100%", "{}", "a$b"] {
            assert!(!is_reference(text), "{text}");
        }
    }

    #[test]
    fn what_nobody_knows_is_named() {
        assert_eq!(resolve("a ${input:key} b", &Here), Err("${input:key}".to_owned()));
        assert_eq!(resolve("${NONE:-d}", &Here).as_deref(), Ok("d"));
        assert_eq!(resolve("${workspaceFolder}/x", &Here).as_deref(), Ok("/w/x"));
    }
}
