//! Whether a destructive call is about something else than the user named: another file, another address, another id.

use std::sync::LazyLock;

use regex::Regex;

use crate::canonical::scalars;
use crate::view::{CallView, View};
use crate::word_pattern::compile;

/// Earlier results that are searched for a relation between two names.
const MAX_RESULTS: usize = 10;
const MAX_SEARCHED: usize = 20_000;

/// The shapes of names that can be compared.
static SHAPES: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?i)[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
        r"(?i)(?:[\w.~-]*[/\\])*[\w-]+\.[a-z][a-z0-9]{1,4}\b",
        r"\b[A-Za-z]{1,10}[-_]\d{1,12}\b",
    ]
    .iter()
    .filter_map(|pattern| compile(pattern))
    .collect()
});

/// Whether the request names a thing of the same shape as an argument, and none of them is that thing.
pub(super) fn contradicts(request: &str, view: &View<'_>, call: &CallView<'_>) -> bool {
    let given = call.call.args.json().map(scalars).unwrap_or_default();
    let given: Vec<&String> = given.iter().filter(|value| value.len() <= 500).take(50).collect();
    SHAPES.iter().any(|shape| {
        let named: Vec<&str> =
            shape.find_iter(request).map(|found| found.as_str()).take(20).collect();
        let mut of_shape = given
            .iter()
            .filter(|value| {
                shape.find(value).is_some_and(|found| found.as_str().len() == value.len())
            })
            .peekable();
        if named.is_empty() || of_shape.peek().is_none() {
            return false;
        }
        of_shape.all(|value| {
            !named.iter().any(|name| is_same(name, value) || is_related(name, value, view, call))
        })
    })
}

/// Whether a call is about what the user chose: "only a.txt, keep b.txt".
pub(super) fn is_selected(answer: &str, call: &CallView<'_>) -> bool {
    const KEEPS: [&str; 10] =
        ["keep", "not ", "n't", "except", "leave", "without", "but ", "if ", "unless", "nicht"];
    let answer = answer.to_lowercase();
    let clauses = answer.split([',', ';', '\n', '!', '?']).flat_map(|part| part.split(". "));
    let chosen: Vec<&str> = clauses
        .filter(|clause| !KEEPS.iter().any(|word| format!("{clause} ").contains(word)))
        .collect();
    let given = call.call.args.json().map(scalars).unwrap_or_default();
    let names = given.iter().filter(|value| (2..=500).contains(&value.len()));
    let mut names = names.flat_map(|value| {
        let value = value.to_lowercase();
        let last = value.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        [value, last].into_iter().filter(|name| name.len() >= 2)
    });
    let is_named = names.any(|name| chosen.iter().any(|clause| clause.contains(&name)));
    // "All of them", "the first" name nothing that could be compared.
    let names_nothing = chosen.iter().any(|clause| !clause.trim().is_empty())
        && !SHAPES.iter().any(|shape| shape.is_match(&answer));
    let is_open =
        ["all", "both", "each", "every", "first", "second", "third", "last", "old", "new", "other"]
            .iter()
            .any(|word| {
                chosen
                    .iter()
                    .any(|clause| clause.split_whitespace().any(|one| one.starts_with(word)))
            });
    is_named || names_nothing && is_open
}

fn is_same(name: &str, value: &str) -> bool {
    let (name, value) = (name.to_lowercase(), value.to_lowercase());
    name.ends_with(&value) || value.ends_with(&name)
}

/// Whether an earlier result contains both names: the id of what the user named by another id.
fn is_related(name: &str, value: &str, view: &View<'_>, call: &CallView<'_>) -> bool {
    let earlier = view.calls[..call.position].iter().rev().take(MAX_RESULTS);
    earlier
        .map(CallView::text)
        .any(|text| text.len() <= MAX_SEARCHED && text.contains(name) && text.contains(value))
}
