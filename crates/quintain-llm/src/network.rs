//! How requests leave. The caller implements [`Network`] with its policy; this crate opens no socket and starts no
//! process.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use http::{HeaderMap, Method};
use quintain_content::secret;
use serde_json::Value;
use url::Url;

/// An HTTP request. `Debug` shows neither credentials in the URL nor headers with keys, which are marked as sensitive.
#[derive(Clone)]
pub struct HttpRequest {
    pub method: Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub body: Option<Bytes>,
}

impl std::fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &secret::shown_url(self.url.as_str()))
            .field("headers", &self.headers)
            .field("body", &self.body)
            .finish()
    }
}

/// An HTTP response whose body is still to be read.
#[derive(Debug)]
pub struct HttpReply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: BodyStream,
}

/// The body of a response, in chunks.
pub struct BodyStream(BoxStream<'static, Result<Bytes, NetworkError>>);

impl BodyStream {
    pub fn new(chunks: impl Stream<Item = Result<Bytes, NetworkError>> + Send + 'static) -> Self {
        Self(chunks.boxed())
    }

    /// A body that is already complete.
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self::new(stream::once(async move { Ok(bytes) }))
    }

    pub async fn next(&mut self) -> Option<Result<Bytes, NetworkError>> {
        self.0.next().await
    }
}

impl std::fmt::Debug for BodyStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BodyStream")
    }
}

/// A program to run.
#[derive(Debug, Clone)]
pub struct CommandRequest {
    pub program: String,
    pub args: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub stdin: Option<Bytes>,
}

#[derive(Debug, Clone)]
pub struct CommandOutput {
    /// Absent if a signal ended the program.
    pub code: Option<i32>,
    pub stdout: Bytes,
    pub stderr: Bytes,
}

#[derive(Debug, Clone, thiserror::Error)]
pub enum NetworkError {
    #[error("{0}")]
    Unreachable(String),
    /// The policy forbids it; nothing was sent or started.
    #[error("{0}")]
    NotAllowed(String),
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The connection failed in the middle of the answer.
    #[error("{0}")]
    Broken(String),
    #[error("{0}")]
    Unsupported(String),
}

/// Carries requests of models. Implementations check the policy of the run.
pub trait Network: Send + Sync {
    /// Sends a request and returns as soon as the response starts. `deadline` limits the time until then; the caller
    /// limits the time and the size of the body.
    fn send(
        &self,
        request: HttpRequest,
        deadline: Duration,
    ) -> BoxFuture<'_, Result<HttpReply, NetworkError>>;

    /// Runs a program to its end.
    fn run(
        &self,
        command: CommandRequest,
        deadline: Duration,
    ) -> BoxFuture<'_, Result<CommandOutput, NetworkError>> {
        let _ = (command, deadline);
        let why = "programs cannot be run here".to_owned();
        async { Err(NetworkError::Unsupported(why)) }.boxed()
    }

    /// Asks the model of a connected client (`sampling/createMessage`): its parameters, and its result.
    fn sample(
        &self,
        params: Value,
        deadline: Duration,
    ) -> BoxFuture<'_, Result<Value, NetworkError>> {
        let _ = (params, deadline);
        let why = "no client that offers sampling is connected".to_owned();
        async { Err(NetworkError::Unsupported(why)) }.boxed()
    }
}
