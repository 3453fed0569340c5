//! Attacks, strategies, knowledge about a target, the user's orders, and the processing of findings. Pure: writes
//! attempts and reads evidence; the engine sends and observes. Knows neither suites nor client configurations.

pub mod accepted_findings;
pub mod attack;
pub mod attacks;
pub mod judged;
pub mod knowledge;
pub mod opinion;
pub mod orders;
mod quoted;
pub mod regression;
pub mod strategies;
pub mod suits;
pub mod summary;
