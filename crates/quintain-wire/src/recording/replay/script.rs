//! Turns the frames of a capture into what a replay needs: for every recorded request its answer and what the server sent
//! before and after it, in recorded order.
//!
//! A message that the server sent unasked belongs to the request whose token, stream or subscription it names, else to the
//! request that was answered next, else to what happened last.

use std::collections::{BTreeMap, HashMap};

use super::canonical::Json;
use super::message::{Message, MessageKind, messages};
use super::reader::{CaptureContent, RecordedFrame};
use crate::era::Version;

/// A recorded request with everything that belongs to it.
#[derive(Debug)]
pub(super) struct RecordedCall {
    pub(super) method: String,
    /// The parameters without what differs from call to call.
    pub(super) params: Json,
    pub(super) request: Message,
    pub(super) before: Vec<TimedAction>,
    pub(super) answer: Option<RecordedAnswer>,
    pub(super) after: Vec<TimedAction>,
    /// The client cancelled it.
    pub(super) is_cancelled: bool,
    /// When the request was recorded.
    at: f64,
}

#[derive(Debug)]
pub(super) struct RecordedAnswer {
    pub(super) message: Message,
    pub(super) at: f64,
}

/// One thing that the server does besides answering.
#[derive(Debug, Clone)]
pub(super) struct TimedAction {
    pub(super) action: Action,
    /// When it was recorded.
    pub(super) at: f64,
    /// Whether it was sent on a stream of its own instead of the one of the request.
    pub(super) apart: bool,
    order: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    Send(Box<Message>),
    /// Wait for the client's response to the request with this recorded id.
    Wait(String),
    /// A line that is not a message.
    Text(String),
}

/// What the server did after a notification of the client.
#[derive(Debug)]
pub(super) struct Reaction {
    pub(super) method: String,
    pub(super) steps: Vec<TimedAction>,
}

/// A capture in the form in which it is replayed.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) calls: Vec<RecordedCall>,
    pub(super) reactions: Vec<Reaction>,
    /// Sent before the client sends anything.
    pub(super) opening: Vec<TimedAction>,
    exact: HashMap<(String, Json), Vec<usize>>,
    loose: HashMap<(String, Json), Vec<usize>>,
    by_method: HashMap<String, Vec<usize>>,
}

/// The recorded calls that fit a request, in recorded order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Candidates(pub(super) Vec<usize>);

/// Why no recorded call fits.
#[derive(Debug)]
pub(super) enum Unknown {
    Method,
    /// The method was recorded with other parameters.
    Params(Vec<usize>),
}

impl Script {
    pub(super) fn new(content: &CaptureContent) -> Self {
        let mut builder = Builder::default();
        for frame in &content.frames {
            builder.add(frame);
        }
        builder.finish()
    }

    /// The methods that were recorded.
    pub(super) fn methods(&self) -> Vec<&str> {
        let mut methods: Vec<&str> = self.by_method.keys().map(String::as_str).collect();
        methods.sort_unstable();
        methods
    }

    /// Finds the recorded calls for a request.
    pub(super) fn find(&self, request: &Message) -> Result<Candidates, Unknown> {
        let method = request.method();
        let Some(known) = self.by_method.get(method) else { return Err(Unknown::Method) };
        if method == "initialize" {
            return Ok(Candidates(self.with_version(request, known)));
        }
        let params = comparable(request.params.as_deref(), false);
        if let Some(found) = self.exact.get(&(method.to_owned(), params.clone())) {
            return Ok(Candidates(found.clone()));
        }
        let loose = comparable(request.params.as_deref(), true);
        if let Some(found) = self.loose.get(&(method.to_owned(), loose.clone())) {
            return Ok(Candidates(found.clone()));
        }
        let fits = |at: &&usize| {
            let recorded = without_meta(self.calls[**at].params.clone());
            recorded.is_masked() && loose.matches_masked(&recorded)
        };
        let found: Vec<usize> = known.iter().filter(fits).copied().collect();
        if found.is_empty() { Err(Unknown::Params(known.clone())) } else { Ok(Candidates(found)) }
    }

    /// The handshakes with the version that the client asks for, else all of them.
    fn with_version(&self, request: &Message, known: &[usize]) -> Vec<usize> {
        let wanted = version_of(request.params.as_deref());
        let same = |at: &&usize| {
            wanted.is_some() && version_of(self.calls[**at].request.params.as_deref()) == wanted
        };
        let found: Vec<usize> = known.iter().filter(same).copied().collect();
        if found.is_empty() { known.to_vec() } else { found }
    }
}

/// The protocol version that a handshake asks for.
pub(super) fn version_of(params: Option<&str>) -> Option<Version> {
    let params = Json::read(params?);
    match params.get("protocolVersion")? {
        Json::Text(name) => Version::find(name),
        _ => None,
    }
}

/// Parameters without what differs from call to call: the progress token, and absent values written as null or as empty.
fn comparable(params: Option<&str>, without_meta: bool) -> Json {
    let mut params = params.map_or(Json::Map(BTreeMap::new()), Json::read);
    if let Json::Map(entries) = &mut params {
        if let Some(Json::Map(meta)) = entries.get_mut("_meta") {
            meta.remove("progressToken");
        }
        let is_absent = |name: &str, value: &Json| match value {
            Json::Null => true,
            Json::Map(inner) => inner.is_empty() && matches!(name, "_meta" | "arguments"),
            _ => false,
        };
        entries.retain(|name, value| !is_absent(name, value));
    } else if params == Json::Null {
        params = Json::Map(BTreeMap::new());
    }
    if without_meta { self::without_meta(params) } else { params }
}

fn without_meta(mut params: Json) -> Json {
    if let Json::Map(entries) = &mut params {
        entries.remove("_meta");
    }
    params
}

/// Where a step belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ActionPosition {
    Opening,
    Before(usize),
    After(usize),
    Reaction(usize),
}

/// Ids are unique in a session of a recorded process only.
type IdKey = (usize, Option<String>, String);

#[derive(Default)]
struct Builder {
    script: Script,
    order: usize,
    /// Calls without an answer so far, by the order of their requests.
    pending: Vec<usize>,
    by_id: HashMap<IdKey, usize>,
    by_exchange: HashMap<(usize, String), Vec<usize>>,
    /// Where requests of the server are, by their ids.
    asked: HashMap<IdKey, Asked>,
    /// Steps that belong to the call that is answered next.
    floating: Vec<TimedAction>,
    last: Option<ActionPosition>,
    part: usize,
}

/// A request of the server.
enum Asked {
    /// The call that it belongs to is not known yet.
    Floating,
    At(ActionPosition),
}

impl Builder {
    fn add(&mut self, frame: &RecordedFrame) {
        if frame.part != self.part {
            self.settle();
            self.pending.clear();
            self.last = None;
            self.part = frame.part;
        }
        if frame.event.is_some() {
            // `endpoint` and other events of a transport are not messages.
            return;
        }
        let found = messages(&frame.text);
        if found.is_empty() {
            if !frame.is_client && frame.is_stdio {
                self.place(Action::Text(frame.text.clone()), None, frame);
            }
            return;
        }
        for message in found {
            if frame.is_client {
                self.of_client(message, frame);
            } else {
                self.of_server(message, frame);
            }
        }
    }

    fn key(frame: &RecordedFrame, id: &str) -> IdKey {
        (frame.part, frame.session.clone(), id.to_owned())
    }

    fn of_client(&mut self, message: Message, frame: &RecordedFrame) {
        match &message.kind {
            MessageKind::Request(method) => {
                let number = self.script.calls.len();
                let id = message.id().unwrap_or_default();
                self.by_id.insert(Self::key(frame, id), number);
                if let Some(exchange) = &frame.exchange {
                    let calls = self.by_exchange.entry((frame.part, exchange.clone())).or_default();
                    calls.push(number);
                }
                self.pending.push(number);
                self.script.calls.push(RecordedCall {
                    method: method.clone(),
                    params: comparable(message.params.as_deref(), false),
                    request: message,
                    before: Vec::new(),
                    answer: None,
                    after: Vec::new(),
                    is_cancelled: false,
                    at: frame.at,
                });
            }
            MessageKind::Notification(method) if method == "notifications/cancelled" => {
                let about = message.about.as_ref().map(|(id, _)| Self::key(frame, id));
                let call = about.and_then(|key| self.by_id.get(&key).copied());
                if let Some(call) = call {
                    self.script.calls[call].is_cancelled = true;
                }
            }
            MessageKind::Notification(method) => {
                let reaction = Reaction { method: method.clone(), steps: Vec::new() };
                self.last = Some(ActionPosition::Reaction(self.script.reactions.len()));
                self.script.reactions.push(reaction);
            }
            MessageKind::Response => {
                let id = message.id().unwrap_or_default().to_owned();
                let step = self.step(Action::Wait(id.clone()), frame, false);
                match self.asked.get(&Self::key(frame, &id)) {
                    Some(Asked::Floating) => self.floating.push(step),
                    Some(Asked::At(place)) => {
                        let place = *place;
                        self.push(place, step);
                    }
                    None => {}
                }
            }
        }
    }

    fn of_server(&mut self, message: Message, frame: &RecordedFrame) {
        if message.kind != MessageKind::Response {
            let asked = match &message.kind {
                MessageKind::Request(_) => message.id().map(|id| Self::key(frame, id)),
                _ => None,
            };
            return self.place(Action::Send(Box::new(message)), asked, frame);
        }
        let Some(call) = message.id().and_then(|id| self.call_of(id, frame)) else {
            // An error without an id, such as for a line that was not JSON.
            return;
        };
        // Floating steps that came after the request of this call belong to it.
        let mut floating = std::mem::take(&mut self.floating);
        for step in &mut floating {
            self.found_place(step, ActionPosition::Before(call));
        }
        let recorded = &mut self.script.calls[call];
        recorded.before.append(&mut floating);
        recorded.before.sort_by_key(|step| step.order);
        recorded.answer = Some(RecordedAnswer { message, at: frame.at });
        self.pending.retain(|pending| *pending != call);
        self.last = Some(ActionPosition::After(call));
    }

    /// The call that a response answers: on the same HTTP exchange, else in the same session.
    fn call_of(&self, id: &str, frame: &RecordedFrame) -> Option<usize> {
        let same_id = |call: &&usize| self.script.calls[**call].request.id() == Some(id);
        let exchange = frame.exchange.clone().map(|exchange| (frame.part, exchange));
        let on_exchange = exchange.and_then(|key| self.by_exchange.get(&key));
        if let Some(call) = on_exchange.and_then(|calls| calls.iter().find(same_id)) {
            return Some(*call);
        }
        self.by_id.get(&Self::key(frame, id)).copied().or_else(|| {
            // Without a number of the session, the last pending request with this id.
            self.pending.iter().rev().find(same_id).copied()
        })
    }

    fn step(&mut self, action: Action, frame: &RecordedFrame, apart: bool) -> TimedAction {
        self.order += 1;
        TimedAction { action, at: frame.at, apart, order: self.order }
    }

    /// Puts what the server sent unasked where it belongs.
    fn place(&mut self, action: Action, asked: Option<IdKey>, frame: &RecordedFrame) {
        let owner = match &action {
            Action::Send(message) => self.owner(message, frame),
            _ => None,
        };
        let apart = owner.is_none() && !frame.is_one_stream;
        let step = self.step(action, frame, apart);
        let place = match owner {
            Some(call) if self.script.calls[call].answer.is_some() => {
                Some(ActionPosition::After(call))
            }
            Some(call) => Some(ActionPosition::Before(call)),
            None if !self.pending.is_empty() => None,
            None => Some(self.last.unwrap_or(ActionPosition::Opening)),
        };
        if let Some(key) = asked {
            self.asked.insert(key, place.map_or(Asked::Floating, Asked::At));
        }
        match place {
            Some(place) => self.push(place, step),
            None => self.floating.push(step),
        }
    }

    /// The call that a message names by its token, its subscription or its stream.
    fn owner(&self, message: &Message, frame: &RecordedFrame) -> Option<usize> {
        let calls = &self.script.calls;
        let token =
            message.token.as_ref().filter(|_| matches!(message.kind, MessageKind::Notification(_)));
        let by_token = token.and_then(|(token, _)| {
            let has = |call: &&usize| {
                calls[**call].request.token.as_ref().is_some_and(|(own, _)| own == token)
            };
            self.pending.iter().rev().find(has).copied()
        });
        let by_subscription = || {
            let (id, _) = message.subscription.as_ref()?;
            self.by_id.get(&Self::key(frame, id)).copied()
        };
        let by_stream = || {
            let key = (frame.part, frame.exchange.clone()?);
            self.by_exchange.get(&key)?.iter().find(|call| self.pending.contains(call)).copied()
        };
        by_token.or_else(by_subscription).or_else(by_stream)
    }

    fn push(&mut self, place: ActionPosition, step: TimedAction) {
        let script = &mut self.script;
        match place {
            ActionPosition::Opening => script.opening.push(step),
            ActionPosition::Before(call) => script.calls[call].before.push(step),
            ActionPosition::After(call) => script.calls[call].after.push(step),
            ActionPosition::Reaction(reaction) => script.reactions[reaction].steps.push(step),
        }
    }

    /// Notes where a floating request of the server ended up.
    fn found_place(&mut self, step: &TimedAction, place: ActionPosition) {
        let Action::Send(message) = &step.action else { return };
        let MessageKind::Request(_) = message.kind else { return };
        let id = message.id().unwrap_or_default();
        let part = self.part;
        for (key, asked) in &mut self.asked {
            if key.0 == part && key.2 == id && matches!(asked, Asked::Floating) {
                *asked = Asked::At(place);
            }
        }
    }

    /// Steps that no answer followed belong to the last call without an answer.
    fn settle(&mut self) {
        let place = self.pending.last().map(|call| ActionPosition::Before(*call));
        let place = place.or(self.last).unwrap_or(ActionPosition::Opening);
        for step in std::mem::take(&mut self.floating) {
            self.push(place, step);
        }
    }

    fn finish(mut self) -> Script {
        self.settle();
        let mut script = self.script;
        for (number, call) in script.calls.iter().enumerate() {
            let loose = without_meta(call.params.clone());
            let key = (call.method.clone(), call.params.clone());
            script.exact.entry(key).or_default().push(number);
            script.loose.entry((call.method.clone(), loose)).or_default().push(number);
            script.by_method.entry(call.method.clone()).or_default().push(number);
        }
        script
    }
}

impl RecordedCall {
    /// Seconds from one moment of the recording to the next one.
    pub(super) fn gaps(&self) -> impl Iterator<Item = f64> + '_ {
        let times = self.before.iter().map(|step| step.at);
        let times = times.chain(self.answer.as_ref().map(|answer| answer.at));
        times.scan(self.at, |before, at| Some(at - std::mem::replace(before, at)))
    }
}
