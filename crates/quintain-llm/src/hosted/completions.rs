//! Models that speak OpenAI's text completions.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::Value;

use super::{Hosted, hosted_methods};
use crate::chat::ChatRequest;
use crate::completion::Completion;
use crate::config::Options;
use crate::dialects::chat_completions::refused;
use crate::dialects::text_completions::TextCompletions;
use crate::error::ModelError;
use crate::exchange::Failure;
use crate::model::{Ability, Model};
use crate::network::Network;

pub(crate) struct CompletionModel {
    hosted: Hosted,
    dialect: TextCompletions,
}

impl CompletionModel {
    pub(crate) fn read(options: &mut Options<'_>, hosted: Hosted, name: &str) -> Self {
        Self { hosted, dialect: TextCompletions::read(options, name) }
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        network: &dyn Network,
    ) -> Result<Completion, ModelError> {
        let Hosted { connection, url, .. } = &self.hosted;
        match connection.post(network, url.clone(), &self.dialect.body(request)).await {
            Ok(answer) => TextCompletions::completion(answer),
            Err(Failure::Rejected(rejection)) => {
                refused(&rejection).ok_or_else(|| rejection.error())
            }
            Err(Failure::Other(error)) => Err(error),
        }
    }
}

impl Model for CompletionModel {
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
