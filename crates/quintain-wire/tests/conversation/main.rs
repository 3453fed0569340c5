//! Sessions: deadlines, cancellation, requests of the server, rounds of input, pages, faults.
//!
//! The target is a script in this process, so that every byte of a message can be chosen.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod deadlines;
mod faults;
mod listing;
mod oversized;
mod questions;
mod script;
mod skill_files;
#[path = "../../examples/conformance-client/skills/mod.rs"]
mod skills;
mod tasks;
