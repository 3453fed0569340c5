//! Carries the requests of models: through the HTTP client of the run, which checks its policy.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_llm::{BodyStream, Environment, HttpReply, HttpRequest, Network, NetworkError};
use quintain_suite::suite::Files;
use quintain_wire::net;
use serde_json::Value;

use crate::files::{Disk, allowed};
use crate::web::{Request, Web, WebError};
use crate::world::{Sampler, World};

/// The HTTP client of the run, for models, and the model of a connected client.
pub(super) struct ModelNetwork {
    pub(super) web: Arc<Web>,
    pub(super) sampler: Option<Arc<dyn Sampler>>,
}

impl Network for ModelNetwork {
    fn send(
        &self,
        request: HttpRequest,
        deadline: Duration,
    ) -> BoxFuture<'_, Result<HttpReply, NetworkError>> {
        async move {
            let HttpRequest { method, url, headers, body } = request;
            let request = Request { method, url, headers, body };
            let response = self.web.begin(request, deadline).await.map_err(network_error)?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let chunks = response.bytes_stream().map(|chunk| {
                chunk.map_err(|error| NetworkError::Broken(net::chain(&error.without_url())))
            });
            Ok(HttpReply { status, headers, body: BodyStream::new(chunks) })
        }
        .boxed()
    }

    fn sample(
        &self,
        params: Value,
        deadline: Duration,
    ) -> BoxFuture<'_, Result<Value, NetworkError>> {
        async move {
            let Some(sampler) = &self.sampler else {
                let why = "no client that offers sampling is connected";
                return Err(NetworkError::Unsupported(why.to_owned()));
            };
            match tokio::time::timeout(deadline, sampler.sample(params)).await {
                Ok(sampled) => sampled.map_err(NetworkError::Broken),
                Err(_) => Err(NetworkError::TimedOut(deadline)),
            }
        }
        .boxed()
    }
}

fn network_error(error: WebError) -> NetworkError {
    match error {
        WebError::TimedOut { after } => NetworkError::TimedOut(after),
        WebError::NotAllowed(error) => NetworkError::NotAllowed(error.to_string()),
        WebError::Lost { .. } => NetworkError::Unreachable(error.to_string()),
        WebError::Body(error) => NetworkError::Broken(error.to_string()),
    }
}

/// The variables and files that a run may read.
pub(super) struct ModelEnvironment {
    /// `env` of the suite, over that of the process.
    pub(super) env: BTreeMap<String, String>,
    pub(super) world: World,
}

impl Environment for ModelEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        self.env.get(name).or_else(|| self.world.variable(name)).cloned()
    }

    fn file(&self, path: &Path) -> Result<String, String> {
        let files: Arc<dyn Files> = allowed(&self.world, Arc::new(Disk));
        let bytes = files.read(&self.world.cwd.join(path)).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
    }
}
