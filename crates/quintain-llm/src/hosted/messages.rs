//! Models that speak Anthropic's messages.

use futures_util::future::{BoxFuture, FutureExt as _};
use serde_json::Value;

use super::{Hosted, hosted_methods};
use crate::chat::ChatRequest;
use crate::completion::Completion;
use crate::config::Options;
use crate::dialects::messages::Messages;
use crate::dialects::messages_stream::MessagesStream;
use crate::error::ModelError;
use crate::model::{Ability, Model};
use crate::network::Network;
use crate::sse::Framing;

pub(crate) struct MessagesModel {
    hosted: Hosted,
    dialect: Messages,
}

impl MessagesModel {
    pub(crate) fn read(options: &mut Options<'_>, hosted: Hosted, name: &str) -> Self {
        Self { hosted, dialect: Messages::read(options, name) }
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        network: &dyn Network,
    ) -> Result<Completion, ModelError> {
        let body = self.dialect.body(request)?;
        let Hosted { connection, url, .. } = &self.hosted;
        let answer = if self.dialect.streams(request) {
            let mut stream = MessagesStream::default();
            connection.stream(network, url.clone(), &body, Framing::Sse, &mut stream).await?
        } else {
            connection.post(network, url.clone(), &body).await?
        };
        self.dialect.completion(request, answer)
    }
}

impl Model for MessagesModel {
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
