//! What the application at the other end of a connection offers while a tool runs: progress, questions to its user, its
//! own model. Tools use this interface; the server implements it for each protocol era.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use quintain_engine::Sampler;
use serde_json::Value;

/// The client of one request.
pub trait Host: Send + Sync {
    /// Shows how far a long call is. Ignored where the client did not ask for progress.
    fn progress(&self, progress: Progress) -> BoxFuture<'_, ()>;

    /// Resolves when the client cancels the request or the server ends.
    fn cancelled(&self) -> BoxFuture<'_, ()>;

    /// Asks the user. `None` if the client cannot ask.
    fn elicit(&self, question: Question) -> BoxFuture<'_, Option<Decision>>;

    /// Asks the client's own model. `None` if the client offers none.
    fn sample(&self, request: SamplingRequest) -> BoxFuture<'_, Option<Result<Value, String>>>;

    /// The client's own model for a run, which may last longer than the call. `None` if the client offers none.
    fn sampler(&self) -> Option<Arc<dyn Sampler>> {
        None
    }

    /// Whether the client offers its own model.
    fn offers_sampling(&self) -> bool;

    /// Whether the client follows the call as a task, so that it may take as long as the work does.
    fn is_task(&self) -> bool {
        false
    }

    /// Announces that a resource changed, to the clients that subscribed to it.
    fn resource_updated(&self, uri: String) -> BoxFuture<'_, ()>;
}

/// How far a call is.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    pub done: f64,
    pub total: Option<f64>,
    pub message: String,
}

/// A question for the user: whether to do something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub message: String,
}

/// The user's answer to a [`Question`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Accepted,
    Declined,
}

/// A request to the client's model.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingRequest {
    /// `role` and `content` of each message, as in the protocol.
    pub messages: Value,
    pub system_prompt: Option<String>,
    pub max_tokens: u32,
    pub temperature: Option<f64>,
}
