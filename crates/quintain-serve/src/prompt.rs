//! A prompt of the server: one file in `prompts/` each, registered in [`crate::prompts::PROMPTS`]. Prompts are pure: what
//! they contain follows from their arguments and, where they name something stored, from what [`PromptContext`] looked up.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::arguments::Issue;

/// What is known about a prompt without asking for it.
#[derive(Debug)]
pub struct PromptMeta {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub arguments: &'static [Argument],
}

/// An argument of a prompt. Hosts send strings only.
#[derive(Debug)]
pub struct Argument {
    pub name: &'static str,
    /// Other accepted names.
    pub aliases: &'static [&'static str],
    pub description: &'static str,
    pub required: bool,
    pub values: Values,
}

/// What an argument may contain, and what completion offers.
#[derive(Debug)]
pub enum Values {
    Text,
    /// Suggestions; other text is accepted as well.
    Suggested(&'static [&'static str]),
    /// Exactly one of these.
    OneOf(&'static [&'static str]),
    /// A list: a JSON array or texts separated by commas.
    List(&'static [&'static str]),
    /// The id of something stored, of this kind.
    Id(Stored),
}

/// What an id can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    Generator,
    Dataset,
    Run,
}

/// One message of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub from_user: bool,
    pub text: String,
    /// A resource that the message refers to: `(uri, name)`.
    pub link: Option<(String, String)>,
}

/// What was looked up for the arguments of kind [`Values::Id`], by name of the argument.
pub type PromptContext = BTreeMap<String, Value>;

/// A prompt.
pub trait Prompt: Send + Sync {
    fn meta(&self) -> &'static PromptMeta;

    /// The messages. The arguments have our names, and required ones are present.
    ///
    /// # Errors
    /// All problems of the arguments.
    fn render(
        &self,
        arguments: &BTreeMap<String, String>,
        context: &PromptContext,
    ) -> Result<Vec<Message>, Vec<Issue>>;
}
