//! The test for paired outcomes.

use serde::{Deserialize, Serialize};

/// Cases on which two runs differ, and how likely so uneven a split is if nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct McNemar {
    /// Right before, wrong after.
    pub worse: u64,
    /// Wrong before, right after.
    pub better: u64,
    /// Two-sided, exact.
    pub p: f64,
}

impl McNemar {
    pub fn new(worse: u64, better: u64) -> Self {
        Self { worse, better, p: two_sided_binomial(worse.min(better), worse + better) }
    }

    /// Compares the outcomes of the same cases before and after.
    pub fn of(pairs: impl Iterator<Item = (bool, bool)>) -> Self {
        let (mut worse, mut better) = (0, 0);
        for (before, after) in pairs {
            worse += u64::from(before && !after);
            better += u64::from(!before && after);
        }
        Self::new(worse, better)
    }
}

/// The probability that a fair coin lands at most `fewer` times on one side, for either side.
fn two_sided_binomial(fewer: u64, all: u64) -> f64 {
    if all == 0 {
        return 1.0;
    }
    // Terms are summed relative to the largest one, so that nothing underflows for many throws.
    let mut log_term = -(all as f64) * std::f64::consts::LN_2;
    let mut logs = vec![log_term];
    for k in 1..=fewer {
        log_term += ((all - k + 1) as f64).ln() - (k as f64).ln();
        logs.push(log_term);
    }
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = logs.iter().map(|log| (log - most).exp()).sum();
    (2.0 * (most + sum.ln()).exp()).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-4, "{a} is not {b}");
    }

    #[test]
    fn mcnemar_is_exact() {
        near(McNemar::new(0, 5).p, 0.0625);
        near(McNemar::new(2, 8).p, 0.109_375);
        near(McNemar::new(3, 3).p, 1.0);
        near(McNemar::new(0, 0).p, 1.0);
        near(McNemar::new(4_800, 5_200).p, 6.6e-5);
        let found =
            McNemar::of([(true, false), (true, true), (false, true), (false, true)].into_iter());
        assert_eq!((found.worse, found.better), (1, 2));
    }
}
