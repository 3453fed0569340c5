//! McNemar's test for paired outcomes: whether the same cases fail more often after a change.

use serde::{Deserialize, Serialize};

use crate::chance::two_sided;

/// Up to this number of discordant cases the test is exact. Beyond it the approximation differs only in digits that
/// nobody reads.
const MAX_EXACT: u64 = 1_000;

/// Cases on which two runs differ, and how likely so uneven a split is if nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct McNemar {
    /// Right before, wrong after.
    pub worse: u64,
    /// Wrong before, right after.
    pub better: u64,
    /// Two-sided.
    pub p: f64,
    pub method: Method,
}

/// How the probability is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// By the binomial distribution.
    Exact,
    /// By the chi-square distribution, corrected for continuity.
    ChiSquare,
}

impl McNemar {
    pub fn new(worse: u64, better: u64) -> Self {
        let discordant = worse.saturating_add(better);
        let (p, method) = if discordant <= MAX_EXACT {
            (two_sided_binomial(worse.min(better), discordant), Method::Exact)
        } else {
            // With one degree of freedom, chi-square is the square of a normal variable.
            let away = (worse.abs_diff(better) as f64 - 1.0).max(0.0) / (discordant as f64).sqrt();
            (two_sided(away), Method::ChiSquare)
        };
        Self { worse, better, p, method }
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
    fn it_agrees_with_tables() {
        near(McNemar::new(0, 5).p, 0.0625);
        near(McNemar::new(2, 8).p, 0.109_375);
        near(McNemar::new(3, 3).p, 1.0);
        near(McNemar::new(0, 0).p, 1.0);
        near(McNemar::new(4_800, 5_200).p, 6.6e-5);
        near(McNemar::new(4_999, 5_001).p, 0.992_02);
        near(McNemar::new(480, 520).p, 0.217_47);
        assert_eq!(McNemar::new(480, 520).method, Method::Exact);
        assert_eq!(McNemar::new(480, 521).method, Method::ChiSquare);
        assert!((McNemar::new(480, 521).p - McNemar::new(480, 520).p).abs() < 0.02);
        let found =
            McNemar::of([(true, false), (true, true), (false, true), (false, true)].into_iter());
        assert_eq!((found.worse, found.better), (1, 2));
    }
}
