//! Answers with the last message of the user.

use futures_util::future::{BoxFuture, FutureExt as _};
use quintain_content::registry::Meta;
use serde_json::{Value, json};

use super::Provider;
use crate::chat::ChatRequest;
use crate::completion::Completion;
use crate::config::{ConfigError, Options};
use crate::conversation::{self, text_of};
use crate::environment::Environment;
use crate::error::ModelError;
use crate::model::{Ability, Model};
use crate::network::Network;
use crate::spec::ModelSpec;

const META: Meta = Meta {
    id: "echo",
    aliases: &[],
    summary: "Answers with the last message of the user",
    docs: "\
# What it does
Returns the text of the last message of the user, without a model and without a network. Useful to try out prompts and assertions.

# Example
```yaml
providers:
  - echo
```
",
    since: "0.1.0",
};

pub(super) struct Echo;
pub(super) static ECHO: Echo = Echo;

impl Provider for Echo {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn words(&self) -> &'static [&'static str] {
        &["echo"]
    }

    fn can_judge(&self) -> bool {
        false
    }

    fn configure(
        &self,
        spec: &ModelSpec,
        env: &dyn Environment,
    ) -> Result<Box<dyn Model>, Vec<ConfigError>> {
        let options = Options::new(spec, env);
        options.finish(Some(Box::new(EchoModel) as Box<dyn Model>))
    }
}

struct EchoModel;

impl Model for EchoModel {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn fingerprint(&self) -> Value {
        json!("echo")
    }

    fn is_cacheable(&self) -> bool {
        false
    }

    fn abilities(&self) -> &'static [Ability] {
        &[Ability::Chat]
    }

    fn chat<'f>(
        &'f self,
        request: &'f ChatRequest,
        _: &'f dyn Network,
    ) -> BoxFuture<'f, Result<Completion, ModelError>> {
        let answer = async {
            let messages = conversation::messages(&request.messages)?;
            let is_user =
                |message: &&Value| message.get("role").and_then(Value::as_str) == Some("user");
            let last = messages.iter().rfind(is_user).or(messages.last());
            let text =
                last.and_then(|message| message.get("content")).map(text_of).unwrap_or_default();
            Ok(Completion { finish_reason: Some("stop".to_owned()), ..Completion::of_text(text) })
        };
        answer.boxed()
    }
}
