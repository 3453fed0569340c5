//! Attacks, strategies, what is known of a target, and what the user orders. Pure: it writes attempts and reads
//! evidence; the engine sends and watches. Knows neither suites nor client configurations.

pub mod attack;
pub mod attacks;
pub mod knowledge;
pub mod orders;
pub mod strategies;
