//! Recorded messages: which kind they are, and where the ids and tokens are that a replay replaces.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::recording::json_text::{edited, place_of};

/// A JSON-RPC message as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) text: Box<str>,
    pub(super) kind: MessageKind,
    /// The JSON of the id, and its place.
    pub(super) id: Option<(String, Range<usize>)>,
    /// The JSON of the parameters.
    pub(super) params: Option<String>,
    /// Of a request: the token that the client chose. Of a progress notification: the token that it belongs to.
    pub(super) token: Option<(String, Range<usize>)>,
    /// The request that a notification is about.
    pub(super) about: Option<(String, Range<usize>)>,
    /// The request that opened the subscription of a notification.
    pub(super) subscription: Option<(String, Range<usize>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MessageKind {
    Request(String),
    Notification(String),
    Response,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow, rename = "progressToken")]
    token: Option<&'a RawValue>,
    #[serde(borrow, rename = "requestId")]
    about: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "progressToken")]
    token: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: Option<&'a RawValue>,
}

impl Message {
    /// None if the text is not a JSON-RPC message.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
        let placed = |raw: Option<&RawValue>| {
            let raw = raw.filter(|raw| raw.get() != "null")?;
            Some((raw.get().to_owned(), place_of(raw.get(), text)?))
        };
        let id = placed(envelope.id);
        let kind = match (envelope.method, &id) {
            (Some(method), Some(_)) => MessageKind::Request(method),
            (Some(method), None) => MessageKind::Notification(method),
            (None, _) if envelope.result.is_some() || envelope.error.is_some() => {
                MessageKind::Response
            }
            (None, _) => return None,
        };
        let params = envelope.params.map(RawValue::get);
        let inner: Params<'_> =
            params.and_then(|params| serde_json::from_str(params).ok()).unwrap_or_default();
        let meta: Meta<'_> =
            inner.meta.and_then(|meta| serde_json::from_str(meta.get()).ok()).unwrap_or_default();
        let token = match &kind {
            MessageKind::Request(_) => placed(meta.token),
            MessageKind::Notification(_) => placed(inner.token),
            MessageKind::Response => None,
        };
        let params = params.map(str::to_owned);
        let about = placed(inner.about).filter(|_| matches!(kind, MessageKind::Notification(_)));
        let subscription = placed(meta.subscription);
        Some(Self { text: text.into(), kind, id, params, token, about, subscription })
    }

    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_ref().map(|(id, _)| id.as_str())
    }

    pub(super) fn method(&self) -> &str {
        match &self.kind {
            MessageKind::Request(method) | MessageKind::Notification(method) => method,
            MessageKind::Response => "",
        }
    }

    /// The message with other texts at these places.
    pub(super) fn with(&self, edits: Vec<(&Range<usize>, &str)>) -> String {
        let mut edits: Vec<(Range<usize>, String)> =
            edits.into_iter().map(|(place, new)| (place.clone(), new.to_owned())).collect();
        edits.sort_by_key(|(place, _)| place.start);
        edited(&self.text, &edits)
    }
}

/// The messages of a frame: one, several in a batch, none if it is something else.
pub(super) fn messages(frame: &str) -> Vec<Message> {
    if frame.trim_start().starts_with('[') {
        let batch: Vec<&RawValue> = serde_json::from_str(frame).unwrap_or_default();
        return batch.into_iter().filter_map(|one| Message::read(one.get())).collect();
    }
    Message::read(frame).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_tokens_are_replaced_and_all_else_stays_as_written() {
        let text = r#"{"jsonrpc":"2.0", "id": 7 ,"result":{"x":1.50,"id":7}}"#;
        let message = Message::read(text).unwrap();
        let (id, place) = message.id.clone().unwrap();
        assert_eq!(id, "7");
        assert_eq!(message.with(vec![(&place, "\"a\"")]), text.replace(": 7 ", ": \"a\" "));
        let progress =
            r#"{"method":"notifications/progress","params":{"progress":1,"progressToken":"t"}}"#;
        let progress = Message::read(progress).unwrap();
        let (_, place) = progress.token.clone().unwrap();
        assert!(progress.with(vec![(&place, "9")]).contains(r#""progressToken":9}"#));
    }

    #[test]
    fn the_kinds_of_messages_are_distinguished() {
        let kind = |text: &str| Message::read(text).map(|message| message.kind);
        assert_eq!(kind(r#"{"id":1,"method":"a"}"#), Some(MessageKind::Request("a".into())));
        assert_eq!(
            kind(r#"{"id":null,"method":"a"}"#),
            Some(MessageKind::Notification("a".into()))
        );
        assert_eq!(kind(r#"{"id":1,"result":{}}"#), Some(MessageKind::Response));
        assert_eq!(kind(r#"{"id":null,"error":{}}"#), Some(MessageKind::Response));
        assert_eq!(kind(r#"{"level":"info"}"#), None);
        assert_eq!(kind("banner"), None);
        assert_eq!(messages(r#"[{"id":1,"method":"a"},{"id":2,"result":1},3]"#).len(), 2);
    }
}
