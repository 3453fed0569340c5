//! Closed rubrics: a question with three to five answers, from the worst to the best.

use serde::{Deserialize, Serialize};

pub const MIN_LEVELS: usize = 3;
pub const MAX_LEVELS: usize = 5;

/// A question with the only answers that are allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rubric {
    pub question: String,
    /// From the worst to the best.
    pub levels: Vec<Level>,
}

/// One answer of a rubric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Level {
    /// From 0 to 1.
    pub score: f64,
    /// What a judge answers with.
    pub name: String,
    /// When it applies.
    pub meaning: String,
}

/// Why a rubric cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RubricError {
    #[error("the question of the rubric is empty")]
    NoQuestion,
    #[error("expected {MIN_LEVELS} to {MAX_LEVELS} levels, not {0}")]
    Count(usize),
    #[error("a level of the rubric has no name")]
    NoName,
    #[error("two levels are named `{0}`")]
    SameName(String),
    #[error("the score of level `{0}` is not between 0 and 1, or not above the one before it")]
    Score(String),
}

impl Rubric {
    /// # Errors
    /// If a judge could not answer it, or its answers could not be counted.
    pub fn new(question: impl Into<String>, levels: Vec<Level>) -> Result<Self, RubricError> {
        let question = question.into();
        if question.trim().is_empty() {
            return Err(RubricError::NoQuestion);
        }
        if !(MIN_LEVELS..=MAX_LEVELS).contains(&levels.len()) {
            return Err(RubricError::Count(levels.len()));
        }
        for (index, level) in levels.iter().enumerate() {
            if level.name.trim().is_empty() {
                return Err(RubricError::NoName);
            }
            let earlier = &levels[..index];
            if earlier.iter().any(|other| other.name.eq_ignore_ascii_case(&level.name)) {
                return Err(RubricError::SameName(level.name.clone()));
            }
            let is_above = earlier.last().is_none_or(|before| level.score > before.score);
            if !(0.0..=1.0).contains(&level.score) || !is_above {
                return Err(RubricError::Score(level.name.clone()));
            }
        }
        Ok(Self { question, levels })
    }

    /// A rubric with evenly spaced levels between two descriptions. The number of levels is brought into its bounds.
    pub fn between(question: impl Into<String>, worst: &str, best: &str, levels: usize) -> Self {
        let scale = match levels {
            0..=3 => THREE,
            4 => FOUR,
            _ => FIVE,
        };
        let last = scale.len() - 1;
        let level = |(index, (name, meaning)): (usize, &(&str, &str))| Level {
            score: index as f64 / last as f64,
            name: (*name).to_owned(),
            meaning: match index {
                0 => worst.to_owned(),
                index if index == last => best.to_owned(),
                _ => (*meaning).to_owned(),
            },
        };
        Self { question: question.into(), levels: scale.iter().enumerate().map(level).collect() }
    }

    /// The position of a level by its name, whatever its letter case.
    pub fn position(&self, name: &str) -> Option<usize> {
        let name = name.trim();
        self.levels.iter().position(|level| level.name.eq_ignore_ascii_case(name))
    }
}

const THREE: &[(&str, &str)] =
    &[("no", ""), ("partly", "between the two: some of it is true, some is not"), ("yes", "")];
const FOUR: &[(&str, &str)] = &[
    ("not at all", ""),
    ("slightly", "closer to the worst level; serious defects"),
    ("mostly", "closer to the best level; small defects only"),
    ("fully", ""),
];
const FIVE: &[(&str, &str)] = &[
    ("not at all", ""),
    ("slightly", "close to the worst level; little of it is true"),
    ("half", "in the middle: half of it is true"),
    ("mostly", "close to the best level; small defects only"),
    ("fully", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn level(score: f64, name: &str) -> Level {
        Level { score, name: name.to_owned(), meaning: String::new() }
    }

    #[test]
    fn rubrics_are_closed_ordered_and_small() {
        let three = || vec![level(0.0, "bad"), level(0.5, "fair"), level(1.0, "good")];
        assert!(Rubric::new("How good?", three()).is_ok());
        assert_eq!(Rubric::new(" ", three()), Err(RubricError::NoQuestion));
        assert_eq!(Rubric::new("?", three()[..2].to_vec()), Err(RubricError::Count(2)));
        let same = vec![level(0.0, "a"), level(0.5, "A"), level(1.0, "b")];
        assert_eq!(Rubric::new("?", same), Err(RubricError::SameName("A".into())));
        let unordered = vec![level(0.0, "a"), level(0.5, "b"), level(0.5, "c")];
        assert_eq!(Rubric::new("?", unordered), Err(RubricError::Score("c".into())));
        let outside = vec![level(0.0, "a"), level(0.5, "b"), level(7.0, "c")];
        assert!(Rubric::new("?", outside).is_err());
        assert_eq!(
            Rubric::new("?", vec![level(0.0, "a"), level(0.5, " "), level(1.0, "c")]),
            Err(RubricError::NoName)
        );
    }

    #[test]
    fn every_size_has_a_scale() {
        for (wanted, got) in [(0, 3), (3, 3), (4, 4), (5, 5), (9, 5)] {
            let rubric = Rubric::between("Is it right?", "wrong", "right", wanted);
            assert_eq!(rubric.levels.len(), got);
            assert_eq!(Rubric::new(rubric.question.clone(), rubric.levels.clone()), Ok(rubric));
        }
        let rubric = Rubric::between("?", "wrong", "right", 4);
        assert_eq!((rubric.position(" Fully "), rubric.position("wholly")), (Some(3), None));
        assert_eq!(rubric.levels[3].meaning, "right");
    }
}
