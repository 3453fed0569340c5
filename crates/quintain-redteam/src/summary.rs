//! What a report sums up: coverage of frameworks, risk, what the target gave away, and
//! findings that say the same of several places.

mod coverage;
mod insight;
mod merge;
mod risk;

pub use coverage::{described, summed_up};
pub use insight::insight;
pub use merge::merge as merge_places;
pub use risk::{interval, risk};
