//! What models measure: embeddings, moderation, classification, similarity.

use serde::{Deserialize, Serialize};

use crate::completion::{RawExchange, Usage};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Embeddings {
    /// One vector for each text, in their order.
    pub vectors: Vec<Vec<f64>>,
    pub usage: Usage,
    pub cost: Option<f64>,
    pub raw: RawExchange,
    #[serde(default)]
    pub cached: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Moderation {
    pub flagged: bool,
    pub categories: Vec<Category>,
    pub raw: RawExchange,
    #[serde(default)]
    pub cached: bool,
}

/// What a moderation model says about one category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Category {
    pub name: String,
    pub flagged: bool,
    pub score: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classification {
    /// Labels and their scores, the highest first.
    pub scores: Vec<(String, f64)>,
    pub raw: RawExchange,
    #[serde(default)]
    pub cached: bool,
}

impl Classification {
    pub fn score(&self, label: &str) -> Option<f64> {
        self.scores.iter().find(|(name, _)| name == label).map(|(_, score)| *score)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Similarity {
    /// One score for each sentence, in their order.
    pub scores: Vec<f64>,
    pub raw: RawExchange,
    #[serde(default)]
    pub cached: bool,
}
