//! Attacks, strategies, knowledge about a target, the user's orders, and the processing of findings. Pure: writes
//! attempts and reads evidence; the engine sends and observes. Knows neither suites nor client configurations.

pub mod accepted_findings;
pub mod attack;
pub mod attacks;
pub mod knowledge;
pub mod orders;
pub mod regression;
pub mod strategies;
pub mod summary;
