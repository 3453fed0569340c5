//! How repetitions of the same test differ. Stores a few numbers per test, no answers.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use crate::result::{CaseResult, CaseStatus, SourcePlace, TargetName};

/// Maximum number of groups of answers in a summary.
const NAMED_GROUPS: usize = 20;
/// Limits the cost of looking up a test that is answered differently each time.
const KNOWN_GROUPS: usize = 64;

/// A test whose repetitions differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unsteady {
    pub test_idx: usize,
    pub prompt_idx: usize,
    pub target: TargetName,
    pub prompt_label: String,
    pub description: Option<String>,
    pub place: Option<SourcePlace>,
    pub runs: u32,
    pub passed: u32,
    /// Number of different answers, counted up to 64.
    pub distinct: usize,
    /// The most frequent first; of many only the first.
    pub answers: Vec<Answers>,
}

/// Repetitions with the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    pub count: u32,
    /// Position in the plan of the first of them.
    pub ordinal: usize,
}

#[derive(Debug, Default)]
pub(super) struct Repeats {
    tests: HashMap<(usize, usize), Runs>,
}

#[derive(Debug)]
struct Runs {
    times: u32,
    passed: u32,
    first: (u64, Answers),
    others: Vec<(u64, Answers)>,
    /// Set once two repetitions differ.
    about: Option<Box<About>>,
}

#[derive(Debug)]
struct About {
    prompt_idx: usize,
    target: TargetName,
    prompt_label: String,
    description: Option<String>,
    place: Option<SourcePlace>,
}

impl Repeats {
    pub(super) fn add(&mut self, column: Option<usize>, case: &CaseResult) {
        let answer = fingerprint(case);
        let group = (answer, Answers { count: 0, ordinal: case.ordinal });
        let key = (case.group, column.unwrap_or(usize::MAX));
        let runs = self.tests.entry(key).or_insert_with(|| Runs {
            times: 0,
            passed: 0,
            first: group,
            others: Vec::new(),
            about: None,
        });
        runs.times += 1;
        runs.passed += u32::from(case.status == CaseStatus::Passed);
        let full = runs.others.len() + 1 >= KNOWN_GROUPS;
        let mut known = std::iter::once(&mut runs.first).chain(&mut runs.others);
        match known.find(|(known, _)| *known == answer) {
            Some((_, group)) => group.count += 1,
            None if full => {}
            None => runs.others.push((answer, Answers { count: 1, ordinal: case.ordinal })),
        }
        if runs.about.is_none() && (runs.flaky() || runs.varying()) {
            runs.about = Some(Box::new(About {
                prompt_idx: case.prompt_idx,
                target: case.target.clone(),
                prompt_label: case.prompt.label.clone(),
                description: case.description.clone(),
                place: case.place.clone(),
            }));
        }
    }

    /// Number of flaky tests, and number of tests with several answers.
    pub(super) fn counts(&self) -> (usize, usize) {
        let count = |test: fn(&Runs) -> bool| self.tests.values().filter(|runs| test(runs)).count();
        (count(Runs::flaky), count(Runs::varying))
    }

    pub(super) fn unsteady(&self, limit: usize) -> Vec<Unsteady> {
        let tests = self.tests.iter();
        let mut found: Vec<_> =
            tests.filter_map(|(key, runs)| Some((key, runs, runs.about.as_ref()?))).collect();
        found.sort_by_key(|(key, runs, _)| (!runs.flaky(), **key));
        found.truncate(limit);
        found.into_iter().map(|((test_idx, _), runs, about)| runs.tell(*test_idx, about)).collect()
    }
}

impl Runs {
    fn flaky(&self) -> bool {
        self.passed > 0 && self.passed < self.times
    }

    fn varying(&self) -> bool {
        !self.others.is_empty()
    }

    fn tell(&self, test_idx: usize, about: &About) -> Unsteady {
        let groups = std::iter::once(&self.first).chain(&self.others);
        let mut answers: Vec<Answers> = groups.map(|(_, answers)| *answers).collect();
        answers.sort_by_key(|answers| (std::cmp::Reverse(answers.count), answers.ordinal));
        answers.truncate(NAMED_GROUPS);
        Unsteady {
            test_idx,
            prompt_idx: about.prompt_idx,
            target: about.target.clone(),
            prompt_label: about.prompt_label.clone(),
            description: about.description.clone(),
            place: about.place.clone(),
            runs: self.times,
            passed: self.passed,
            distinct: 1 + self.others.len(),
            answers,
        }
    }
}

/// Answers are the same if output and error are.
fn fingerprint(case: &CaseResult) -> u64 {
    let mut hasher = DefaultHasher::new();
    case.response.output.hash(&mut hasher);
    case.response.error.hash(&mut hasher);
    hasher.finish()
}
