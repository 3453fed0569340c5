//! Batches of messages, which clients of 2025-03-26 and before may send. Their answers are collected into one array.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde_json::{Value, json};

/// The last version with batches.
const LAST_VERSION: &str = "2025-03-26";
/// Messages of one batch.
const MOST_MESSAGES: usize = 100;

/// Whether a version of the protocol has batches.
pub fn has_batches(version: &str) -> bool {
    version <= LAST_VERSION
}

/// The messages of a batch.
///
/// # Errors
/// The answer to a batch that is empty, too long, or starts a session.
pub fn messages_of(bytes: &[u8]) -> Option<Result<Vec<Value>, Value>> {
    if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'[') {
        return None;
    }
    let messages: Vec<Value> = serde_json::from_slice(bytes).ok()?;
    let wrong = if messages.is_empty() {
        "Invalid Request: an empty batch"
    } else if messages.len() > MOST_MESSAGES {
        "Invalid Request: more than 100 messages in a batch"
    } else if messages.iter().any(|message| message["method"] == "initialize") {
        "Invalid Request: `initialize` must not be in a batch"
    } else {
        return Some(Ok(messages));
    };
    Some(Err(invalid(wrong)))
}

fn invalid(what: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": what}})
}

/// The batches of one connection that are not answered.
#[derive(Default)]
pub(super) struct Batches {
    version: OnceLock<String>,
    open: Mutex<Vec<Batch>>,
}

struct Batch {
    /// The ids without an answer.
    due: Vec<Value>,
    answers: Vec<Value>,
}

impl Batches {
    fn open(&self) -> MutexGuard<'_, Vec<Batch>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers the version of the session.
    pub(super) fn negotiated(&self, version: &str) {
        let _ = self.version.set(version.to_owned());
    }

    /// The messages of a batch; `None` if this is none, or the version has none.
    pub(super) fn split(&self, bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
        self.version.get().filter(|version| has_batches(version))?;
        let messages = messages_of(bytes)?.ok()?;
        let is_request = |message: &&Value| {
            message.get("id").is_some_and(|id| !id.is_null()) && message.get("method").is_some()
        };
        let due: Vec<Value> =
            messages.iter().filter(is_request).map(|request| request["id"].clone()).collect();
        if !due.is_empty() {
            self.open().push(Batch { due, answers: Vec::new() });
        }
        Some(messages.iter().map(|message| message.to_string().into_bytes()).collect())
    }

    /// What to send for an answer: itself, nothing while its batch lacks others, or the whole batch.
    pub(super) fn collect(&self, text: String) -> Option<String> {
        let mut open = self.open();
        if open.is_empty() {
            return Some(text);
        }
        let Ok(answer) = serde_json::from_str::<Value>(&text) else { return Some(text) };
        let place = open.iter().position(|batch| batch.due.contains(&answer["id"]));
        let Some(place) = place else { return Some(text) };
        let batch = &mut open[place];
        let id = answer["id"].clone();
        batch.answers.push(answer);
        finish(&mut open, place, &id)
    }

    /// The batch that a notification completes by cancelling its last request, which gets no answer.
    pub(super) fn cancelled(&self, message: &[u8]) -> Option<String> {
        let mut open = self.open();
        if open.is_empty() {
            return None;
        }
        let message: Value = serde_json::from_slice(message).ok()?;
        if message["method"] != "notifications/cancelled" {
            return None;
        }
        let id = message["params"]["requestId"].clone();
        let place = open.iter().position(|batch| batch.due.contains(&id))?;
        finish(&mut open, place, &id)
    }
}

/// Takes an id from the due ones of a batch; returns the text of the batch if it was the last.
fn finish(open: &mut Vec<Batch>, place: usize, id: &Value) -> Option<String> {
    let batch = open.get_mut(place)?;
    if let Some(index) = batch.due.iter().position(|due| due == id) {
        batch.due.remove(index);
    }
    if !batch.due.is_empty() {
        return None;
    }
    let batch = open.remove(place);
    (!batch.answers.is_empty()).then(|| Value::Array(batch.answers).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[u8] =
        br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"},
        {"jsonrpc":"2.0","method":"notifications/x"}]"#;

    #[test]
    fn answers_of_a_batch_are_one_array() {
        let batches = Batches::default();
        assert!(batches.split(TWO).is_none(), "before a version is known");
        batches.negotiated("2025-03-26");
        assert_eq!(batches.split(TWO).map(|messages| messages.len()), Some(3));
        assert_eq!(batches.collect(r#"{"id":2,"result":{}}"#.to_owned()), None);
        let other = r#"{"id":7,"result":{}}"#.to_owned();
        assert_eq!(batches.collect(other.clone()), Some(other), "an answer of no batch");
        let all = batches.collect(r#"{"id":1,"result":{}}"#.to_owned());
        let all: Value = serde_json::from_str(&all.unwrap()).unwrap();
        assert_eq!(all.as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn a_cancelled_request_does_not_keep_its_batch() {
        let batches = Batches::default();
        batches.negotiated("2024-11-05");
        batches.split(TWO);
        assert_eq!(batches.collect(r#"{"id":1,"result":{}}"#.to_owned()), None);
        let cancel = br#"{"method":"notifications/cancelled","params":{"requestId":2}}"#;
        assert!(batches.cancelled(cancel).unwrap().starts_with('['));
    }

    #[test]
    fn versions_after_2025_03_26_have_no_batches() {
        let batches = Batches::default();
        batches.negotiated("2025-06-18");
        assert!(batches.split(TWO).is_none());
        assert!(messages_of(b"[]").unwrap().is_err());
        assert!(messages_of(br#"[{"method":"initialize"}]"#).unwrap().is_err());
        assert!(messages_of(b"{}").is_none());
    }
}
