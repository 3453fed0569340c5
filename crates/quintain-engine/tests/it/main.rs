//! Sessions and jobs in one process: what a single invocation of the binary cannot show.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod jobs;
mod oauth;
mod policy;
mod reconnection;
mod several;
mod support;
mod test_cases;
