//! The kinds of models that services with OpenAI's dialect offer: `PROVIDER:KIND:NAME`.

use quintain_source::closest;

use super::Hosted;
use super::chat::ChatModel;
use super::completions::CompletionModel;
use super::embeddings::EmbeddingModel;
use super::moderation::ModerationModel;
use super::responses::ResponsesModel;
use crate::config::{ConfigError, Options};
use crate::dialects::chat_completions::Flavor;
use crate::exchange::Connection;
use crate::model::Model;
use crate::prices::Pricing;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Chat,
    Completion,
    Responses,
    Embedding,
    Moderation,
}

const KINDS: [&str; 4] = ["chat", "responses", "embedding", "moderation"];

/// Kinds of promptfoo that are not about text.
const OTHER_KINDS: &[&str] = &[
    "realtime",
    "live",
    "transcription",
    "tts",
    "speech",
    "agents",
    "agents-api",
    "chatkit",
    "assistant",
    "image",
    "video",
    "voice",
    "audio",
    "codex",
    "codex-sdk",
    "codex-app-server",
    "codex-desktop",
    "codex-security",
];

/// The model that moderates if the id names none.
const MODERATION: &str = "omni-moderation-latest";

impl Kind {
    /// The kind and the name of a model. Without a kind, it is chat.
    pub(crate) fn split(rest: &str) -> (Result<Self, &str>, &str) {
        let (word, name) = rest.split_once(':').unwrap_or((rest, ""));
        match word {
            "chat" => (Ok(Self::Chat), name),
            "completion" => (Ok(Self::Completion), name),
            "responses" => (Ok(Self::Responses), name),
            "embedding" | "embeddings" => (Ok(Self::Embedding), name),
            "moderation" => (Ok(Self::Moderation), name),
            other if OTHER_KINDS.contains(&other) => (Err(other), name),
            other if !name.is_empty() && closest(other, KINDS).is_some() => (Err(other), name),
            _ => (Ok(Self::Chat), rest),
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Chat => "chat/completions",
            Self::Completion => "completions",
            Self::Responses => "responses",
            Self::Embedding => "embeddings",
            Self::Moderation => "moderations",
        }
    }
}

/// The kind and the name that an id gives, or a mistake in `options`. `config.model` is the name if the id has none.
pub(crate) fn read_id(options: &mut Options<'_>, word: &str, rest: &str) -> Option<(Kind, String)> {
    let (kind, name) = Kind::split(rest);
    let name = if name.is_empty() { options.text("model") } else { Some(name.to_owned()) };
    match kind {
        Ok(Kind::Moderation) => {
            Some((Kind::Moderation, name.unwrap_or_else(|| MODERATION.to_owned())))
        }
        Ok(kind) => {
            if name.is_none() {
                let error = ConfigError::new("the id needs the name of a model");
                options.fail(error.help(format!("write `{word}:chat:NAME`")));
            }
            Some((kind, name?))
        }
        Err(other) => {
            let error = ConfigError::new(format!("`{word}:{other}` is not supported"));
            options.fail(
                error.help("supported are chat, completion, responses, embedding and moderation"),
            );
            None
        }
    }
}

/// A model of this kind behind a connection.
pub(crate) fn model(
    options: &mut Options<'_>,
    provider: &'static str,
    connection: Connection,
    pricing: Pricing,
    (kind, name): (Kind, &str),
    flavor: Flavor,
) -> Box<dyn Model> {
    let url = connection.url(kind.path());
    let hosted = Hosted { provider, url, connection, pricing };
    of_kind(options, hosted, (kind, name), flavor)
}

/// The same with a URL of its own.
pub(crate) fn of_kind(
    options: &mut Options<'_>,
    hosted: Hosted,
    (kind, name): (Kind, &str),
    flavor: Flavor,
) -> Box<dyn Model> {
    match kind {
        Kind::Chat => Box::new(ChatModel::read(options, hosted, name, flavor)),
        Kind::Completion => Box::new(CompletionModel::read(options, hosted, name)),
        Kind::Responses => Box::new(ResponsesModel::read(options, hosted, name)),
        Kind::Embedding => Box::new(EmbeddingModel::read(options, hosted, name)),
        Kind::Moderation => Box::new(ModerationModel::new(hosted, name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_give_kind_and_name() {
        assert_eq!(Kind::split("chat:gpt-4o"), (Ok(Kind::Chat), "gpt-4o"));
        assert_eq!(Kind::split("completion:davinci-002"), (Ok(Kind::Completion), "davinci-002"));
        assert_eq!(Kind::split("gpt-4o"), (Ok(Kind::Chat), "gpt-4o"));
        assert_eq!(Kind::split("ft:gpt-4o:me::1"), (Ok(Kind::Chat), "ft:gpt-4o:me::1"));
        assert_eq!(Kind::split("embeddings:e"), (Ok(Kind::Embedding), "e"));
        assert_eq!(Kind::split("image:dall-e"), (Err("image"), "dall-e"));
        assert_eq!(Kind::split("chat"), (Ok(Kind::Chat), ""));
    }
}
