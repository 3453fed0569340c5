//! Models that speak OpenAI's chat completions.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::Value;

use super::{Hosted, hosted_methods};
use crate::chat::ChatRequest;
use crate::completion::Completion;
use crate::config::Options;
use crate::dialects::chat_completions::{ChatCompletions, Flavor, refused};
use crate::dialects::chat_stream::ChatStream;
use crate::error::ModelError;
use crate::exchange::Failure;
use crate::model::{Ability, Model};
use crate::network::Network;
use crate::sse::Framing;

pub(crate) struct ChatModel {
    hosted: Hosted,
    dialect: ChatCompletions,
}

impl ChatModel {
    pub(crate) fn read(
        options: &mut Options<'_>,
        hosted: Hosted,
        name: &str,
        flavor: Flavor,
    ) -> Self {
        Self { hosted, dialect: ChatCompletions::read(options, name, flavor) }
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        network: &dyn Network,
    ) -> Result<Completion, ModelError> {
        let body = self.dialect.body(request)?;
        let Hosted { connection, url, .. } = &self.hosted;
        let answer = if self.dialect.streams(request) {
            let mut stream = ChatStream::default();
            connection.stream(network, url.clone(), &body, Framing::Sse, &mut stream).await
        } else {
            connection.post(network, url.clone(), &body).await
        };
        match answer {
            Ok(answer) => self.dialect.completion(request, answer),
            Err(Failure::Rejected(rejection)) => {
                refused(&rejection).ok_or_else(|| rejection.error())
            }
            Err(Failure::Other(error)) => Err(error),
        }
    }
}

impl Model for ChatModel {
    hosted_methods!();

    fn name(&self) -> &str {
        &self.dialect.model
    }

    fn fingerprint(&self) -> Value {
        self.hosted.fingerprint(self.dialect.fingerprint())
    }

    fn abilities(&self) -> &'static [Ability] {
        &[Ability::Chat]
    }

    fn chat<'f>(
        &'f self,
        request: &'f ChatRequest,
        network: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Completion, ModelError>> {
        self.ask(request, network).boxed()
    }
}
