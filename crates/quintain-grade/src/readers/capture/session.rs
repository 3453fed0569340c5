//! One session of a client with a server: its messages become calls, lists and violations of the protocol.

mod rules;

use std::collections::{HashMap, HashSet};

use quintain_evidence::trace::{
    Call, CallKind, CallOutcome, Listing, ProtocolFault, Trace, TraceServer, TraceStep,
};
use serde_json::Value;

use super::entry::{Body, Frame};
use super::evidence::start_of;
use super::lists::Lists;
use super::requests::{Request, Requests};
use super::rpc::{self, Rpc, Side};
use crate::json_input::prefix;
use crate::json_input::record::{id_text, text};
use crate::outcome;
use crate::readers::Position;
use crate::readers::stored_run::{call_kind, sent_args};

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

#[derive(Debug)]
pub(super) struct Session {
    pub(super) key: Option<String>,
    pub(super) started: Position,
    /// Whether several sessions are recorded without saying which message belongs to which.
    pub(super) is_shared: bool,
    /// Whether the server's process ended.
    pub(super) has_ended: bool,
    /// Whether the capture starts with the session.
    is_complete: bool,
    is_ordered: bool,
    /// Whether a frame was not recorded whole, so that it is unknown which request it answers.
    has_cut: bool,
    trace: Trace,
    calls: usize,
    order: usize,
    last_answered: usize,
    pending: Requests,
    used: HashMap<Side, HashSet<String>>,
    answered: HashSet<(Side, String)>,
    handshake: Handshake,
    is_modern: bool,
    server: TraceServer,
    server_capabilities: Option<Value>,
    client_capabilities: Option<Value>,
    version: Option<String>,
    lists: Lists,
    /// Steps of calls that continue as a task, or after the client supplied input.
    tasks: HashMap<String, usize>,
    waiting: HashMap<String, usize>,
    /// Requests before the handshake, which are wrong only if a handshake follows.
    early: Vec<ProtocolFault>,
}

/// When and how a message was sent.
#[derive(Debug, Clone, Copy)]
struct Wire {
    at: Option<f64>,
    exchange: Option<u64>,
    is_stdio: bool,
    /// Whether the id of the message is a string.
    is_text_id: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handshake {
    Missing,
    Requested,
    Done,
}

impl Session {
    pub(super) fn new(key: Option<String>, started: Position, is_complete: bool) -> Self {
        Self {
            key,
            started,
            is_shared: false,
            has_ended: false,
            is_complete,
            is_ordered: false,
            has_cut: false,
            trace: Trace { is_capture: true, ..Trace::default() },
            calls: 0,
            order: 0,
            last_answered: 0,
            pending: Requests::default(),
            used: HashMap::new(),
            answered: HashSet::new(),
            handshake: Handshake::Missing,
            is_modern: false,
            server: TraceServer::default(),
            server_capabilities: None,
            client_capabilities: None,
            version: None,
            lists: Lists::default(),
            tasks: HashMap::new(),
            waiting: HashMap::new(),
            early: Vec::new(),
        }
    }

    /// Whether a frame starts another session.
    pub(super) fn ends_with(&self, frame: &Frame) -> bool {
        let Body::Json(message) = &frame.body else { return false };
        self.handshake != Handshake::Missing
            && text(message, "method") == Some("initialize")
            // The same request again is a retry, unless another HTTP request has it.
            && (frame.exchange.is_some() || self.handshake == Handshake::Done)
    }

    /// Whether a session whose number is not known yet is the one with a number: it has just been opened.
    pub(super) fn is_opening(&self) -> bool {
        self.key.is_none() && self.handshake != Handshake::Missing
    }

    /// Whether another session that starts now runs in parallel.
    pub(super) fn is_running(&self) -> bool {
        let is_stdio = self.server.transport.as_deref().is_none_or(|name| name.contains("stdio"));
        !is_stdio || !self.pending.of(Side::Client).is_empty()
    }

    /// How well a frame answers a request of this session: 0 not at all, 1 by its id, 2 also by its HTTP request.
    pub(super) fn awaits(&self, frame: &Frame) -> u8 {
        let Body::Json(message) = &frame.body else { return 0 };
        if message.get("method").is_some() {
            return 0;
        }
        let Some(id) = message.get("id").and_then(id_text) else { return 0 };
        let sides = match frame.sender {
            Some(sender) => vec![sender.other()],
            None => vec![Side::Client, Side::Server],
        };
        let open = sides.into_iter().filter_map(|side| self.pending.get(side, &id));
        let match_of = |request: &Request| {
            1 + u8::from(frame.exchange.is_some() && request.exchange == frame.exchange)
        };
        open.map(match_of).max().unwrap_or(0)
    }

    /// Whether nothing came of the session: its opening was not answered, and repeated in another one.
    pub(super) fn is_idle(&self) -> bool {
        self.handshake == Handshake::Requested && self.trace.steps.is_empty()
    }

    pub(super) fn add(&mut self, frame: Frame) {
        self.order += 1;
        self.is_ordered = frame.is_ordered;
        let is_stdio = frame.transport.as_deref().is_none_or(|name| name.contains("stdio"));
        if let Some(transport) = &frame.transport {
            self.server.transport.get_or_insert_with(|| transport.clone());
        }
        let wire = Wire { at: frame.at, exchange: frame.exchange, is_stdio, is_text_id: false };
        match frame.body {
            Body::Cut(text) => self.add_cut(&text, frame.sender, wire),
            Body::Text(text) => {
                // Over HTTP, bodies such as `Accepted` are no messages.
                let is_meant = text.trim_start().starts_with(['{', '[']);
                if !text.trim().is_empty() && (is_stdio || is_meant) {
                    let who = frame.sender.map_or("a peer", Side::word);
                    let message = format!("the {who} wrote a line that is not JSON");
                    self.fault("malformed", None, message, text);
                }
            }
            Body::Json(Value::Array(batch)) => {
                if self.version.as_deref().is_some_and(|version| version >= "2025-06-18") {
                    let evidence =
                        Value::Array(batch.iter().take(2).cloned().collect()).to_string();
                    let message = "a batch, which this version of the protocol does not have";
                    self.fault("malformed", None, message.to_owned(), evidence);
                }
                for message in batch {
                    self.message(message, frame.sender, wire);
                }
            }
            Body::Json(message) => self.message(message, frame.sender, wire),
        }
    }

    /// A frame of which only the start was recorded. What is left of it counts as far as it is a message.
    fn add_cut(&mut self, text: &str, sender: Option<Side>, wire: Wire) {
        let message = prefix::completed(text).filter(|message| message.get("id").is_some());
        match message {
            Some(message) => self.message(message, sender, wire),
            None => self.has_cut = true,
        }
    }

    fn message(&mut self, message: Value, sender: Option<Side>, wire: Wire) {
        let evidence = start_of(&message);
        let (rpc, problem) = rpc::read(message);
        let mut call = None;
        match rpc {
            Rpc::Request { id, method, params, is_text_id } => {
                let sender = sender.unwrap_or_else(|| self.likely_sender(&id));
                let wire = Wire { is_text_id, ..wire };
                call = self.request(sender, id, method, params, wire, &evidence);
            }
            Rpc::Notification { method, params } => {
                if method == "notifications/cancelled"
                    && let Some(id) = params.get("requestId").and_then(id_text)
                {
                    let sides = sender.map_or(vec![Side::Client, Side::Server], |side| vec![side]);
                    for side in sides {
                        self.pending.cancel(side, &id);
                    }
                }
                self.note_change(&method);
            }
            Rpc::Response { id, answer, is_text_id } => {
                let wire = Wire { is_text_id, ..wire };
                call = self.response(sender, id, answer, wire, &evidence);
            }
            Rpc::Nothing => {}
        }
        if let Some(problem) = problem {
            self.fault("malformed", call, problem.to_owned(), evidence);
        }
    }

    /// The server announces that a list has changed.
    fn note_change(&mut self, method: &str) {
        let kind = match method {
            "notifications/tools/list_changed" => CallKind::Tool,
            "notifications/resources/list_changed" => CallKind::Resource,
            "notifications/prompts/list_changed" => CallKind::Prompt,
            _ => return,
        };
        let from = self.trace.steps.len();
        self.lists.forget(kind);
        // A server that announces the same change again and again adds nothing.
        let is_known = self.server.listings.last().is_some_and(|last| last.outdated == [kind]);
        if !is_known {
            self.server.listings.push(Listing { from, outdated: vec![kind], ..Listing::default() });
        }
    }

    /// Both sides send some requests, such as `ping`, and each side counts its own ids.
    fn likely_sender(&self, id: &str) -> Side {
        let is_used = self.used.get(&Side::Client).is_some_and(|ids| ids.contains(id));
        if is_used { Side::Server } else { Side::Client }
    }

    fn request(
        &mut self,
        sender: Side,
        id: String,
        method: String,
        params: Value,
        wire: Wire,
        evidence: &str,
    ) -> Option<usize> {
        let key = (sender, id.clone());
        let is_used = !self.used.entry(sender).or_default().insert(id.clone());
        let earlier = self.pending.get(sender, &id);
        let is_retry =
            earlier.is_some_and(|earlier| earlier.method == method && earlier.params == params);
        if is_retry && !wire.is_stdio {
            return earlier.and_then(|earlier| earlier.call);
        }
        let is_pending = earlier.is_some();
        if params.pointer("/_meta").is_some_and(|meta| meta.get(VERSION_KEY).is_some()) {
            self.is_modern = true;
        }
        let (call, step) = match (sender, call_kind(&method)) {
            (Side::Client, Some((kind, name))) => self.call(kind, name, &params, &id, wire.at),
            _ => (None, None),
        };
        let is_exported = id == "exported";
        if is_used
            && wire.is_stdio
            && !self.is_shared
            && !is_exported
            && (is_pending || !self.is_modern)
        {
            let message = format!("the {} uses the id `{id}` for a second request", sender.word());
            self.fault("duplicate-id", call, message, evidence.to_owned());
        }
        if sender == Side::Client {
            self.check_handshake(&method, call, evidence);
        }
        self.check_capability(&method, sender, call, evidence);
        if method == "initialize" {
            self.client_capabilities = params.get("capabilities").cloned();
            self.handshake = Handshake::Requested;
            if self.order == 1 {
                self.is_complete = true;
            }
        }
        let order = self.order;
        self.answered.remove(&key);
        let Wire { at, exchange, is_text_id, .. } = wire;
        let request = Request { method, params, call, step, order, at, exchange, is_text_id };
        self.pending.insert(sender, id, request);
        call
    }

    /// Adds a call, unless the request continues an earlier one with the input that the server asked for.
    fn call(
        &mut self,
        kind: CallKind,
        name: &str,
        params: &Value,
        id: &str,
        at: Option<f64>,
    ) -> (Option<usize>, Option<usize>) {
        let name = text(params, name).unwrap_or_default();
        if params.get("inputResponses").is_some()
            && let Some(step) = self.waiting.remove(&waiting_key(kind, name))
        {
            return (None, Some(step));
        }
        let step = self.trace.steps.len();
        let call = Call::new(kind, name, sent_args(params));
        let id = Some(id.to_owned()).filter(|id| id != "exported");
        let at = at.filter(|at| *at >= 1e8);
        self.trace.call(Call { id, at, ..call });
        self.calls += 1;
        (Some(self.calls - 1), Some(step))
    }

    /// Handles a response, and returns the position of the call that it belongs to.
    fn response(
        &mut self,
        sender: Option<Side>,
        id: Option<String>,
        answer: Result<Value, Value>,
        wire: Wire,
        evidence: &str,
    ) -> Option<usize> {
        // The server may not have understood which request it answers.
        let id = id?;
        let sides = sender.map_or(vec![Side::Client, Side::Server], |side| vec![side.other()]);
        let keys = sides.into_iter().map(|side| (side, id.clone()));
        let keys: Vec<(Side, String)> = keys.collect();
        let found = keys.iter().find_map(|key| {
            let request = self.pending.take(key.0, &key.1, wire.exchange)?;
            Some((key.clone(), request))
        });
        let Some((key, pending)) = found else {
            self.unexpected(&keys, wire.is_stdio, evidence);
            return None;
        };
        if pending.is_text_id != wire.is_text_id {
            let message =
                format!("the response has the id `{id}` as another type than its request");
            self.fault("malformed", pending.call, message, evidence.to_owned());
        }
        let side = key.0;
        self.answered.insert(key);
        if side == Side::Server {
            return None;
        }
        self.last_answered = self.last_answered.max(pending.order);
        self.learn(&pending, &answer);
        match pending.step.or_else(|| self.task_step(&pending)) {
            Some(step) => self.finish_call(step, &pending, answer, wire.at),
            None => {
                if let Ok(mut result) = answer {
                    self.list(&pending, &mut result);
                }
            }
        }
        pending.call
    }

    /// Keeps what responses show about the server.
    fn learn(&mut self, pending: &Request, answer: &Result<Value, Value>) {
        let Ok(result) = answer else { return };
        if pending.method == "initialize" {
            self.handshake = Handshake::Done;
            self.server_capabilities = result.get("capabilities").cloned();
            self.version = text(result, "protocolVersion").map(str::to_owned);
        }
        let meta = result.get("_meta").and_then(|meta| meta.get(SERVER_KEY));
        let Some(info) = result.get("serverInfo").or(meta) else { return };
        if self.server.name.is_none() {
            self.server.name = text(info, "name").map(str::to_owned);
            self.server.version = text(info, "version").map(str::to_owned);
        }
    }

    fn list(&mut self, pending: &Request, result: &mut Value) {
        let has_cursor = pending.params.get("cursor").is_some_and(|cursor| !cursor.is_null());
        let from = self.trace.steps.len();
        if let Some(listing) = self.lists.add(&pending.method, has_cursor, result, from) {
            self.server.listings.push(listing);
        }
    }

    /// The call whose task a request asks about.
    fn task_step(&self, pending: &Request) -> Option<usize> {
        let is_about = matches!(pending.method.as_str(), "tasks/result" | "tasks/get");
        let id = text(&pending.params, "taskId").filter(|_| is_about)?;
        self.tasks.get(id).copied()
    }

    fn finish_call(
        &mut self,
        step: usize,
        pending: &Request,
        answer: Result<Value, Value>,
        at: Option<f64>,
    ) {
        let mut outcome = match answer {
            Err(error) => outcome::of_error(error),
            Ok(result) => CallOutcome::Result(result),
        };
        if pending.method == "tasks/get" {
            let CallOutcome::Result(task) = &mut outcome else { return };
            // Only a finished task has a result.
            let Some(result) = task.get_mut("result").map(Value::take).filter(Value::is_object)
            else {
                return;
            };
            outcome = CallOutcome::Result(result);
        }
        let Some(TraceStep::Call(call)) = self.trace.steps.get_mut(step) else { return };
        if let CallOutcome::Result(result) = &outcome {
            let task = result.pointer("/task/taskId").or_else(|| result.get("taskId"));
            if let Some(task) = task.and_then(Value::as_str) {
                self.tasks.insert(task.to_owned(), step);
                return;
            }
            if text(result, "resultType") == Some("input_required") {
                self.waiting.insert(waiting_key(call.kind, &call.name), step);
            }
        }
        call.outcome = outcome;
        let took = at.zip(pending.at).map(|(end, start)| (end - start) * 1e3);
        call.took_ms = took.filter(|took| *took >= 0.0).or(call.took_ms);
    }

    pub(super) fn finish(mut self) -> Trace {
        // Without a handshake the capture may have started in the middle of the session.
        if self.handshake != Handshake::Missing || self.is_complete {
            let early = std::mem::take(&mut self.early);
            let is_legacy = !self.is_modern;
            for fault in early.into_iter().filter(|_| is_legacy) {
                self.fault(&fault.rule, fault.call, fault.message, fault.evidence);
            }
        }
        self.report_unanswered();
        for step in &mut self.trace.steps {
            if let TraceStep::Call(call) = step {
                call.server.clone_from(&self.server.name);
            }
        }
        if let Some(version) = self.version.take() {
            self.trace.labels.insert("protocolVersion".to_owned(), version.into());
        }
        if self.server != TraceServer::default() {
            self.trace.servers.push(self.server);
        }
        self.trace.id = self.key;
        self.trace
    }
}

fn waiting_key(kind: CallKind, name: &str) -> String {
    format!("{} {name}", kind.word())
}

#[cfg(test)]
mod tests;
