//! Tests the demo with plain JSON, over a pipe and over HTTP.

#![expect(clippy::unwrap_used, reason = "a helper that fails should fail the test")]

mod auth;
mod client;
mod http;
mod oauth;
mod protocol;
mod sse;
mod test_cases;
mod tools;
mod weaknesses;
