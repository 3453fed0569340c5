//! The domain of Quintain: suites, surfaces, evidence. Pure and synchronous; no network, no clock,
//! no environment. Whatever comes from a target is hostile and never makes this crate panic.

pub mod answer;
pub mod assertions;
pub mod attack;
pub mod attacks;
pub mod chance;
pub mod check;
pub mod clients;
pub mod code;
pub mod compare;
pub mod derived_metrics;
pub mod effects;
pub mod formula;
pub mod golden;
pub mod grade;
pub mod knowledge;
pub mod launch_checks;
pub mod masks;
pub mod plan;
pub mod prepare;
pub mod redteam;
pub mod rug_pull;
pub mod static_finding;
pub mod strategies;
pub mod suite;
pub mod trace;
