//! Changes to words and letters that a reader still understands.

pub(super) mod affixes;
pub(super) mod languages;
pub(super) mod selective;
pub(super) mod spacing;
pub(super) mod spelling;
