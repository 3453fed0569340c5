//! Calibration: what a score is worth on labelled traces. A fit turns scores into probabilities of success, and
//! cross-validation says how often it is right on traces that it has not seen.

mod file;
mod isotonic;
mod platt;

use serde::{Deserialize, Serialize};

pub use self::file::{CalibrationFile, CalibrationFileError};
use self::isotonic::Steps;
use self::platt::Logistic;
use super::agreement::{Verdict, ece};
use super::resample::Generator;

/// A score with what a person says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelledScore {
    pub score: f64,
    pub is_success: bool,
}

/// How scores become probabilities.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// The one with the smaller error in cross-validation.
    #[default]
    Auto,
    /// Steps that never fall (pool adjacent violators). Needs more labels, assumes nothing else.
    Isotonic,
    /// A logistic curve (Platt). Works with few labels.
    Platt,
}

/// A fit with its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Calibration {
    pub curve: Curve,
    /// Labelled scores.
    pub n: usize,
    pub successes: usize,
    /// The share of right verdicts that can be expected of scores of new traces, by cross-validation.
    pub expected_accuracy: f64,
    /// The expected calibration error of the probabilities, by cross-validation.
    pub ece: f64,
    /// The mean squared error of the probabilities, by cross-validation.
    pub brier: f64,
}

/// A function from scores to probabilities that never falls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "lowercase")]
pub enum Curve {
    Isotonic(Steps),
    Platt(Logistic),
}

/// What a calibration says about one score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Calibrated {
    /// Of success.
    pub probability: f64,
    pub expected_accuracy: f64,
    pub ece: f64,
    pub n: usize,
}

/// Why scores cannot be calibrated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CalibrationError {
    #[error("{0} labelled scores are too few; at least {MIN_LABELS} are needed")]
    TooFew(usize),
    #[error("all labels are the same, so nothing can be learned from them")]
    OneSided,
}

/// Fewer labels say nothing about new traces.
pub const MIN_LABELS: usize = 10;
const FOLDS: usize = 5;
const REPETITIONS: u64 = 20;

impl Curve {
    fn fit(samples: &[LabelledScore], method: Method) -> Self {
        match method {
            Method::Isotonic => Self::Isotonic(Steps::fit(samples)),
            Method::Auto | Method::Platt => Self::Platt(Logistic::fit(samples)),
        }
    }

    /// The probability of success at a score.
    pub fn probability(&self, score: f64) -> f64 {
        let probability = match self {
            Self::Isotonic(steps) => steps.at(score),
            Self::Platt(curve) => curve.at(score),
        };
        if probability.is_finite() { probability.clamp(0.0, 1.0) } else { 0.5 }
    }
}

impl Calibration {
    /// # Errors
    /// If the labels are too few or all the same.
    pub fn fit(samples: &[LabelledScore], method: Method) -> Result<Self, CalibrationError> {
        let n = samples.len();
        let successes = samples.iter().filter(|sample| sample.is_success).count();
        if n < MIN_LABELS {
            return Err(CalibrationError::TooFew(n));
        }
        if successes == 0 || successes == n {
            return Err(CalibrationError::OneSided);
        }
        let methods = match method {
            Method::Auto => vec![Method::Platt, Method::Isotonic],
            one => vec![one],
        };
        let fits = methods.into_iter().map(|method| {
            let figures = validated(samples, method);
            Self {
                curve: Curve::fit(samples, method),
                n,
                successes,
                expected_accuracy: figures.accuracy,
                ece: figures.ece,
                brier: figures.brier,
            }
        });
        let best = fits.min_by(|one, other| one.brier.total_cmp(&other.brier));
        best.ok_or(CalibrationError::TooFew(n))
    }

    pub fn calibrated(&self, score: f64) -> Calibrated {
        Calibrated {
            probability: self.curve.probability(score),
            expected_accuracy: self.expected_accuracy,
            ece: self.ece,
            n: self.n,
        }
    }
}

struct Figures {
    accuracy: f64,
    ece: f64,
    brier: f64,
}

/// Figures on samples that the fit has not seen: stratified folds, repeated with other folds.
fn validated(samples: &[LabelledScore], method: Method) -> Figures {
    let mut sums = Figures { accuracy: 0.0, ece: 0.0, brier: 0.0 };
    for repetition in 0..REPETITIONS {
        let folds = folds(samples, repetition);
        let mut verdicts = Vec::with_capacity(samples.len());
        for fold in 0..FOLDS {
            let of = |is_inside: bool| {
                let pairs = samples.iter().zip(&folds);
                let chosen = pairs.filter(move |(_, at)| (**at == fold) == is_inside);
                chosen.map(|(sample, _)| *sample).collect::<Vec<_>>()
            };
            let curve = Curve::fit(&of(false), method);
            verdicts.extend(of(true).into_iter().map(|sample| {
                let score = curve.probability(sample.score);
                Verdict { label: sample.is_success, success: score >= 0.5, score }
            }));
        }
        let all = verdicts.len() as f64;
        let right = verdicts.iter().filter(|verdict| verdict.is_right()).count();
        let squares = verdicts.iter().map(|verdict| {
            let label = f64::from(u8::from(verdict.label));
            (verdict.score - label).powi(2)
        });
        sums.accuracy += right as f64 / all;
        sums.brier += squares.sum::<f64>() / all;
        sums.ece += ece(&verdicts).unwrap_or_default();
    }
    let count = REPETITIONS as f64;
    Figures { accuracy: sums.accuracy / count, ece: sums.ece / count, brier: sums.brier / count }
}

/// The fold of each sample. Successes and failures are spread evenly.
fn folds(samples: &[LabelledScore], seed: u64) -> Vec<usize> {
    let mut generator = Generator::new(seed + 1);
    let mut folds = vec![0; samples.len()];
    for is_success in [true, false] {
        let mut group: Vec<usize> =
            (0..samples.len()).filter(|at| samples[*at].is_success == is_success).collect();
        for end in (1..group.len()).rev() {
            group.swap(end, generator.below(end + 1));
        }
        let first = generator.below(FOLDS);
        for (position, at) in group.into_iter().enumerate() {
            folds[at] = (position + first) % FOLDS;
        }
    }
    folds
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scores of which the given share are successes.
    fn samples(of: &[(f64, usize, usize)]) -> Vec<LabelledScore> {
        let mut samples = Vec::new();
        for (score, successes, failures) in of {
            let one = |is_success| LabelledScore { score: *score, is_success };
            samples.extend(std::iter::repeat_n(one(true), *successes));
            samples.extend(std::iter::repeat_n(one(false), *failures));
        }
        samples
    }

    #[test]
    fn probabilities_are_the_shares_of_successes() {
        let data = samples(&[(0.0, 2, 18), (0.5, 10, 10), (1.0, 16, 4)]);
        let fit = Calibration::fit(&data, Method::Isotonic).unwrap();
        for (score, share) in [(0.0, 0.1), (0.5, 0.5), (1.0, 0.8), (2.0, 0.8), (-1.0, 0.1)] {
            assert!((fit.curve.probability(score) - share).abs() < 1e-9, "{score}");
        }
        assert_eq!((fit.n, fit.successes), (60, 28));
        assert!(fit.expected_accuracy > 0.65 && fit.expected_accuracy < 0.75, "{fit:?}");
        assert!(fit.ece < 0.2, "{fit:?}");
        let platt = Calibration::fit(&data, Method::Platt).unwrap();
        assert!((platt.curve.probability(0.5) - 0.47).abs() < 0.06, "{platt:?}");
        assert!(platt.curve.probability(0.0) < 0.2 && platt.curve.probability(1.0) > 0.7);
        let auto = Calibration::fit(&data, Method::Auto).unwrap();
        assert!(auto.brier <= fit.brier.min(platt.brier) + 1e-12);
    }

    #[test]
    fn a_useless_score_is_worth_the_baseline() {
        let data = samples(&[(0.1, 14, 6), (0.9, 14, 6)]);
        let fit = Calibration::fit(&data, Method::Auto).unwrap();
        assert!((fit.expected_accuracy - 0.7).abs() < 0.05, "{fit:?}");
        assert!((fit.curve.probability(0.9) - 0.7).abs() < 0.1);
    }

    #[test]
    fn overconfident_scores_become_honest() {
        let data = samples(&[(0.0, 6, 14), (1.0, 14, 6)]);
        let raw: Vec<Verdict> = data
            .iter()
            .map(|one| Verdict {
                label: one.is_success,
                success: one.score >= 0.5,
                score: one.score,
            })
            .collect();
        let fit = Calibration::fit(&data, Method::Platt).unwrap();
        assert!(ece(&raw).unwrap() > 0.25 && fit.ece < 0.15, "{fit:?}");
    }

    #[test]
    fn few_or_equal_labels_teach_nothing() {
        let few = samples(&[(0.5, 4, 4)]);
        assert_eq!(Calibration::fit(&few, Method::Auto), Err(CalibrationError::TooFew(8)));
        let same = samples(&[(0.5, 20, 0)]);
        assert_eq!(Calibration::fit(&same, Method::Auto), Err(CalibrationError::OneSided));
    }

    #[test]
    fn fits_are_repeatable_and_survive_their_file() {
        let data = samples(&[(0.0, 1, 9), (0.3, 4, 6), (0.8, 8, 2), (1.0, 9, 1)]);
        for method in [Method::Isotonic, Method::Platt] {
            let fit = Calibration::fit(&data, method).unwrap();
            assert_eq!(Calibration::fit(&data, method).unwrap(), fit);
            let text = serde_json::to_string(&fit).unwrap();
            let back: Calibration = serde_json::from_str(&text).unwrap();
            for score in [0.0, 0.2, 0.5, 1.0] {
                let (one, other) = (back.curve.probability(score), fit.curve.probability(score));
                assert!((one - other).abs() < 1e-9);
            }
        }
    }
}
