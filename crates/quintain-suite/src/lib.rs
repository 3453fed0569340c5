//! Suites, plans, checks and assertions. Pure and synchronous: no network, no clock, no environment. Whatever comes
//! from a target is hostile and never makes this crate panic.

pub mod assertions;
pub mod check;
pub mod code;
pub mod compare;
pub mod demands;
pub mod derived_metrics;
pub mod effects;
pub mod formula;
pub mod masks;
pub mod plan;
pub mod prepare;
pub mod promptfoo_spans;
pub mod scoring;
pub mod snapshot;
pub mod suite;
pub mod views;
