//! The tools, called in process through a host that answers as a test needs.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod hostile;
mod journey;
mod plain_data;
mod registry;
mod resources;
mod support;
