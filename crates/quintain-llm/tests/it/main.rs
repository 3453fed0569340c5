//! Tests against scripted servers on loopback, over real sockets. What is about time uses a network in memory and a
//! paused clock.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod abilities;
mod anthropic;
mod cache;
mod every_dialect;
mod gemini;
mod memory;
mod models;
mod ollama;
mod openai;
mod responses;
mod server;
mod streams;
mod structured;
mod web;
