//! Language models: providers, retries, rate limits, cache and prices. Knows nothing of suites, tests or MCP.
//!
//! This crate opens no socket and starts no process: requests leave through [`network::Network`], which the caller
//! implements with its policy. Environment variables and files come through [`environment::Environment`].

pub mod cache;
pub mod chat;
pub mod completion;
pub mod config;
pub mod conversation;
mod dialects;
pub mod environment;
pub mod error;
mod exchange;
mod hosted;
mod known_options;
pub mod limits;
pub mod measures;
pub mod model;
pub mod models;
pub mod network;
pub mod prices;
pub mod providers;
mod retry;
mod scrub;
pub mod spec;
mod sse;
pub mod structured;
mod throttle;

pub use cache::CacheOptions;
pub use chat::{ChatRequest, JsonSchema, Prompt};
pub use completion::{Completion, Output, RawExchange, ToolCallRequest, Usage};
pub use config::ConfigError;
pub use environment::Environment;
pub use error::ModelError;
pub use known_options::{UnknownOption, unknown_options};
pub use limits::Limits;
pub use measures::{Category, Classification, Embeddings, Moderation, Similarity};
pub use model::Model;
pub use models::{Asked, Handle, Models, ModelsOptions};
pub use network::{
    BodyStream, CommandOutput, CommandRequest, HttpReply, HttpRequest, Network, NetworkError,
};
pub use prices::{Price, PriceTable, Pricing};
pub use providers::{ALL, Provider, find};
pub use retry::retry_after;
pub use spec::{ModelSpec, SpecError};
pub use structured::{JsonAnswer, json_in};
