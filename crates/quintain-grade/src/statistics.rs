//! Intervals and tests for shares.

use serde::{Deserialize, Serialize};

/// A share with its 95 % interval (Wilson), which stays within 0 and 1 also for few cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    pub count: u64,
    pub of: u64,
    /// None if there is nothing to take a share of.
    pub value: Option<f64>,
    pub interval: Option<(f64, f64)>,
}

/// The quantile of the normal distribution for 95 %.
const Z: f64 = 1.959_963_984_540_054;

impl Share {
    pub fn new(count: u64, of: u64) -> Self {
        if of == 0 {
            return Self { count, of, value: None, interval: None };
        }
        let (n, share) = (of as f64, count as f64 / of as f64);
        let scale = 1.0 + Z * Z / n;
        let center = (share + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        let low = if count == 0 { 0.0 } else { (center - half).max(0.0) };
        let high = if count == of { 1.0 } else { (center + half).min(1.0) };
        Self { count, of, value: Some(share), interval: Some((low, high)) }
    }
}

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
    fn wilson_agrees_with_tables() {
        let (low, high) = Share::new(8, 10).interval.unwrap();
        near(low, 0.4902);
        near(high, 0.9433);
        let (low, high) = Share::new(0, 10).interval.unwrap();
        near(low, 0.0);
        near(high, 0.2775);
        assert_eq!(Share::new(5, 5).interval.unwrap().1.to_bits(), 1.0_f64.to_bits());
        assert_eq!(Share::new(0, 0).value, None);
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
