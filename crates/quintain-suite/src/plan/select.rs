//! Selects the tests to run: the filters of the command line.

use std::collections::HashSet;

use quintain_evidence::run_diff::vars_hash;
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::index;
use regex::Regex;
use serde_json::{Map, Value};

use super::MAX_CASES;
use crate::suite::{Prompt, Target, Test, TestList, combinations, expand};

/// Filters. A test is selected if it passes all of them; the default selects everything.
#[derive(Debug, Default)]
pub struct Selection {
    /// Matches the descriptions of tests.
    pub pattern: Option<Regex>,
    pub targets: Option<Regex>,
    pub prompts: Option<Regex>,
    /// Key and value that the metadata of a test must have.
    pub metadata: Vec<(String, String)>,
    /// Positions of tests, `start..end`.
    pub range: Option<std::ops::Range<usize>>,
    pub first: Option<usize>,
    /// The number of randomly chosen tests, and the random seed.
    pub sample: Option<(usize, u64)>,
    /// Only these tests, for example the failed tests of an earlier run.
    pub among: Option<Among>,
}

/// Converts a description and variables into the identity that a stored result has.
type Stored = Box<dyn Fn(Option<&str>, &Map<String, Value>) -> Sameness + Send + Sync>;

/// Tests of an earlier run.
pub struct Among {
    pub tests: HashSet<Sameness>,
    /// Redacts secrets like stored results, so that identities compare equal.
    pub stored: Stored,
}

impl std::fmt::Debug for Among {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Among").field("tests", &self.tests).finish_non_exhaustive()
    }
}

/// Identifies a test across runs: its description, and its variables before they are expanded.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sameness {
    description: Option<String>,
    vars: u64,
}

impl Sameness {
    pub fn new(description: Option<&str>, vars: &Map<String, Value>) -> Self {
        Self { description: description.map(str::to_owned), vars: vars_hash(vars) }
    }
}

/// An invalid filter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    #[error("invalid regular expression `{pattern}`: {why}")]
    Pattern { pattern: String, why: String },
    #[error("invalid range `{text}`: expected START:END, for example 0:10")]
    Range { text: String },
    #[error("invalid metadata filter `{text}`: expected KEY=VALUE")]
    Metadata { text: String },
}

impl Selection {
    /// # Errors
    /// If the pattern is invalid.
    pub fn regex(pattern: &str) -> Result<Regex, SelectError> {
        Regex::new(pattern).map_err(|error| SelectError::Pattern {
            pattern: pattern.to_owned(),
            why: error.to_string(),
        })
    }

    /// # Errors
    /// If the text is not `START:END`.
    pub fn parse_range(text: &str) -> Result<std::ops::Range<usize>, SelectError> {
        let wrong = || SelectError::Range { text: text.to_owned() };
        let (start, end) = text.split_once(':').ok_or_else(wrong)?;
        let bound = |text: &str, default: usize| match text.trim() {
            "" => Ok(default),
            text => text.parse().map_err(|_| wrong()),
        };
        Ok(bound(start, 0)?..bound(end, usize::MAX)?)
    }

    /// # Errors
    /// If the text is not `KEY=VALUE`.
    pub fn parse_metadata(text: &str) -> Result<(String, String), SelectError> {
        let pair = text.split_once('=').filter(|(key, _)| !key.is_empty());
        let (key, value) = pair.ok_or_else(|| SelectError::Metadata { text: text.to_owned() })?;
        Ok((key.to_owned(), value.to_owned()))
    }

    pub(super) fn allows_target(&self, target: &Target) -> bool {
        self.targets.as_ref().is_none_or(|pattern| {
            pattern.is_match(&target.id)
                || target.label.as_deref().is_some_and(|label| pattern.is_match(label))
        })
    }

    pub(super) fn allows_prompt(&self, prompt: &Prompt) -> bool {
        self.prompts.as_ref().is_none_or(|pattern| {
            pattern.is_match(&prompt.label)
                || prompt.id.as_deref().is_some_and(|id| pattern.is_match(id))
        })
    }

    /// The positions of the selected tests, in order. A suite without tests runs its prompts once.
    pub(super) fn tests(&self, tests: &TestList) -> Vec<Option<usize>> {
        let range = self.range.clone().unwrap_or(0..usize::MAX);
        if tests.is_empty() {
            let lone = range.contains(&0) && self.allows(&Test::default());
            return if lone { vec![None] } else { Vec::new() };
        }
        let within = range.start.min(tests.len())..range.end.min(tests.len());
        // A test that has become unreadable is selected, so that it fails with the reason.
        let allowed = |at: &usize| {
            !self.looks_inside() || tests.get(*at).map_or(true, |test| self.allows(&test))
        };
        let mut chosen: Vec<_> = within.filter(allowed).map(Some).collect();
        if let Some(first) = self.first {
            chosen.truncate(first);
        }
        if let Some((count, seed)) = self.sample {
            chosen = sample(chosen, count, seed);
        }
        chosen
    }

    /// Whether a filter needs the content of tests.
    fn looks_inside(&self) -> bool {
        self.pattern.is_some() || !self.metadata.is_empty() || self.among.is_some()
    }

    fn allows(&self, test: &Test) -> bool {
        let described = |pattern: &Regex| {
            test.description.as_deref().is_some_and(|text| pattern.is_match(text))
        };
        self.pattern.as_ref().is_none_or(described)
            && self.metadata.iter().all(|(key, value)| has(test, key, value))
            && self.among.as_ref().is_none_or(|among| is_among(test, among))
    }
}

/// Whether a test is one of `among`. A test with lists as variables is several tests in a run.
fn is_among(test: &Test, among: &Among) -> bool {
    let description = test.description.as_deref();
    let is = |vars: &Map<String, Value>| among.tests.contains(&(among.stored)(description, vars));
    // A test with too many combinations is selected, so that planning reports it.
    is(&test.vars)
        || (test.vars.values().any(Value::is_array)
            && (combinations(&test.vars) > MAX_CASES || expand(&test.vars).iter().any(is)))
}

/// Whether the metadata of a test has a value: as an element of a list, or as part of a text.
fn has(test: &Test, key: &str, wanted: &str) -> bool {
    let is = |value: &Value| match value {
        Value::String(text) => text.contains(wanted),
        other => *other.to_string() == *wanted,
    };
    match test.metadata.get(key) {
        Some(Value::Array(items)) => items.iter().any(is),
        Some(value) => is(value),
        None => false,
    }
}

/// Randomly chooses `count` items, with a seed, and keeps their order.
fn sample<T>(items: Vec<T>, count: usize, seed: u64) -> Vec<T> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut kept = index::sample(&mut random, items.len(), count.min(items.len())).into_vec();
    kept.sort_unstable();
    let chosen = |(at, item)| kept.binary_search(&at).is_ok().then_some(item);
    items.into_iter().enumerate().filter_map(chosen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_repeatable_and_ordered() {
        let items: Vec<u32> = (0..100).collect();
        let first = sample(items.clone(), 10, 7);
        assert_eq!(first, sample(items.clone(), 10, 7));
        assert_ne!(first, sample(items.clone(), 10, 8));
        assert!(first.is_sorted());
        assert_eq!(sample(items, 1000, 7).len(), 100);
    }

    #[test]
    fn ranges_may_be_open() {
        assert_eq!(Selection::parse_range("2:5").unwrap(), 2..5);
        assert_eq!(Selection::parse_range(":5").unwrap(), 0..5);
        assert_eq!(Selection::parse_range("2:").unwrap(), 2..usize::MAX);
        assert!(Selection::parse_range("x").is_err());
    }
}
