//! A prompt made of a description and a function.

use std::collections::BTreeMap;

use super::given::Given;
use crate::arguments::Issue;
use crate::prompt::{Message, Prompt, PromptContext, PromptMeta};

/// A prompt: checks its arguments, then writes its messages.
pub(super) struct Template {
    pub(super) meta: PromptMeta,
    pub(super) body: fn(&Given, &PromptContext) -> Vec<Message>,
}

/// A prompt that hosts know by this static.
pub(super) struct Registered(pub(super) &'static Template);

impl Prompt for Registered {
    fn meta(&self) -> &'static PromptMeta {
        &self.0.meta
    }

    fn render(
        &self,
        arguments: &BTreeMap<String, String>,
        context: &PromptContext,
    ) -> Result<Vec<Message>, Vec<Issue>> {
        let given = Given::read(&self.0.meta, arguments)?;
        Ok((self.0.body)(&given, context))
    }
}
