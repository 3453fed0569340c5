//! The spans of one trace id into one trace: calls from the spans of tools, and what was said from the messages that
//! spans of models carry. Spans repeat the history of the conversation; it is kept once.

use std::collections::{HashMap, HashSet};

use quintain_evidence::trace::{Args, Call, CallKind, CallOutcome, Role, Trace, TraceStep};
use serde_json::{Map, Value, json};

use super::span::{Span, decoded};
use super::table::{self, Field};
use crate::json_input::record::{id_text, text};
use crate::outcome;
use crate::readers::conversation::Conversation;
use crate::readers::message;

/// What is kept of a span.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) start: f64,
    pub(super) end: f64,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Call(Box<Call>),
    /// Messages in the order of the conversation; those of the model from `written` on.
    Messages {
        messages: Vec<Value>,
        written: usize,
        tools: Vec<Value>,
    },
}

/// The part of a span that belongs to the conversation.
pub(super) fn content(span: &Span) -> Option<Content> {
    if let Some(call) = call(span) {
        return Some(Content::Call(Box::new(call)));
    }
    let (messages, written) = messages(span);
    let tools = match span.json(Field::ToolDefinitions) {
        Some(Value::Array(tools)) => tools,
        _ => Vec::new(),
    };
    (!messages.is_empty() || !tools.is_empty()).then_some(Content::Messages {
        messages,
        written,
        tools,
    })
}

fn call(span: &Span) -> Option<Call> {
    let method = span.text(Field::Method);
    let operation = span.text(Field::Operation);
    let kind = span.text(Field::SpanKind);
    let is_tool = operation.as_deref() == Some("execute_tool")
        || kind.is_some_and(|kind| kind.eq_ignore_ascii_case("tool"));
    let (kind, name) = match method.as_deref() {
        Some("tools/call") => (CallKind::Tool, span.text(Field::ToolName)),
        Some("resources/read") => (CallKind::Resource, span.text(Field::ResourceUri)),
        Some("prompts/get") => (CallKind::Prompt, span.text(Field::PromptName)),
        // Another method of MCP is no call, whatever else the span says.
        Some(method) if method.contains('/') || method == "initialize" => return None,
        _ if is_tool => (CallKind::Tool, span.text(Field::ToolName)),
        _ => return None,
    };
    let named = span.name.split_once(' ').map(|(_, name)| name.to_owned());
    let name = name.or(named).filter(|name| !name.is_empty())?;
    let mut call = Call::new(kind, name, args(span, kind));
    call.id = span.text(Field::CallId);
    call.server = span.text(Field::Server);
    call.at = Some(span.start);
    call.took_ms = Some((span.end - span.start) * 1e3).filter(|took| *took >= 0.0);
    call.parent.clone_from(&span.parent);
    call.outcome = call_outcome(span);
    Some(call)
}

fn args(span: &Span, kind: CallKind) -> Args {
    match span.get(Field::Arguments) {
        Some(Value::String(text)) => Args::from_text(text),
        Some(other) => Args::Json(other.clone()),
        None if kind == CallKind::Resource => Args::default(),
        // Only an object can be the arguments; other text is how the program was called.
        None => match span.json(Field::LooseArguments) {
            Some(object @ Value::Object(_)) => Args::Json(object),
            _ => Args::Unknown,
        },
    }
}

fn call_outcome(span: &Span) -> CallOutcome {
    let result = span.get(Field::Result).or_else(|| span.get(Field::LooseResult)).cloned();
    let error_type = span.text(Field::ErrorType);
    let code = span.text(Field::ErrorCode).or_else(|| error_type.clone());
    let code = code.and_then(|code| code.parse::<i64>().ok()).filter(|code| *code < 0);
    if !span.is_error && error_type.is_none() {
        return result.map_or(CallOutcome::Unknown, outcome::of);
    }
    let exception = span.events.iter().find(|(name, _)| name == "exception");
    let exception = exception.and_then(|(_, attributes)| attributes.get("exception.message"));
    let message = span.status.clone().filter(|message| !message.is_empty());
    let message = message.or_else(|| exception.and_then(id_text));
    if error_type.as_deref() == Some("tool_error") || result.is_some() {
        return match result.map(outcome::of) {
            Some(CallOutcome::Result(Value::Object(mut result)))
                if result.contains_key("content") =>
            {
                result.insert("isError".to_owned(), true.into());
                CallOutcome::Result(result.into())
            }
            Some(CallOutcome::Result(other)) => outcome::of_content(
                id_text(&other).unwrap_or_else(|| other.to_string()).into(),
                true,
            ),
            Some(other @ CallOutcome::Error { .. }) => other,
            _ => outcome::of_content(message.map_or(Value::Null, Value::from), true),
        };
    }
    let message = message.or(error_type).unwrap_or_else(|| "the span failed".to_owned());
    CallOutcome::Error { code, message, data: None }
}

/// The messages of a span, and how many of them the model read.
fn messages(span: &Span) -> (Vec<Value>, usize) {
    let mut read = Vec::new();
    let mut written = Vec::new();
    collect(&span.attributes, &mut read, &mut written);
    for (name, attributes) in &span.events {
        let role = table::MESSAGE_EVENTS.iter().find(|(known, _)| known == name);
        match role {
            Some((name, role)) => {
                let list = if *name == "gen_ai.choice" { &mut written } else { &mut read };
                list.push(event_message(role, attributes));
            }
            None => collect(attributes, &mut read, &mut written),
        }
    }
    let count = read.len();
    read.append(&mut written);
    (read, count)
}

fn collect(attributes: &Map<String, Value>, read: &mut Vec<Value>, written: &mut Vec<Value>) {
    let list = |field: Field| {
        let value = table::names(field).iter().find_map(|name| attributes.get(*name))?;
        decoded(value)
    };
    match list(Field::SystemInstructions) {
        Some(parts @ Value::Array(_)) => read.push(json!({"role": "system", "parts": parts})),
        Some(Value::String(text)) => read.push(json!({"role": "system", "content": text})),
        _ => {}
    }
    for (field, messages) in
        [(Field::InputMessages, &mut *read), (Field::OutputMessages, &mut *written)]
    {
        if let Some(Value::Array(found)) = list(field) {
            messages.extend(found);
        }
    }
    for (prefix, before, is_written) in table::INDEXED {
        let found = indexed(attributes, prefix, before);
        if *is_written { written.extend(found) } else { read.extend(found) }
    }
}

/// Messages that are spread over attributes such as `gen_ai.prompt.0.role`.
fn indexed(attributes: &Map<String, Value>, prefix: &str, before: &str) -> Vec<Value> {
    let mut messages: std::collections::BTreeMap<usize, Map<String, Value>> =
        std::collections::BTreeMap::new();
    for (key, value) in attributes {
        let Some((index, member)) = key.strip_prefix(prefix).and_then(|rest| rest.split_once('.'))
        else {
            continue;
        };
        let Ok(index) = index.parse::<usize>() else { continue };
        let member = member.strip_prefix(before).unwrap_or(member);
        if matches!(member, "role" | "content" | "tool_call_id" | "name") {
            messages.entry(index).or_default().insert(member.to_owned(), value.clone());
        }
    }
    messages
        .into_values()
        .filter(|message| message.contains_key("role"))
        .map(Value::Object)
        .collect()
}

fn event_message(role: &str, attributes: &Map<String, Value>) -> Value {
    let mut message = Map::new();
    for (key, value) in attributes {
        let value = if matches!(key.as_str(), "tool_calls" | "message") {
            decoded(value).unwrap_or_else(|| value.clone())
        } else {
            value.clone()
        };
        match (key.as_str(), value) {
            ("message", Value::Object(inner)) => message.extend(inner),
            ("id", id) => {
                message.insert("tool_call_id".to_owned(), id);
            }
            (_, value) => {
                message.insert(key.clone(), value);
            }
        }
    }
    message.entry("role").or_insert_with(|| role.into());
    message.into()
}

/// A step with its time; the order of equal times is that of the spans.
struct Event {
    at: f64,
    step: TraceStep,
}

/// Builds the trace. `parents` has the parent of every span, also of those that are not kept.
pub(super) fn assemble(mut nodes: Vec<Node>, parents: &HashMap<String, String>) -> Trace {
    nodes.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut calls: Vec<(String, Call)> = Vec::new();
    let mut by_span: HashMap<String, usize> = HashMap::new();
    let mut talks = Vec::new();
    for node in nodes {
        match node.content {
            Content::Call(call) => {
                let outer = ancestor(&node.id, &call, parents, &by_span, &calls);
                by_span.insert(node.id.clone(), outer.unwrap_or(calls.len()));
                match outer {
                    Some(outer) => merge(&mut calls[outer].1, *call),
                    None => calls.push((node.id, *call)),
                }
            }
            Content::Messages { messages, written, tools } => {
                talks.push((node.start, node.end, messages, written, tools));
            }
        }
    }
    let mut added = Added::new(&calls);
    let mut talk = Conversation::default();
    let mut events = Vec::new();
    let mut asked_from = f64::NEG_INFINITY;
    for (start, end, messages, written, tools) in talks {
        talk.offer(tools);
        // A span that only writes the answer knows the request as well, which came before what was called for it.
        let made = calls.iter().filter_map(|(_, call)| call.at);
        let asked = made.filter(|at| (asked_from..start).contains(at)).fold(start, f64::min);
        added.add(messages, written, Times { asked, start, end }, &mut events);
        asked_from = asked_from.max(end);
    }
    for (_, call) in calls {
        let at = call.at.unwrap_or_default();
        events.push(Event { at, step: TraceStep::Call(Box::new(call)) });
    }
    events.sort_by(|a, b| a.at.total_cmp(&b.at));
    talk.trace.steps = events.into_iter().map(|event| event.step).collect();
    talk.finish()
}

/// The call in which a call was made on its way to the server: the same tool, further out.
fn ancestor(
    span: &str,
    call: &Call,
    parents: &HashMap<String, String>,
    by_span: &HashMap<String, usize>,
    calls: &[(String, Call)],
) -> Option<usize> {
    let mut at = span;
    // Ids in a file may form a ring.
    for _ in 0..100 {
        at = parents.get(at)?;
        if let Some(outer) = by_span.get(at) {
            let same = &calls[*outer].1;
            return (same.kind == call.kind && same.name == call.name).then_some(*outer);
        }
    }
    None
}

/// The inner span of a call knows more about the server.
fn merge(outer: &mut Call, inner: Call) {
    if outer.args == Args::Unknown {
        outer.args = inner.args;
    }
    if outer.outcome == CallOutcome::Unknown {
        outer.outcome = inner.outcome;
    }
    outer.server = outer.server.take().or(inner.server);
    outer.id = outer.id.take().or(inner.id);
}

/// When the messages of a span were said.
struct Times {
    /// New messages of the user at the start.
    asked: f64,
    start: f64,
    end: f64,
}

/// What was added before, and how often.
struct Added {
    times: HashMap<String, usize>,
    by_id: HashSet<String>,
    by_name: HashSet<String>,
}

impl Added {
    /// Calls that have spans of their own are not added again from messages.
    fn new(calls: &[(String, Call)]) -> Self {
        Self {
            times: HashMap::new(),
            by_id: calls.iter().filter_map(|(_, call)| call.id.clone()).collect(),
            by_name: calls.iter().map(|(_, call)| call.name.clone()).collect(),
        }
    }

    fn add(&mut self, messages: Vec<Value>, written: usize, times: Times, events: &mut Vec<Event>) {
        let mut talk = Conversation::default();
        let mut read = 0;
        for (index, message) in messages.into_iter().enumerate() {
            if index == written {
                read = talk.trace.steps.len();
            }
            // A message of an unknown kind is skipped; the span has others.
            let _ = message::add(&mut talk, message, None);
        }
        if written == 0 {
            read = 0;
        } else if read == 0 {
            read = talk.trace.steps.len();
        }
        let mut here: HashMap<String, usize> = HashMap::new();
        let mut is_request = true;
        for (index, step) in talk.trace.steps.into_iter().enumerate() {
            let Some(key) = self.key(&step) else { continue };
            let count = here.entry(key.clone()).or_default();
            *count += 1;
            let added = self.times.entry(key).or_default();
            if *count <= *added {
                continue;
            }
            *added += 1;
            let is_asked = step.as_message().is_some_and(|said| said.role != Role::Assistant);
            is_request &= is_asked && index < read;
            let at = match index < read {
                true if is_request => times.asked,
                true => times.start,
                false => times.end,
            };
            events.push(Event { at, step });
        }
    }

    fn key(&self, step: &TraceStep) -> Option<String> {
        match step {
            TraceStep::Message(said) => {
                let role = match said.role {
                    Role::System => 's',
                    Role::User => 'u',
                    Role::Assistant => 'a',
                };
                Some(format!("{role} {}", said.text))
            }
            TraceStep::Call(call) => {
                let has_span = call.id.as_ref().is_some_and(|id| self.by_id.contains(id))
                    || self.by_name.contains(&call.name);
                let id =
                    call.id.clone().unwrap_or_else(|| format!("{} {:?}", call.name, call.args));
                (!has_span).then(|| format!("c {id}"))
            }
        }
    }
}

/// The session that a span belongs to, for the labels.
pub(super) fn conversation_id(span: &Span) -> Option<String> {
    span.text(Field::Conversation)
        .or_else(|| text(span.attributes.get("gen_ai.conversation")?, "id").map(str::to_owned))
}
