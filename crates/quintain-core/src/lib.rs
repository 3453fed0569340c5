//! The domain of Quintain: suites, surfaces, evidence. Pure and synchronous; no network, no clock,
//! no environment. Whatever comes from a target is hostile and never makes this crate panic.

pub mod arguments;
pub mod assertions;
pub mod check;
pub mod code;
pub mod diff;
pub mod event;
pub mod evidence;
pub mod probe;
pub mod question;
pub mod registry;
pub mod response;
pub mod result;
pub mod suite;
pub mod surface;
pub mod tally;
pub mod tool_call;
pub mod verdict;
