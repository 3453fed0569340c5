//! A network of real sockets, and what tests need to ask a model through it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt as _};
use futures_util::stream;
use quintain_llm::{
    BodyStream, Handle, HttpReply, HttpRequest, ModelSpec, Models, ModelsOptions, Network,
    NetworkError,
};

pub(crate) struct Web {
    client: reqwest::Client,
}

impl Web {
    pub(crate) fn new() -> Self {
        // The crate of the binary does this for itself.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { client }
    }
}

impl Network for Web {
    fn send(
        &self,
        request: HttpRequest,
        deadline: Duration,
    ) -> BoxFuture<'_, Result<HttpReply, NetworkError>> {
        async move {
            let HttpRequest { method, url, headers, body } = request;
            let sending = self.client.request(method, url).headers(headers);
            let sending = sending.body(body.unwrap_or_default()).send();
            let response = tokio::time::timeout(deadline, sending)
                .await
                .map_err(|_| NetworkError::TimedOut(deadline))?
                .map_err(|error| NetworkError::Unreachable(error.without_url().to_string()))?;
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            let chunks = stream::unfold(response, async |mut response| {
                let chunk = response.chunk().await.transpose()?;
                Some((chunk.map_err(|error| NetworkError::Broken(error.to_string())), response))
            });
            Ok(HttpReply { status, headers, body: BodyStream::new(chunks) })
        }
        .boxed()
    }
}

pub(crate) fn models() -> Models {
    models_with(ModelsOptions::default())
}

pub(crate) fn models_with(options: ModelsOptions) -> Models {
    let environment: BTreeMap<String, String> = BTreeMap::new();
    Models::new(Arc::new(Web::new()), Arc::new(environment), options)
}

/// A key that must be in no output.
pub(crate) const KEY: &str = "sk-canary-0123456789";

/// A spec with a key and short waits.
pub(crate) fn spec(id: &str, url: &str) -> ModelSpec {
    ModelSpec::new(id).with("apiKey", KEY).with("apiBaseUrl", url).with("backoffMs", 1)
}

pub(crate) fn handle(spec: &ModelSpec) -> Arc<Handle> {
    models().model(spec).unwrap()
}
