//! Random changes that depend on the seed.

pub(super) mod best_of_n;
pub(super) mod characters;
pub(super) mod gcg;
pub(super) mod terminal;
