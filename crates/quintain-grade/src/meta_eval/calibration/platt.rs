//! Platt scaling: a logistic curve through scores, with targets that are softened for few labels.

use serde::{Deserialize, Serialize};

use super::LabelledScore;

/// `1 / (1 + exp(-(slope * score + intercept)))`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Logistic {
    slope: f64,
    intercept: f64,
}

const ITERATIONS: usize = 100;

impl Logistic {
    /// Newton's method with halved steps, as Lin, Lin and Weng describe it (2007).
    pub(super) fn fit(samples: &[LabelledScore]) -> Self {
        let positives = samples.iter().filter(|sample| sample.is_success).count() as f64;
        let negatives = samples.len() as f64 - positives;
        let (high, low) = ((positives + 1.0) / (positives + 2.0), 1.0 / (negatives + 2.0));
        let target = |sample: &LabelledScore| if sample.is_success { high } else { low };
        let mut curve =
            Self { slope: 0.0, intercept: ((positives + 1.0) / (negatives + 1.0)).ln() };
        let loss = |curve: &Self| -> f64 {
            samples.iter().map(|sample| curve.loss(sample.score, target(sample))).sum()
        };
        let mut value = loss(&curve);
        for _ in 0..ITERATIONS {
            let (mut g1, mut g2, mut h11, mut h22, mut h21) = (0.0, 0.0, 1e-12, 1e-12, 0.0);
            for sample in samples {
                let p = curve.at(sample.score);
                let (distance, weight) = (p - target(sample), p * (1.0 - p));
                g1 += sample.score * distance;
                g2 += distance;
                h11 += sample.score * sample.score * weight;
                h22 += weight;
                h21 += sample.score * weight;
            }
            if g1.abs() < 1e-7 && g2.abs() < 1e-7 {
                break;
            }
            let determinant = h11 * h22 - h21 * h21;
            if determinant.abs() < 1e-15 {
                break;
            }
            let (d1, d2) =
                (-(h22 * g1 - h21 * g2) / determinant, -(h11 * g2 - h21 * g1) / determinant);
            let mut step = 1.0;
            let improved = loop {
                let next =
                    Self { slope: curve.slope + step * d1, intercept: curve.intercept + step * d2 };
                let found = loss(&next);
                if found < value {
                    (curve, value) = (next, found);
                    break true;
                }
                step /= 2.0;
                if step < 1e-10 {
                    break false;
                }
            };
            if !improved {
                break;
            }
        }
        // A score that falls with success says nothing; a judge is not read against its meaning.
        if curve.slope < 0.0 {
            return Self { slope: 0.0, intercept: ((positives + 1.0) / (negatives + 1.0)).ln() };
        }
        curve
    }

    pub(super) fn at(self, score: f64) -> f64 {
        1.0 / (1.0 + (-(self.slope * score + self.intercept)).exp())
    }

    /// Cross entropy, in a form that does not overflow.
    fn loss(self, score: f64, target: f64) -> f64 {
        let z = self.slope * score + self.intercept;
        if z >= 0.0 {
            (1.0 - target) * z + (-z).exp().ln_1p()
        } else {
            z.exp().ln_1p() - target * z
        }
    }

    pub(super) fn is_valid(self) -> bool {
        self.slope.is_finite() && self.intercept.is_finite() && self.slope >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_the_known_optimum() {
        // Four failures below and four successes above, one of each on the other side.
        let at = |score: f64, is_success: bool| LabelledScore { score, is_success };
        let samples = [
            at(0.1, false),
            at(0.2, false),
            at(0.3, false),
            at(0.4, true),
            at(0.6, false),
            at(0.7, true),
            at(0.8, true),
            at(0.9, true),
        ];
        let curve = Logistic::fit(&samples);
        // Symmetric about one half.
        assert!((curve.at(0.5) - 0.5).abs() < 1e-6, "{curve:?}");
        assert!(curve.at(0.9) > 0.75 && (curve.at(0.9) + curve.at(0.1) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn separable_and_inverted_scores_do_no_harm() {
        let at = |score: f64, is_success: bool| LabelledScore { score, is_success };
        let clear: Vec<LabelledScore> = (0..20).map(|i| at(f64::from(i) / 20.0, i >= 10)).collect();
        let curve = Logistic::fit(&clear);
        assert!(curve.is_valid() && curve.at(1.0) > 0.9 && curve.at(0.0) < 0.1);
        let inverted: Vec<LabelledScore> =
            (0..20).map(|i| at(f64::from(i) / 20.0, i < 10)).collect();
        let curve = Logistic::fit(&inverted);
        assert!((curve.at(0.0) - 0.5).abs() < 1e-9 && (curve.at(1.0) - 0.5).abs() < 1e-9);
    }
}
