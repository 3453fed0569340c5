//! The probability of a difference if nothing changed.

/// The one-sided probability of at least this number of failures after, given those before: Fisher's exact test over
/// `(failed, all)`.
pub(crate) fn more_failures(before: (usize, usize), after: (usize, usize)) -> f64 {
    let (all, failed) = (before.1 + after.1, before.0 + after.0);
    let logs = log_factorials(all);
    let choose = |n: usize, k: usize| logs[n] - logs[k] - logs[n - k];
    let most = failed.min(after.1);
    let ways = |k: usize| choose(after.1, k) + choose(before.1, failed - k) - choose(all, failed);
    let possible = (after.0..=most).filter(|k| failed - k <= before.1);
    possible.map(|k| ways(k).exp()).sum::<f64>().min(1.0)
}

fn log_factorials(n: usize) -> Vec<f64> {
    let mut logs = Vec::with_capacity(n + 1);
    let mut sum = 0.0;
    logs.push(sum);
    for k in 1..=n {
        sum += (k as f64).ln();
        logs.push(sum);
    }
    logs
}

/// The two-sided probability that two sorted samples come from the same distribution: the Mann-Whitney U test in its
/// normal approximation, with corrections for ties and continuity.
pub(crate) fn mann_whitney(left: &[f64], right: &[f64]) -> f64 {
    if left.is_empty() || right.is_empty() {
        return 1.0;
    }
    let (lefts, rights) = (left.len() as f64, right.len() as f64);
    let all = lefts + rights;
    let (mut at_left, mut at_right) = (0, 0);
    let (mut rank_sum, mut ties, mut rank) = (0.0, 0.0, 0.0);
    loop {
        let next = match (left.get(at_left), right.get(at_right)) {
            (Some(one), Some(other)) => one.min(*other),
            (Some(one), None) | (None, Some(one)) => *one,
            (None, None) => break,
        };
        let same = |side: &[f64]| side.iter().take_while(|value| **value <= next).count();
        let (of_left, of_right) = (same(&left[at_left..]), same(&right[at_right..]));
        let size = (of_left + of_right) as f64;
        // Equal values share the mean of their ranks.
        rank_sum += of_left as f64 * (rank + f64::midpoint(size, 1.0));
        ties += size * size * size - size;
        rank += size;
        (at_left, at_right) = (at_left + of_left, at_right + of_right);
    }
    let wins = rank_sum - lefts * (lefts + 1.0) / 2.0;
    let variance = lefts * rights / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let away = ((wins - lefts * rights / 2.0).abs() - 0.5).max(0.0);
    two_sided(away / variance.sqrt())
}

/// The probability that a normal variable is at least `z` away from its mean; by Abramowitz and Stegun 7.1.26, exact to
/// seven digits.
pub(crate) fn two_sided(z: f64) -> f64 {
    let x = z / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let polynomial = terms.iter().fold(0.0, |sum, term| (sum + term) * t);
    (polynomial * (-x * x).exp()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-4, "{a} is not {b}");
    }

    #[test]
    fn fisher_agrees_with_tables() {
        near(more_failures((0, 1), (1, 1)), 0.5);
        near(more_failures((1, 10), (9, 10)), 0.000_546_6);
        near(more_failures((5, 10), (5, 10)), 0.671_859);
        near(more_failures((3, 3), (0, 3)), 1.0);
        near(more_failures((0, 0), (0, 0)), 1.0);
    }

    #[test]
    fn the_u_test_agrees_with_counting_pairs() {
        // By counting pairs, U is 12.5; five ties reduce the variance.
        let a: Vec<f64> = (1..=10).map(f64::from).collect();
        let b: Vec<f64> = (6..=15).map(f64::from).collect();
        near(mann_whitney(&a, &b), 0.005_10);
        near(mann_whitney(&b, &a), 0.005_10);
        near(mann_whitney(&a, &a), 1.0);
        near(mann_whitney(&[5.0; 20], &[5.0; 20]), 1.0);
        near(mann_whitney(&[], &a), 1.0);
    }

    #[test]
    fn the_normal_tail_is_right() {
        near(two_sided(0.0), 1.0);
        near(two_sided(1.959_964), 0.05);
        near(two_sided(40.0), 0.0);
    }
}
