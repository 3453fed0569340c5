//! Chooses entries of the built-in data sets by what the arguments say about them.

use serde_json::Value;

use crate::datasets::{Entry, find};

/// At most `count` entries that meet as many of the wishes as any entry does, in the order of the data set. A wish is a
/// key of the metadata, or `harm_categories`, with its value.
pub(super) fn select(
    dataset: &str,
    wishes: &[(&str, Option<&str>)],
    count: usize,
) -> Vec<&'static Entry> {
    let entries = find(dataset).map_or(&[][..], |dataset| &dataset.entries);
    let met = |entry: &Entry| {
        wishes
            .iter()
            .filter(|(key, value)| value.is_some_and(|value| has(entry, key, value)))
            .count()
    };
    let best = entries.iter().map(met).max().unwrap_or(0);
    let fitting: Vec<&Entry> = entries.iter().filter(|entry| met(entry) == best).collect();
    // Spread over the set, since neighbours are of one kind.
    let step = (fitting.len() / count.max(1)).max(1);
    fitting.into_iter().step_by(step).take(count).collect()
}

fn has(entry: &Entry, key: &str, value: &str) -> bool {
    let is = |word: &Value| word.as_str().is_some_and(|word| word.eq_ignore_ascii_case(value));
    match (key, entry.metadata.get(key)) {
        ("harm_categories", _) => {
            entry.harm_categories.iter().any(|word| word.eq_ignore_ascii_case(value))
        }
        (_, Some(Value::Array(words))) => words.iter().any(is),
        (_, Some(word)) => is(word),
        (_, None) => false,
    }
}
