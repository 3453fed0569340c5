//! A recording proxy and a replaying server. The proxy runs in front of an MCP server, passes every byte on unchanged, and
//! writes a capture: one JSON line per frame. The replaying server answers from a capture.
//!
//! Knows nothing of tests, and of secrets only what it is given ([`SecretRules`]).

mod capture;
mod file;
pub mod http;
mod json_text;
mod mask;
pub mod replay;
mod signals;
pub mod stdio;

pub use capture::{Batch, Capture, FrameMeta, Side, Totals, Via};
pub use file::{OpenError, open};
pub use mask::{Masking, SecretRules};
pub use signals::survive_file_limit;

/// Longest frame that is recorded whole.
pub const MAX_FRAME: usize = 64 << 20;
/// Recorded part of a longer frame.
const HEAD_OF_LONG_FRAME: usize = 64 << 10;
