//! Isotonic regression: the nearest function that never falls, by pooling adjacent violators.

use serde::{Deserialize, Serialize};

use super::LabelledScore;

/// Points of a function that never falls; between them it is linear, and beyond them constant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// Score and probability, by rising score.
    points: Vec<(f64, f64)>,
}

/// Neighbouring scores with the same probability.
struct Block {
    low: f64,
    high: f64,
    successes: f64,
    count: f64,
}

impl Block {
    fn share(&self) -> f64 {
        self.successes / self.count
    }
}

impl Steps {
    pub(super) fn fit(samples: &[LabelledScore]) -> Self {
        let mut sorted: Vec<&LabelledScore> = samples.iter().collect();
        sorted.sort_by(|one, other| one.score.total_cmp(&other.score));
        let mut blocks: Vec<Block> = Vec::new();
        for same in sorted.chunk_by(|one, other| one.score.total_cmp(&other.score).is_eq()) {
            let successes = same.iter().filter(|sample| sample.is_success).count() as f64;
            let score = same[0].score;
            let mut block = Block { low: score, high: score, successes, count: same.len() as f64 };
            while let Some(before) = blocks.pop_if(|before| before.share() >= block.share()) {
                block = Block {
                    low: before.low,
                    high: block.high,
                    successes: before.successes + block.successes,
                    count: before.count + block.count,
                };
            }
            blocks.push(block);
        }
        let mut points = Vec::new();
        for block in &blocks {
            points.push((block.low, block.share()));
            if block.high > block.low {
                points.push((block.high, block.share()));
            }
        }
        Self { points }
    }

    pub(super) fn at(&self, score: f64) -> f64 {
        let above = self.points.iter().position(|(known, _)| *known >= score);
        match above {
            Some(0) => self.points[0].1,
            Some(above) => {
                let ((low, from), (high, to)) = (self.points[above - 1], self.points[above]);
                let share = if high > low { (score - low) / (high - low) } else { 1.0 };
                from + share * (to - from)
            }
            None => self.points.last().map_or(0.5, |(_, probability)| *probability),
        }
    }

    /// Whether the points are as a fit leaves them.
    pub(super) fn is_valid(&self) -> bool {
        let rises =
            self.points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        rises
            && !self.points.is_empty()
            && self.points.iter().all(|(score, p)| score.is_finite() && (0.0..=1.0).contains(p))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_never_falls_and_keeps_the_mean(
            data in proptest::collection::vec((0_u8..=10, any::<bool>()), 1..60)
        ) {
            let samples: Vec<LabelledScore> = data
                .iter()
                .map(|(score, is_success)| LabelledScore { score: f64::from(*score) / 10.0, is_success: *is_success })
                .collect();
            let steps = Steps::fit(&samples);
            prop_assert!(steps.is_valid());
            let values: Vec<f64> = (0..=100).map(|at| steps.at(f64::from(at) / 100.0)).collect();
            prop_assert!(values.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12));
            let mean: f64 = samples.iter().map(|sample| steps.at(sample.score)).sum();
            let successes = samples.iter().filter(|sample| sample.is_success).count() as f64;
            prop_assert!((mean - successes).abs() < 1e-6);
        }
    }
}
