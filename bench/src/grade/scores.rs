//! The scores of both tools by the name of the case, and whether they are the same.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::bed::read;
use crate::Failure;

/// Sums of fractions may differ in the last bits.
const TOLERANCE: f64 = 1e-12;

pub struct Scores(BTreeMap<String, f64>);

impl Scores {
    /// A list of names and scores, as the script writes it.
    pub fn of_deepeval(file: &Path) -> Result<Self, Failure> {
        let document = read(file)?;
        let rows = document.as_array().map(Vec::as_slice).unwrap_or_default();
        Self::of(rows.iter().map(|row| (&row[0], &row[1])))
    }

    /// The report of `quintain grade` with one metric.
    pub fn of_quintain(file: &Path) -> Result<Self, Failure> {
        let document = read(file)?;
        let rows = document["results"].as_array().map(Vec::as_slice).unwrap_or_default();
        Self::of(rows.iter().map(|row| (&row["name"], &row["metrics"][0]["score"])))
    }

    fn of<'a>(rows: impl Iterator<Item = (&'a Value, &'a Value)>) -> Result<Self, Failure> {
        let mut scores = BTreeMap::new();
        for (name, score) in rows {
            let (Some(name), Some(score)) = (name.as_str(), score.as_f64()) else {
                return Err(format!("{name} has no score: {score}").into());
            };
            if scores.insert(name.to_owned(), score).is_some() {
                return Err(format!("{name} has two scores").into());
            }
        }
        Ok(Self(scores))
    }

    /// Fails at any difference from the scores of deepeval.
    pub fn compare(&self, peer: &Self, count: usize, mode: &str) -> Result<(), Failure> {
        for (whose, scores) in [("quintain", self), ("deepeval", peer)] {
            if scores.0.len() != count {
                let found = scores.0.len();
                return Err(format!("{whose} scored {found} of {count} cases ({mode})").into());
            }
        }
        for (name, score) in &self.0 {
            let other = peer.0.get(name);
            if !other.is_some_and(|other| (other - score).abs() <= TOLERANCE) {
                let what = format!("{name} ({mode}): quintain scores {score}, deepeval {other:?}");
                return Err(what.into());
            }
        }
        Ok(())
    }

    /// The number of different scores: few of them would prove little.
    pub fn distinct(&self) -> usize {
        let mut all: Vec<f64> = self.0.values().copied().collect();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        all.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(pairs: &[(&str, f64)]) -> Scores {
        Scores(pairs.iter().map(|(name, score)| ((*name).to_owned(), *score)).collect())
    }

    #[test]
    fn a_difference_a_missing_case_and_another_name_fail_the_benchmark() {
        let ours = scores(&[("a", 1.0), ("b", 0.5)]);
        assert!(ours.compare(&scores(&[("a", 1.0), ("b", 0.5)]), 2, "params").is_ok());
        assert!(ours.compare(&scores(&[("a", 1.0), ("b", 0.4)]), 2, "params").is_err());
        assert!(ours.compare(&scores(&[("a", 1.0), ("c", 0.5)]), 2, "params").is_err());
        assert!(ours.compare(&scores(&[("a", 1.0)]), 2, "params").is_err());
    }
}
