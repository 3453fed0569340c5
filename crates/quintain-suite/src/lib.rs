//! Suites, plans, checks and assertions. Pure and synchronous: no network, no clock, no environment. Data from a
//! target is hostile and must never make this crate panic.

pub mod assertions;
pub mod check;
pub mod code;
pub mod compare;
pub mod demands;
pub mod derived_metrics;
pub mod effects;
pub mod files;
pub mod masks;
pub mod metric_expression;
pub mod plan;
pub mod prepare;
pub mod promptfoo_spans;
pub mod purpose;
mod rubric_prompt;
mod run_code;
pub mod scoring;
pub mod snapshot;
mod step_templates;
pub mod suite;
pub mod target;
#[cfg(test)]
mod testing;
pub mod views;
