//! Partial orders of calls: what comes before what, what may come any time, what never.

use std::collections::HashMap;

use serde_json::Value;

use super::super::Options;
use crate::expected_calls::Pair;

/// The demands of a case on the order of calls.
#[derive(Debug, Default)]
pub(super) struct Order {
    before: Vec<(String, String)>,
    any_time: Vec<String>,
    never: Vec<String>,
}

/// Which demands are broken.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Broken {
    /// Tools that must never be called.
    pub(super) called: Vec<String>,
    pub(super) reversed: Vec<(String, String)>,
    /// The share of demands on the order that are kept.
    pub(super) kept: f64,
}

impl Order {
    /// None if a mistake is reported.
    pub(super) fn read(options: &mut Options<'_>) -> Option<Self> {
        let any_time = options.texts("anyTime").unwrap_or_default();
        let never = options.texts("never").unwrap_or_default();
        let before = match options.value("before") {
            None => Vec::new(),
            Some(value) => {
                let pairs = pairs(value);
                if pairs.is_none() {
                    options.expected("before", "pairs of tools such as [[a, b]]", value);
                }
                pairs?
            }
        };
        Some(Self { before, any_time, never })
    }

    pub(super) fn is_any_time(&self, name: &str) -> bool {
        self.any_time.iter().any(|one| one == name)
    }

    /// The demands that calls in this order break.
    pub(super) fn broken(&self, names: &[&str]) -> Broken {
        let mut first: HashMap<&str, usize> = HashMap::new();
        for (index, name) in names.iter().enumerate() {
            first.entry(name).or_insert(index);
        }
        let called = self.never.iter().filter(|name| first.contains_key(name.as_str()));
        let is_reversed = |(earlier, later): &&(String, String)| match first.get(later.as_str()) {
            Some(later) => first.get(earlier.as_str()).is_none_or(|earlier| earlier > later),
            None => false,
        };
        let reversed: Vec<(String, String)> =
            self.before.iter().filter(is_reversed).cloned().collect();
        let all = self.before.len().max(1);
        let kept = (all - reversed.len()) as f64 / all as f64;
        Broken { called: called.cloned().collect(), reversed, kept }
    }
}

fn pairs(value: &Value) -> Option<Vec<(String, String)>> {
    let pair = |pair: &Value| match pair.as_array()?.as_slice() {
        [first, second] => Some((first.as_str()?.to_owned(), second.as_str()?.to_owned())),
        _ => None,
    };
    value.as_array()?.iter().map(pair).collect()
}

/// The share of pairs that keep the expected order: the longest increasing subsequence. None without pairs.
pub(super) fn share_in_order(pairs: &[Pair]) -> Option<f64> {
    // The smallest last element of an increasing subsequence of each length.
    let mut ends: Vec<usize> = Vec::new();
    for pair in pairs {
        let at = ends.partition_point(|end| *end < pair.made);
        match ends.get_mut(at) {
            Some(end) => *end = pair.made,
            None => ends.push(pair.made),
        }
    }
    (!pairs.is_empty()).then(|| ends.len() as f64 / pairs.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demands_are_checked_by_first_calls() {
        let order = Order {
            before: vec![("a".to_owned(), "b".to_owned()), ("x".to_owned(), "y".to_owned())],
            any_time: Vec::new(),
            never: vec!["rm".to_owned()],
        };
        assert_eq!(order.broken(&["a", "b"]), Broken { kept: 1.0, ..Broken::default() });
        let wrong = order.broken(&["b", "a", "rm"]);
        assert_eq!((wrong.called.len(), wrong.reversed.len()), (1, 1));
        assert!((wrong.kept - 0.5).abs() < 1e-9);
        assert_eq!(order.broken(&["b"]).reversed.len(), 1, "nothing came before it");
        assert!(order.broken(&["a"]).reversed.is_empty());
    }

    #[test]
    fn the_longest_part_in_order_counts() {
        let share = |made: &[usize]| {
            let pairs = made.iter().enumerate();
            let pairs: Vec<Pair> =
                pairs.map(|(expected, made)| Pair { expected, made: *made, fit: 1.0 }).collect();
            share_in_order(&pairs)
        };
        assert_eq!(share(&[0, 1, 2]), Some(1.0));
        assert_eq!(share(&[2, 0, 1]), Some(2.0 / 3.0));
        assert_eq!(share(&[]), None);
    }
}
