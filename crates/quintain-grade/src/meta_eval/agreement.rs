//! Figures of agreement between verdicts and labels. Failures are the class that matters: they are what a verdict is for.

use serde::Serialize;

use super::resample;

/// A verdict of a metric on a labelled trace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// What a person says.
    pub label: bool,
    /// What the metric says.
    pub success: bool,
    pub score: f64,
}

impl Verdict {
    pub fn is_right(&self) -> bool {
        self.label == self.success
    }
}

/// How well verdicts agree with labels. Figures that are undefined are null, such as the precision of no failures.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreement {
    pub n: usize,
    pub accuracy: Option<f64>,
    /// Cohen's kappa: 0 is chance, 1 is perfect.
    pub kappa: Option<f64>,
    /// 95 %, by resampling.
    pub kappa_ci: Option<(f64, f64)>,
    /// Matthews correlation coefficient.
    pub mcc: Option<f64>,
    pub failure_precision: Option<f64>,
    pub failure_recall: Option<f64>,
    /// The probability that a successful trace scores higher than a failed one.
    pub auc: Option<f64>,
    /// The mean distance between score and share of successes, over ten bins of scores.
    pub ece: Option<f64>,
}

/// Counts of verdicts by label, for failures: found, missed, false alarms, right passes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Table {
    found: f64,
    missed: f64,
    false_alarms: f64,
    passes: f64,
}

impl Table {
    fn of(verdicts: impl Iterator<Item = Verdict>) -> Self {
        let mut table = Self::default();
        for verdict in verdicts {
            let cell = match (verdict.label, verdict.success) {
                (false, false) => &mut table.found,
                (false, true) => &mut table.missed,
                (true, false) => &mut table.false_alarms,
                (true, true) => &mut table.passes,
            };
            *cell += 1.0;
        }
        table
    }

    fn kappa(&self) -> Option<f64> {
        let n = self.found + self.missed + self.false_alarms + self.passes;
        let observed = (self.found + self.passes) / n;
        let failures = (self.found + self.missed) / n * (self.found + self.false_alarms) / n;
        let successes = (self.passes + self.false_alarms) / n * (self.passes + self.missed) / n;
        let chance = failures + successes;
        // If labels and verdicts are all the same, agreement says nothing.
        ratio(observed - chance, 1.0 - chance)
    }

    fn mcc(&self) -> Option<f64> {
        let Self { found, missed, false_alarms, passes } = *self;
        let product =
            (found + false_alarms) * (found + missed) * (passes + false_alarms) * (passes + missed);
        ratio(found * passes - false_alarms * missed, product.sqrt())
    }
}

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 1e-12).then(|| part / whole)
}

impl Agreement {
    pub fn of(verdicts: &[Verdict]) -> Self {
        let table = Table::of(verdicts.iter().copied());
        let n = verdicts.len();
        let right = table.found + table.passes;
        Self {
            n,
            accuracy: ratio(right, n as f64),
            kappa: if n == 0 { None } else { table.kappa() },
            kappa_ci: resample::interval(n, |drawn| {
                Table::of(drawn.iter().map(|index| verdicts[*index])).kappa()
            }),
            mcc: table.mcc(),
            failure_precision: ratio(table.found, table.found + table.false_alarms),
            failure_recall: ratio(table.found, table.found + table.missed),
            auc: auc(verdicts),
            ece: ece(verdicts),
        }
    }
}

/// By ranks; equal scores share the mean of theirs.
fn auc(verdicts: &[Verdict]) -> Option<f64> {
    let mut sorted: Vec<&Verdict> = verdicts.iter().collect();
    sorted.sort_by(|one, other| one.score.total_cmp(&other.score));
    let (mut rank, mut sum, mut successes) = (0.0, 0.0, 0.0);
    for same in sorted.chunk_by(|one, other| one.score.total_cmp(&other.score).is_eq()) {
        let size = same.len() as f64;
        let here = same.iter().filter(|verdict| verdict.label).count() as f64;
        sum += here * (rank + f64::midpoint(size, 1.0));
        successes += here;
        rank += size;
    }
    let failures = verdicts.len() as f64 - successes;
    ratio(sum - successes * (successes + 1.0) / 2.0, successes * failures)
}

pub(super) fn ece(verdicts: &[Verdict]) -> Option<f64> {
    const BINS: usize = 10;
    let mut bins = [(0.0, 0.0, 0.0); BINS];
    for verdict in verdicts {
        let bin = ((verdict.score * BINS as f64) as usize).min(BINS - 1);
        bins[bin].0 += 1.0;
        bins[bin].1 += verdict.score;
        bins[bin].2 += f64::from(u8::from(verdict.label));
    }
    // Counts cancel out: what remains of each bin is the distance of its sums.
    let distance: f64 = bins.iter().map(|(_, scores, successes)| (scores - successes).abs()).sum();
    ratio(distance, verdicts.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts(found: usize, missed: usize, false_alarms: usize, passes: usize) -> Vec<Verdict> {
        let make = |count: usize, label: bool, success: bool| {
            let score = if success { 0.9 } else { 0.1 };
            std::iter::repeat_n(Verdict { label, success, score }, count)
        };
        make(found, false, false)
            .chain(make(missed, false, true))
            .chain(make(false_alarms, true, false))
            .chain(make(passes, true, true))
            .collect()
    }

    fn near(one: Option<f64>, other: f64) {
        assert!(one.is_some_and(|one| (one - other).abs() < 1e-6), "{one:?} is not {other}");
    }

    #[test]
    fn figures_agree_with_a_hand_made_table() {
        // 20 found, 5 missed, 10 false alarms, 15 right passes.
        let found = Agreement::of(&verdicts(20, 5, 10, 15));
        near(found.accuracy, 0.7);
        near(found.kappa, 0.4);
        near(found.mcc, 0.408_248_29);
        near(found.failure_precision, 2.0 / 3.0);
        near(found.failure_recall, 0.8);
        near(found.auc, 0.7);
        let (low, high) = found.kappa_ci.unwrap();
        assert!(low < 0.4 && 0.4 < high && low > 0.05 && high < 0.7, "{low} {high}");
    }

    #[test]
    fn one_sided_verdicts_are_no_agreement() {
        let always = Agreement::of(&verdicts(0, 12, 0, 38));
        near(always.kappa, 0.0);
        assert_eq!((always.mcc, always.failure_precision), (None, None));
        near(always.failure_recall, 0.0);
        near(always.auc, 0.5);
        let all_same = Agreement::of(&verdicts(0, 0, 0, 5));
        assert_eq!((all_same.kappa, all_same.auc), (None, None));
        assert_eq!(Agreement::of(&[]).accuracy, None);
    }

    #[test]
    fn calibration_is_the_distance_to_shares() {
        let at = |score: f64, label: bool| Verdict { label, success: score >= 0.5, score };
        near(ece(&[at(0.5, true), at(0.5, false)]), 0.0);
        near(ece(&[at(1.0, false), at(0.0, true)]), 1.0);
        near(ece(&[at(0.9, true), at(0.9, true)]), 0.1);
    }

    #[test]
    fn ranks_count_ties_as_halves() {
        let at = |score: f64, label: bool| Verdict { label, success: true, score };
        near(auc(&[at(0.9, true), at(0.5, true), at(0.5, false), at(0.1, false)]), 0.875);
    }
}
