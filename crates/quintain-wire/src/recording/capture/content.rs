//! What a frame contains: JSON or text, and what counts in the totals of a capture.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The content of a frame.
pub(super) enum Content<'a> {
    Json(&'a str, MessageKind),
    Text(Cow<'a, str>),
}

/// What counts in the totals.
#[derive(Clone, Copy)]
pub(super) enum MessageKind {
    Requests(u64),
    Errors(u64),
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ToolResult {
    #[serde(default, rename = "isError")]
    is_error: bool,
}

impl Head<'_> {
    fn is_request(&self) -> bool {
        self.method.is_some() && self.id.is_some_and(|id| id.get() != "null")
    }

    fn is_error(&self) -> bool {
        let failed = |result: &&RawValue| {
            serde_json::from_str::<ToolResult>(result.get()).is_ok_and(|result| result.is_error)
        };
        self.error.is_some_and(|error| error.get() != "null")
            || self.result.as_ref().is_some_and(failed)
    }
}

impl<'a> Content<'a> {
    /// `RawValue` accepts what `Value` refuses: any depth, lone surrogates, numbers of any size.
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let Ok(text) = std::str::from_utf8(bytes) else { return Self::of_text(bytes) };
        let Ok(raw) = serde_json::from_str::<&RawValue>(text) else { return Self::of_text(bytes) };
        let count = |heads: &[Head<'_>]| {
            let requests = heads.iter().filter(|head| head.is_request()).count();
            let errors = heads.iter().filter(|head| head.is_error()).count();
            match requests {
                0 => MessageKind::Errors(errors as u64),
                requests => MessageKind::Requests(requests as u64),
            }
        };
        let kind = match raw.get().as_bytes().first() {
            Some(b'{') => serde_json::from_str::<Head<'_>>(raw.get()).map(|head| count(&[head])),
            Some(b'[') => {
                serde_json::from_str::<Vec<Head<'_>>>(raw.get()).map(|heads| count(&heads))
            }
            _ => Ok(MessageKind::Errors(0)),
        };
        Self::Json(raw.get(), kind.unwrap_or(MessageKind::Errors(0)))
    }

    pub(super) fn of_text(bytes: &'a [u8]) -> Self {
        Self::Text(String::from_utf8_lossy(bytes))
    }
}
