//! Compares two runs: what broke, what was fixed, what got slower. Noise is not reported as a change.

pub mod graded;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::chance;
use crate::result::{CaseResult, CaseStatus};

/// Below this probability a difference is significant.
const SIGNIFICANT: f64 = 0.05;
/// Latencies vary more, so a shift needs a smaller probability, a median that moved by a twentieth, and enough
/// measurements.
/// A latency differs if the probability that noise explains it is below this.
pub const LATENCY_SIGNIFICANT: f64 = 0.01;
const LATENCY_SHIFT: f64 = 0.05;
const LATENCY_SAMPLES: usize = 8;
/// Scores with a smaller difference count as equal.
const SAME_SCORE: f64 = 1e-9;

/// What identifies a case in another run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    pub description: Option<String>,
    /// Hash of the variables, see [`vars_hash`].
    pub vars: u64,
    /// The label of the prompt.
    pub prompt: String,
    /// Label or id of the target.
    pub target: String,
}

/// The part of a result that a comparison needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub key: Key,
    pub test_idx: usize,
    pub repeat: u32,
    pub status: CaseStatus,
    pub score: f64,
    pub latency_ms: f64,
}

impl Row {
    pub fn of(case: &CaseResult) -> Self {
        let key = Key {
            description: case.description.clone(),
            vars: vars_hash(&case.vars),
            prompt: case.prompt.label.clone(),
            target: case.target.name().to_owned(),
        };
        let CaseResult { test_idx, repeat, status, score, latency_ms, .. } = *case;
        Self { key, test_idx, repeat, status, score, latency_ms }
    }
}

/// The difference between two runs, `before` and `after`. Lists are in the order of `after`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Diff {
    /// All repetitions passed before, not all pass now.
    pub new_failures: Vec<CaseChange>,
    /// Not all repetitions passed before, all pass now.
    pub fixed: Vec<CaseChange>,
    /// Not all repetitions passed, before and now.
    pub still_failing: Vec<CaseChange>,
    /// All repetitions pass as before, with a different score.
    pub changed_scores: Vec<CaseChange>,
    pub added: Vec<UnmatchedCase>,
    pub removed: Vec<UnmatchedCase>,
    /// Number of cases that passed before and now with the same score.
    pub unchanged: usize,
    /// By target.
    pub latency: BTreeMap<String, LatencyShift>,
    /// Whether a case of both runs got worse. Latency does not count.
    pub regressed: bool,
}

/// A case in both runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseChange {
    pub key: Key,
    pub before: Score,
    pub after: Score,
    /// Fails significantly more often than before.
    pub worse: bool,
}

/// A case in one of the runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnmatchedCase {
    pub key: Key,
    pub score: Score,
}

/// All repetitions of a case combined.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    pub repeats: usize,
    pub passed: usize,
    pub errored: usize,
    /// Mean over the repetitions.
    pub mean_score: f64,
    /// Position of the test, to look it up.
    pub test_idx: usize,
}

impl Score {
    fn all_passed(&self) -> bool {
        self.passed == self.repeats
    }
}

/// How a target's latencies shifted, over the cases that are in both runs and not errored.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LatencyShift {
    pub before: Quantiles,
    pub after: Quantiles,
    /// Probability of a difference this large if nothing changed (Mann-Whitney U, two-sided).
    pub p_value: f64,
    pub verdict: Shift,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    pub samples: usize,
    pub median: f64,
    pub p95: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shift {
    Faster,
    Slower,
    /// No difference beyond noise.
    None,
}

struct Group {
    key: Key,
    score: Score,
    latencies: Vec<f64>,
}

/// Compares two runs.
pub fn diff(before: &[Row], after: &[Row]) -> Diff {
    let mut old = groups(before);
    let new = groups(after);
    let partners = partners(&old, &new);
    let mut diff = Diff::default();
    let mut latencies: BTreeMap<String, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    let mut matched = HashSet::new();
    for (group, partner) in new.into_iter().zip(partners) {
        let Some(at) = partner else {
            diff.added.push(UnmatchedCase { key: group.key, score: group.score });
            continue;
        };
        matched.insert(at);
        let (then, now) = latencies.entry(group.key.target.clone()).or_default();
        then.append(&mut old[at].latencies);
        now.extend(group.latencies);
        diff.place(group.key, old[at].score, group.score);
    }
    let gone = old.into_iter().enumerate().filter(|(at, _)| !matched.contains(at));
    diff.removed =
        gone.map(|(_, group)| UnmatchedCase { key: group.key, score: group.score }).collect();
    let shifts = latencies.into_iter();
    diff.latency = shifts.filter_map(|(name, (a, b))| Some((name, shift(a, b)?))).collect();
    diff.regressed =
        !diff.new_failures.is_empty() || diff.still_failing.iter().any(|change| change.worse);
    diff
}

impl Diff {
    fn place(&mut self, key: Key, before: Score, after: Score) {
        let failed = |score: &Score| score.repeats - score.passed;
        let chance = chance::more_failures(
            (failed(&before), before.repeats),
            (failed(&after), after.repeats),
        );
        let turned = before.all_passed() && after.passed == 0;
        let change = CaseChange { key, before, after, worse: turned || chance < SIGNIFICANT };
        match (before.all_passed(), after.all_passed()) {
            (true, false) => self.new_failures.push(change),
            (false, true) => self.fixed.push(change),
            (false, false) => self.still_failing.push(change),
            (true, true) if (before.mean_score - after.mean_score).abs() > SAME_SCORE => {
                self.changed_scores.push(change);
            }
            (true, true) => self.unchanged += 1,
        }
    }
}

/// Groups the repetitions of each case, in the order of the run. Tests with the same key are numbered.
fn groups(rows: &[Row]) -> Vec<Group> {
    let mut seen: HashMap<(&Key, u32), usize> = HashMap::new();
    let mut places: HashMap<(&Key, usize), usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for row in rows {
        let twins = seen.entry((&row.key, row.repeat)).or_default();
        let place = *places.entry((&row.key, *twins)).or_insert(groups.len());
        *twins += 1;
        if place == groups.len() {
            let score = Score {
                repeats: 0,
                passed: 0,
                errored: 0,
                mean_score: 0.0,
                test_idx: row.test_idx,
            };
            groups.push(Group { key: row.key.clone(), score, latencies: Vec::new() });
        }
        let Group { score, latencies, .. } = &mut groups[place];
        score.repeats += 1;
        score.passed += usize::from(row.status == CaseStatus::Passed);
        score.errored += usize::from(row.status == CaseStatus::Errored);
        score.mean_score += (row.score - score.mean_score) / score.repeats as f64;
        if row.status != CaseStatus::Errored {
            latencies.push(row.latency_ms);
        }
    }
    groups
}

/// For each group of the new run its index in the old one: by the whole key, and for the rest by the description alone
/// if only one group has it (a variable was reworded).
fn partners(old: &[Group], new: &[Group]) -> Vec<Option<usize>> {
    let mut waiting: HashMap<&Key, Vec<usize>> = HashMap::new();
    for (at, group) in old.iter().enumerate().rev() {
        waiting.entry(&group.key).or_default().push(at);
    }
    let mut partners: Vec<Option<usize>> =
        new.iter().map(|group| waiting.get_mut(&group.key).and_then(Vec::pop)).collect();

    let mut left: HashMap<_, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for at in waiting.into_values().flatten() {
        if let Some(name) = old[at].key.name() {
            left.entry(name).or_default().0.push(at);
        }
    }
    for (at, group) in new.iter().enumerate().filter(|(at, _)| partners[*at].is_none()) {
        if let Some(name) = group.key.name() {
            left.entry(name).or_default().1.push(at);
        }
    }
    for (then, now) in left.into_values() {
        if let ([then], [now]) = (then.as_slice(), now.as_slice()) {
            partners[*now] = Some(*then);
        }
    }
    partners
}

/// The positions of cases that are in both runs, before and after. Repetitions of a case count as one, by the first.
pub fn pairs(before: &[Row], after: &[Row]) -> Vec<(usize, usize)> {
    let (old, new) = (groups(before), groups(after));
    let firsts = |rows: &[Row]| -> Vec<usize> {
        rows.iter().enumerate().filter(|(_, row)| row.repeat == 0).map(|(at, _)| at).collect()
    };
    let (then, now) = (firsts(before), firsts(after));
    let partners = partners(&old, &new).into_iter().enumerate();
    let both = partners.filter_map(|(at, partner)| Some((*then.get(partner?)?, *now.get(at)?)));
    both.collect()
}

impl Key {
    /// The key without the variables, for cases that have a description.
    fn name(&self) -> Option<(&str, &str, &str)> {
        Some((self.description.as_deref()?, &self.prompt, &self.target))
    }
}

fn shift(mut before: Vec<f64>, mut after: Vec<f64>) -> Option<LatencyShift> {
    for side in [&mut before, &mut after] {
        side.retain(|latency| latency.is_finite());
        side.sort_by(f64::total_cmp);
    }
    let (then, now) = (quantiles(&before)?, quantiles(&after)?);
    let p_value = chance::mann_whitney(&before, &after);
    let enough = then.samples.min(now.samples) >= LATENCY_SAMPLES;
    let moved = (now.median - then.median).abs() > LATENCY_SHIFT * then.median;
    let verdict = match (enough && moved && p_value < LATENCY_SIGNIFICANT, now.median > then.median)
    {
        (false, _) => Shift::None,
        (true, true) => Shift::Slower,
        (true, false) => Shift::Faster,
    };
    Some(LatencyShift { before: then, after: now, p_value, verdict })
}

/// Nearest rank: every quantile is a measured value.
fn quantiles(sorted: &[f64]) -> Option<Quantiles> {
    let rank = |part: f64| {
        let at = (part * sorted.len() as f64).ceil() as usize;
        sorted.get(at.max(1) - 1).copied()
    };
    Some(Quantiles { samples: sorted.len(), median: rank(0.5)?, p95: rank(0.95)? })
}

/// A hash of a set of variables that is the same in every run, independent of the order of names. 64-bit FNV-1a: good
/// enough to find equal sets, not cryptographic.
pub fn vars_hash(vars: &Map<String, Value>) -> u64 {
    let mut hash = Fnv::default();
    hash.map(vars);
    hash.0
}

struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
        self.bytes(&[0xff]);
    }

    fn map(&mut self, map: &Map<String, Value>) {
        let mut names: Vec<_> = map.iter().collect();
        names.sort_unstable_by_key(|(name, _)| *name);
        self.bytes(b"{");
        for (name, value) in names {
            self.text(name);
            self.value(value);
        }
        self.bytes(b"}");
    }

    /// Recursion is bounded by the depth that the JSON reader allows.
    fn value(&mut self, value: &Value) {
        match value {
            Value::Object(map) => self.map(map),
            Value::Array(items) => {
                self.bytes(b"[");
                for item in items {
                    self.value(item);
                }
                self.bytes(b"]");
            }
            Value::String(text) => {
                self.bytes(b"\"");
                self.text(text);
            }
            other => self.text(&other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
