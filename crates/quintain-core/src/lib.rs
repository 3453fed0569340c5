//! The domain of Quintain: suites, surfaces, evidence. Pure and synchronous; no network, no clock,
//! no environment. Whatever comes from a target is hostile and never makes this crate panic.

pub mod arguments;
pub mod evidence;
pub mod suite;
pub mod surface;
pub mod tool_call;
