//! Wire dialects: options and messages into a body, a body into a completion, and a stream into a body. They know no
//! URLs and no keys.

pub(crate) mod chat_completions;
pub(crate) mod chat_stream;
pub(crate) mod fields;
pub(crate) mod gemini;
pub(crate) mod gemini_prompt;
pub(crate) mod messages;
pub(crate) mod messages_prompt;
pub(crate) mod messages_stream;
pub(crate) mod ollama;
pub(crate) mod responses;
pub(crate) mod text_completions;
pub(crate) mod tools;
