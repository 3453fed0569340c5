//! Texts and how they are compared: pure functions over strings, for assertions to judge with.

pub mod bleu;
pub mod fence;
pub mod fields;
pub mod javascript_json;
mod javascript_number;
pub mod js;
pub mod levenshtein;
pub mod meteor;
pub mod ngrams;
pub mod porter;
pub mod refusal;
pub mod rouge;
pub mod short;
pub mod tokens;
pub mod treebank;
