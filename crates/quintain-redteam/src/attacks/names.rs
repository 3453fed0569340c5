//! Tool names that are mentioned in texts.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use crate::attack::TargetView;
use crate::knowledge::{Sense, words};

/// Words with a separator that could be tool names, in the order of the text.
pub(super) fn in_text(text: &str) -> Vec<String> {
    static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b[A-Za-z][A-Za-z0-9]*(?:[_-][A-Za-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b")
            .ok()
    });
    let Some(name) = &*NAME else { return Vec::new() };
    let mut seen = BTreeSet::new();
    let found = name.find_iter(text).map(|found| found.as_str()).take(400);
    found
        .filter(|name| name.len() <= 64 && is_tool_like(name) && seen.insert((*name).to_owned()))
        .map(str::to_owned)
        .collect()
}

/// Whether a name begins with a verb that tool names use.
fn is_tool_like(name: &str) -> bool {
    let found = words(name);
    found.len() >= 2 && found.first().is_some_and(|word| Sense::BeginsNames.is(word))
}

/// Names that a text calls tools: `x_y tool`, `call x_y`.
pub(super) fn called_tools(text: &str) -> Vec<String> {
    static CALLED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let name = r"[`'\x22]?([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)[`'\x22]?";
        let text = format!(
            r"(?:\b(?:[Tt]he |[Tt]ool ){name}\s+(?:tool|function)\b|\b[Tt]ool\s+{name}|\b(?:[Uu]se|[Cc]all|[Rr]un|[Ii]nvoke|[Ss]ee)\s+(?:the\s+)?{name}\s+(?:tool|first|instead|to|for)\b)"
        );
        Regex::new(&text).ok()
    });
    let Some(called) = &*CALLED else { return Vec::new() };
    let mut seen = BTreeSet::new();
    let found = called.captures_iter(text).take(50).filter_map(|found| {
        found.iter().skip(1).flatten().next().map(|name| name.as_str().to_owned())
    });
    found.filter(|name| seen.insert(name.clone())).collect()
}

/// All names on the surfaces: tools, prompts, arguments and values.
pub(super) fn listed<'s>(view: &TargetView<'s>) -> HashSet<&'s str> {
    let is_name = |field: &str| field == "name" || field.contains('/');
    let texts = super::listed::texts(view).into_iter().filter(|one| is_name(&one.field));
    texts.map(|one| one.text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_prose() {
        let text = "Unknown tool 'x'. Tools: list_users, export_users, deleteUser, foo_bar, re-use";
        assert_eq!(in_text(text), ["list_users", "export_users", "deleteUser"]);
    }

    #[test]
    fn a_text_says_what_is_a_tool() {
        assert_eq!(called_tools("Use the purge_cache tool first"), ["purge_cache"]);
        assert_eq!(called_tools("call `list_ids` to get it"), ["list_ids"]);
        assert!(called_tools("the user_id of the call_center").is_empty());
    }
}
