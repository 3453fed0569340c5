//! Counts how often the prompts of a trial work, and estimates how often they work in several tries.

use std::collections::{BTreeMap, BTreeSet};

use quintain_evidence::evidence::Outcome;
use quintain_evidence::trial_record::PromptCount;
use quintain_redteam::attack::{Hit, Tried};

use super::trial_plan::repetition_of;

/// Numbers of tries for which the chance of success is reported.
const TRIES: [usize; 4] = [1, 3, 5, 10];

/// How often each prompt was answered, and how often it worked.
pub(super) fn of(tried: &[Tried], hits: &[Hit]) -> Vec<PromptCount> {
    let answered =
        |one: &&Tried| matches!(one.last().map(|last| &last.outcome), Some(Outcome::Reply(_)));
    let sent: BTreeSet<usize> = tried.iter().filter(answered).map(|one| one.attempt.set).collect();
    let worked: BTreeSet<usize> = hits.iter().filter_map(|hit| hit.set).collect();
    let mut counts: BTreeMap<usize, PromptCount> = BTreeMap::new();
    for set in sent {
        let count = counts.entry(repetition_of(set).0).or_default();
        count.sent += 1;
        count.hits += usize::from(worked.contains(&set));
    }
    counts.into_values().collect()
}

/// The unbiased estimates of success within several tries, as the mean over all prompts that were sent so often.
pub(super) fn pass_at(counts: &[PromptCount]) -> Vec<(usize, f64)> {
    if counts.iter().all(|count| count.sent < 2) {
        return Vec::new();
    }
    let of_tries = TRIES.iter().filter_map(|tries| {
        let enough = counts.iter().filter(|count| count.sent >= *tries);
        let estimates: Vec<f64> = enough.map(|count| estimate(*count, *tries)).collect();
        let mean = estimates.iter().sum::<f64>() / estimates.len() as f64;
        (!estimates.is_empty()).then_some((*tries, mean))
    });
    of_tries.collect()
}

/// 1 - C(n - c, k) / C(n, k).
fn estimate(PromptCount { sent, hits }: PromptCount, tries: usize) -> f64 {
    let missed = sent - hits;
    if missed < tries {
        return 1.0;
    }
    let part = |at: usize| (missed - at) as f64 / (sent - at) as f64;
    1.0 - (0..tries).map(part).product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_within_several_tries_is_estimated_without_bias() {
        let count = |sent, hits| PromptCount { sent, hits };
        assert!((estimate(count(10, 3), 1) - 0.3).abs() < 1e-9);
        // 1 - C(7, 3) / C(10, 3) = 1 - 35 / 120
        assert!((estimate(count(10, 3), 3) - (1.0 - 35.0 / 120.0)).abs() < 1e-9);
        assert!((estimate(count(3, 1), 3) - 1.0).abs() < 1e-9);
        assert!(estimate(count(5, 0), 5).abs() < 1e-9);
    }

    #[test]
    fn only_repeated_prompts_have_an_estimate() {
        assert!(pass_at(&[PromptCount { sent: 1, hits: 1 }]).is_empty());
        let counts = [PromptCount { sent: 3, hits: 0 }, PromptCount { sent: 3, hits: 3 }];
        assert_eq!(pass_at(&counts), [(1, 0.5), (3, 0.5)]);
    }
}
