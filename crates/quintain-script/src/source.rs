//! The text of a script and in which form it was written.

use std::sync::OnceLock;

use crate::inline::Reading;

pub(crate) struct Source {
    pub(crate) text: String,
    pub(crate) form: Form,
    /// Which of the possible readings is correct JavaScript, once that is known.
    pub(crate) reading: OnceLock<usize>,
}

pub(crate) enum Form {
    Inline(Vec<Reading>),
    File { name: String, function: Option<String> },
}
