//! Attacks, strategies, what is known of a target, what the user orders, and what becomes of findings. Pure: it writes
//! attempts and reads evidence; the engine sends and watches. Knows neither suites nor client configurations.

pub mod attack;
pub mod attacks;
pub mod baseline;
pub mod knowledge;
pub mod orders;
pub mod regression;
pub mod strategies;
pub mod summary;
