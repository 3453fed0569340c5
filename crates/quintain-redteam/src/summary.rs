//! The summary in a report: framework coverage, risk, what the target disclosed, and findings merged across places.

mod coverage;
mod insight;
mod merge;
mod risk;

pub use coverage::{described, summed_up};
pub use insight::insight;
pub use merge::merge as merge_places;
pub use risk::{interval, risk};
