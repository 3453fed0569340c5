//! Records of chat logs: a list of messages, a request, a response, a pair of them, or entries of a session that make up
//! one conversation together. Shared by the readers of OpenAI's and Anthropic's formats.

use quintain_evidence::trace::{Role, Trace, TraceStep};
use serde_json::Value;

use super::conversation::Conversation;
use super::message;
use super::{JsonRecord, MAX_RECORD, Parser, Position, Traces};
use crate::json_input::record::{any_text, id_text, seconds, take, take_any, text};

/// Records in records: a batch line has a response with a body with choices.
const MAX_NESTING: usize = 5;

const MESSAGES: &[&str] = &["messages", "conversation", "history", "items"];
const SESSIONS: &[&str] = &["sessionId", "session_id", "conversation_id", "thread_id"];

#[derive(Default)]
pub(super) struct ChatParser {
    open: Option<OpenSession>,
}

/// A conversation whose messages are records of their own.
struct OpenSession {
    at: Position,
    talk: Conversation,
    session: Option<String>,
    bytes: usize,
    /// The rest of a conversation that is too large says nothing without its start.
    is_skipped: bool,
}

impl Parser for ChatParser {
    fn record(&mut self, record: JsonRecord<'_>, traces: &mut Traces) -> Result<(), String> {
        let value = record.value()?;
        match entry(value) {
            Entry::Message { message, session, at } => {
                let is_other = |open: &OpenSession| open.session != session && session.is_some();
                if self.open.as_ref().is_some_and(is_other) {
                    self.finish(traces);
                }
                let open = self.open.get_or_insert_with(|| OpenSession {
                    at: record.at,
                    talk: Conversation::default(),
                    session,
                    bytes: 0,
                    is_skipped: false,
                });
                if open.is_skipped {
                    return Ok(());
                }
                open.bytes += record.bytes.len();
                if open.bytes > MAX_RECORD {
                    open.talk = Conversation::default();
                    open.is_skipped = true;
                    return Err(format!("the conversation is larger than {} MB", MAX_RECORD >> 20));
                }
                message::add(&mut open.talk, message, at)
            }
            Entry::Other => Ok(()),
            Entry::Record(value) => {
                self.finish(traces);
                traces.push((record.at, Ok(read(value)?)));
                Ok(())
            }
        }
    }

    fn finish(&mut self, traces: &mut Traces) {
        if let Some(open) = self.open.take().filter(|open| !open.talk.is_empty()) {
            let mut trace = open.talk.finish();
            trace.id = open.session;
            traces.push((open.at, Ok(trace)));
        }
    }
}

enum Entry {
    Message {
        message: Value,
        session: Option<String>,
        at: Option<f64>,
    },
    /// An entry of a session that says nothing.
    Other,
    Record(Value),
}

fn entry(mut value: Value) -> Entry {
    let session = any_text(&value, SESSIONS).map(str::to_owned);
    let at = value.get("timestamp").and_then(seconds);
    // Session files of hosts wrap each message.
    if value.get("message").is_some_and(message::is_message) {
        let message = take(&mut value, "message").unwrap_or_default();
        return Entry::Message { message, session, at };
    }
    if let Some(payload) = value.get("payload").filter(|_| value.get("type").is_some()) {
        if text(&value, "type") == Some("response_item") && message::is_message(payload) {
            let message = take(&mut value, "payload").unwrap_or_default();
            return Entry::Message { message, session, at };
        }
        return Entry::Other;
    }
    let is_record = MESSAGES.iter().any(|key| value.get(key).is_some_and(Value::is_array));
    if message::is_message(&value) && !is_record && !is_response(&value) {
        return Entry::Message { message: value, session, at };
    }
    if value.get("uuid").is_some() && value.get("type").is_some() && !is_record {
        return Entry::Other;
    }
    Entry::Record(value)
}

/// A response of Anthropic looks like a message, but is a whole record.
fn is_response(value: &Value) -> bool {
    text(value, "type") == Some("message") && value.get("stop_reason").is_some()
}

/// One conversation from a whole record.
fn read(value: Value) -> Result<Trace, String> {
    let mut talk = Conversation::default();
    add(&mut talk, value, 0)?;
    if talk.trace.steps.is_empty() {
        return Err("expected a conversation: `messages`, `input`, `output`, `choices`, or a \
                    request with its response"
            .to_owned());
    }
    Ok(talk.finish())
}

fn add(talk: &mut Conversation, value: Value, depth: usize) -> Result<(), String> {
    if depth > MAX_NESTING {
        return Err("records are nested too deeply".to_owned());
    }
    match value {
        Value::Array(messages) => {
            messages.into_iter().try_for_each(|message| message::add(talk, message, None))
        }
        value if message::is_message(&value) => message::add(talk, value, None),
        value @ Value::Object(_) => add_object(talk, value, depth),
        Value::String(text) => {
            add_answer(talk, text);
            Ok(())
        }
        _ => Err("expected an object or a list of messages".to_owned()),
    }
}

fn add_object(talk: &mut Conversation, mut value: Value, depth: usize) -> Result<(), String> {
    for key in ["instructions", "system"] {
        if let Some(system) = take(&mut value, key) {
            let message = serde_json::json!({"role": "system", "content": system});
            message::add(talk, message, None)?;
        }
    }
    for key in ["tools", "functions"] {
        if let Some(Value::Array(tools)) = take(&mut value, key) {
            talk.offer(tools);
        }
    }
    for key in ["request", "body"] {
        if let Some(request) = take(&mut value, key) {
            add(talk, request, depth + 1)?;
        }
    }
    let has_output = value.get("output").is_some_and(Value::is_array);
    if let Some(messages) = take_any(&mut value, MESSAGES) {
        add(talk, messages, depth + 1)?;
    } else if let Some(input) = take(&mut value, "input") {
        match input {
            Value::String(text) => talk.say(Role::User, text, None),
            items @ Value::Array(_) => add(talk, items, depth + 1)?,
            _ => {}
        }
    }
    let question = text(&value, "question").map(str::to_owned);
    if let Some(question) = question.filter(|_| talk.trace.steps.is_empty()) {
        talk.say(Role::User, question, None);
    }
    if let Some(Value::Array(choices)) = take(&mut value, "choices") {
        let message = choices.into_iter().next().and_then(|mut first| take(&mut first, "message"));
        message.map_or(Ok(()), |message| add(talk, message, depth + 1))?;
    }
    if has_output && let Some(output) = take(&mut value, "output") {
        add(talk, output, depth + 1)?;
    }
    for key in ["response", "completion"] {
        if let Some(response) = take(&mut value, key) {
            add(talk, response, depth + 1)?;
        }
    }
    label(talk, value);
    Ok(())
}

/// The final answer, which some logs repeat.
fn add_answer(talk: &mut Conversation, text: String) {
    let last = talk.trace.steps.last().and_then(TraceStep::as_message);
    let is_said =
        last.is_some_and(|last| last.role == Role::Assistant && last.text.trim() == text.trim());
    if !is_said {
        talk.say(Role::Assistant, text, None);
    }
}

/// What else the record says. The outermost record comes last and decides.
fn label(talk: &mut Conversation, value: Value) {
    let Value::Object(members) = value else { return };
    for (key, member) in members {
        match (key.as_str(), member) {
            (_, Value::Null) => {}
            ("id" | "custom_id", id) => talk.trace.id = id_text(&id).or(talk.trace.id.take()),
            ("name", Value::String(name)) => talk.trace.name = Some(name),
            ("labels", Value::Object(labels)) => talk.trace.labels.extend(labels),
            (_, member) => {
                talk.trace.labels.insert(key, member);
            }
        }
    }
}

/// The messages of a record, for detection.
pub(super) fn messages_of(record: &Value) -> Vec<&Value> {
    let mut found = vec![record];
    let mut rest: Vec<(&Value, usize)> = vec![(record, 0)];
    let keys = [
        "messages",
        "conversation",
        "history",
        "items",
        "input",
        "output",
        "request",
        "response",
        "body",
        "choices",
        "message",
        "payload",
    ];
    while let Some((value, depth)) = rest.pop() {
        let members = match value {
            Value::Array(items) => items.iter().take(50).collect(),
            value => keys.iter().filter_map(|key| value.get(key)).collect::<Vec<_>>(),
        };
        for member in members {
            found.push(member);
            if depth < MAX_NESTING && found.len() < 500 {
                rest.push((member, depth + 1));
            }
        }
    }
    found
}

/// Whether any message has a content block of a kind.
pub(super) fn has_block(messages: &[&Value], is_kind: impl Fn(&str) -> bool) -> bool {
    let blocks = messages.iter().filter_map(|message| message.get("content")?.as_array()).flatten();
    blocks.into_iter().any(|block| text(block, "type").is_some_and(&is_kind))
}
