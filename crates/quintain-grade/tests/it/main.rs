//! Tests against external data: recorded scores of deepeval, and traces with labels of people.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![allow(clippy::print_stdout, reason = "the figures are part of the test")]

mod agreement;
mod deepeval;
mod judged;
