//! One line or element of a capture: which message it has, who sent it and when. Every program wraps messages in its
//! own way, so wrappers are recognised by what is in them.

use serde_json::Value;

use super::rpc::{Side, sender_of};
use crate::json_input::record::{any_text, id_text, json_in, seconds, take, take_any};
use crate::json_input::tolerant;

/// A message on the wire.
#[derive(Debug)]
pub(super) struct Frame {
    /// Seconds, from 1970 or from the start.
    pub(super) at: Option<f64>,
    /// Known if the capture names it, or if only one side sends such messages.
    pub(super) sender: Option<Side>,
    pub(super) transport: Option<String>,
    pub(super) session: Option<String>,
    /// Whether the capture was written by one program that saw both sides, so that its order is that of the wire.
    pub(super) is_ordered: bool,
    /// The number of the HTTP request to which it belongs.
    pub(super) exchange: Option<u64>,
    pub(super) body: Body,
}

#[derive(Debug)]
pub(super) enum Body {
    Json(Value),
    /// What is not JSON.
    Text(String),
    /// The start of a message that was too large to be recorded.
    Cut(String),
}

pub(super) enum Entry {
    Frame(Box<Frame>),
    /// An entry of the Inspector: a message, and the response to it if there is one.
    Exported {
        at: Option<f64>,
        frames: Vec<Frame>,
    },
    Note(Value),
}

/// Stands for the transport where an export does not name it, and repeats or drops messages.
const EXPORT: &str = "inspector";

const WRAPPERS: &[&str] = &["frame", "message", "msg", "payload", "data", "body", "raw", "json"];
const SENDERS: &[&str] =
    &["direction", "dir", "origin", "from", "sender", "source", "side", "stream"];
const TIMES: &[&str] = &["t", "ts", "time", "timestamp", "at"];
const SESSIONS: &[&str] = &["session", "sessionId", "session_id", "connection", "mcpSessionId"];

/// How certain it is that a value is an entry of a capture.
pub(super) fn certainty(value: &Value) -> u8 {
    if value.get("frame").is_some() && value.get("direction").is_some() {
        return 100;
    }
    let is_note = value.get("note").is_some() && value.get("t").is_some();
    let wrapped = WRAPPERS.iter().filter_map(|key| value.get(key));
    let is_wrapped = wrapped.into_iter().any(|inner| match inner {
        Value::String(text) => json_in(text).is_some_and(|inner| is_rpc(&inner)),
        inner => is_rpc(inner),
    });
    if is_rpc(value) || is_wrapped {
        98
    } else if is_note || exported_call(value) {
        90
    } else {
        0
    }
}

fn is_rpc(value: &Value) -> bool {
    match value {
        Value::Array(batch) => {
            !batch.is_empty() && batch.iter().all(|item| item.get("jsonrpc").is_some())
        }
        value => value.get("jsonrpc").is_some(),
    }
}

/// The history of the older Inspector: request and result as text, without ids.
fn exported_call(value: &Value) -> bool {
    let request = value.get("request");
    let parsed = request.and_then(|request| match request {
        Value::String(text) => json_in(text),
        other => Some(other.clone()),
    });
    parsed.is_some_and(|request| request.get("method").is_some_and(Value::is_string))
}

pub(super) fn of_value(mut value: Value) -> Option<Entry> {
    if is_rpc(&value) {
        return Some(Entry::Frame(Box::new(bare(value))));
    }
    if !value.is_object() {
        return None;
    }
    let at = TIMES.iter().find_map(|key| time(value.get(key)?));
    if let Some(note) = value.get("note") {
        return Some(Entry::Note(note.clone()));
    }
    if exported_call(&value) {
        return Some(exported(&mut value, at));
    }
    let sender = SENDERS.iter().find_map(|key| side(value.get(key)?.as_str()?));
    let transport = any_text(&value, &["transport"]).map(str::to_owned);
    let session = SESSIONS.iter().find_map(|key| id_text(value.get(key)?));
    let exchange = value.get("exchange").and_then(Value::as_u64);
    let is_cut = value.get("truncated").is_some_and(|cut| *cut != Value::Bool(false));
    // Events of a stream that are not messages, such as `endpoint`.
    let is_event = value.get("event").is_some_and(Value::is_string) && value.get("frame").is_some();
    if is_event {
        return Some(Entry::Note(Value::Null));
    }
    let duration = value.get("duration").and_then(Value::as_f64);
    let response = take(&mut value, "response").filter(is_rpc);
    let is_ordered = value.get("frame").is_some() && sender.is_some();
    let body = match take_any(&mut value, WRAPPERS)? {
        Value::String(text) => {
            let inner = json_in(&text).or_else(|| tolerant::parse(&text));
            match inner.filter(|inner| inner.is_object() || inner.is_array()) {
                Some(inner) => Body::Json(inner),
                None if is_cut => Body::Cut(text),
                None => Body::Text(text),
            }
        }
        other => Body::Json(other),
    };
    let sender = sender.or(match &body {
        Body::Json(message) => sender_of(message),
        Body::Text(_) | Body::Cut(_) => None,
    });
    let is_export = response.is_some()
        || value
            .get("direction")
            .and_then(Value::as_str)
            .is_some_and(|word| matches!(word, "request" | "response" | "notification"));
    let transport = transport.or_else(|| is_export.then(|| EXPORT.to_owned()));
    let frame = Frame {
        at,
        sender,
        transport: transport.clone(),
        session: session.clone(),
        is_ordered,
        exchange,
        body,
    };
    if !is_export {
        return Some(Entry::Frame(Box::new(frame)));
    }
    let answer = response.map(|response| Frame {
        at: at.zip(duration).map(|(at, took)| at + took / 1e3),
        sender: sender.map(Side::other),
        transport,
        session,
        is_ordered,
        exchange,
        body: Body::Json(response),
    });
    Some(Entry::Exported { at, frames: std::iter::once(frame).chain(answer).collect() })
}

/// A request and its result without ids become a request and a response with one.
fn exported(value: &mut Value, at: Option<f64>) -> Entry {
    let parse = |value: Option<Value>| match value {
        Some(Value::String(text)) => json_in(&text).or(Some(Value::String(text))),
        other => other,
    };
    let request = parse(take(value, "request")).unwrap_or_default();
    let response = parse(take(value, "response"));
    let id = request.get("id").cloned().unwrap_or_else(|| "exported".into());
    let mut sent = request;
    if let Some(members) = sent.as_object_mut() {
        members.insert("jsonrpc".to_owned(), "2.0".into());
        members.insert("id".to_owned(), id.clone());
    }
    let mut frames = vec![exported_frame(sent, at, Side::Client)];
    if let Some(response) = response {
        let whole = if is_rpc(&response) {
            response
        } else if let Some(error) = response.get("error").filter(|error| error.is_object()) {
            serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error})
        } else {
            serde_json::json!({"jsonrpc": "2.0", "id": id, "result": response})
        };
        frames.push(exported_frame(whole, None, Side::Server));
    }
    Entry::Exported { at, frames }
}

fn exported_frame(message: Value, at: Option<f64>, sender: Side) -> Frame {
    let transport = Some(EXPORT.to_owned());
    Frame {
        at,
        sender: Some(sender),
        transport,
        session: None,
        is_ordered: false,
        exchange: None,
        body: Body::Json(message),
    }
}

fn bare(message: Value) -> Frame {
    let sender = sender_of(&message);
    Frame {
        at: None,
        sender,
        transport: None,
        session: None,
        is_ordered: false,
        exchange: None,
        body: Body::Json(message),
    }
}

/// A message in a line of a log, after a time, a direction, or anything else without braces.
pub(super) fn of_line(line: &str) -> Option<Frame> {
    let start = line.find("{\"").or_else(|| line.find('{'))?;
    let start = if line[..start].trim_end().ends_with('[') && is_batch(&line[start..]) {
        line[..start].rfind('[')?
    } else {
        start
    };
    let message = json_in(line[start..].trim_end()).filter(is_rpc)?;
    let prefix = &line[..start];
    let sender = side(prefix).or_else(|| sender_of(&message)).or_else(|| arrow(prefix));
    let at = prefix.split(['[', ']', ' ']).find_map(|word| time(&Value::String(word.to_owned())));
    Some(Frame {
        at,
        sender,
        transport: None,
        session: None,
        is_ordered: false,
        exchange: None,
        body: Body::Json(message),
    })
}

fn is_batch(rest: &str) -> bool {
    rest.trim_end().ends_with("}]")
}

/// Words that name the sender. Words such as `in` and `out` depend on who wrote the log.
fn side(words: &str) -> Option<Side> {
    let words = words.to_ascii_lowercase();
    let names = [
        ("client", Side::Client),
        ("host", Side::Client),
        ("stdin", Side::Client),
        ("c2s", Side::Client),
        ("c->s", Side::Client),
        ("server", Side::Server),
        ("stdout", Side::Server),
        ("s2c", Side::Server),
        ("s->c", Side::Server),
    ];
    let found = names.iter().filter_map(|(name, side)| Some((words.find(name)?, *side)));
    found.min_by_key(|(at, _)| *at).map(|(_, side)| side)
}

fn arrow(prefix: &str) -> Option<Side> {
    let is_any = |arrows: [&str; 4]| arrows.iter().any(|arrow| prefix.contains(arrow));
    if is_any(["->", ">>", "→", "=>"]) {
        Some(Side::Client)
    } else if is_any(["<-", "<<", "←", "<="]) {
        Some(Side::Server)
    } else {
        None
    }
}

/// A time as seconds. Small numbers count from the start of the capture.
fn time(value: &Value) -> Option<f64> {
    seconds(value).or_else(|| value.as_f64().filter(|number| number.is_finite() && *number >= 0.0))
}
