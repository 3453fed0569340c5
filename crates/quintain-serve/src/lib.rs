//! Quintain as an MCP server: tools, prompts and resources over stdio, streamable HTTP and HTTP+SSE. A tool call that runs
//! something is a request to the jobs of the engine; nothing here sends a probe itself.

pub mod arguments;
pub mod audit;
pub mod auth;
pub mod catalogue;
pub mod counters;
pub mod datasets;
pub mod error;
pub mod fixtures;
pub mod host;
pub mod http;
pub mod peer;
pub mod platform;
pub mod principal;
pub mod prompt;
pub mod prompts;
pub mod random;
mod rate;
pub mod resource;
pub mod resources;
pub mod server;
pub mod settings;
pub mod tool;
pub mod tools;
pub mod updates;
