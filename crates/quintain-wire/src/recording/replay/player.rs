//! Plays a script for one session with a client: answers its requests, and sends what the server sent unasked, with the
//! ids and tokens of this session. Knows nothing of transports.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::message::{Message, MessageKind};
use super::script::{Action, RecordedCall, Script, TimedAction, Unknown, version_of};
use crate::era::Version;
use crate::recording::json_text::{edited, place_of, quoted};

/// How long to wait for the client's response to a request of the server.
const PATIENCE: Duration = Duration::from_mins(1);
/// Pauses of the recording are shortened to this. Some clients drop a notification that the answer follows at once.
const LONGEST_PAUSE: f64 = 0.01;
const SHORTEST_PAUSE: f64 = 0.001;
/// Maximum number of recorded parameters in an error.
const SHOWN: usize = 20;
const METHOD_NOT_FOUND: i64 = -32_601;
const INVALID_PARAMS: i64 = -32_602;
const INTERNAL: i64 = -32_603;

/// A message for the client.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) text: String,
    /// Whether it was recorded on a stream of its own instead of the one of the request.
    pub(super) apart: bool,
    /// Whether it is a message, and not a line that only a pipe can carry.
    pub(super) is_message: bool,
}

/// Passes messages on to the client.
pub(super) type Out = Arc<dyn Fn(Sent) + Send + Sync>;

/// One session.
pub(super) struct Player {
    script: Arc<Script>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How often requests of a kind were answered.
    answered: HashMap<Vec<usize>, usize>,
    notified: HashMap<String, usize>,
    /// Ids of the server's requests in this session.
    used: HashSet<String>,
    /// The new id of a recorded one.
    renamed: HashMap<String, String>,
    waiting: HashMap<String, oneshot::Sender<()>>,
    /// Requests that the client cancelled before their answer.
    cancelled: HashSet<String>,
    /// Requests that are being answered.
    playing: HashSet<String>,
    next: u64,
}

/// What the player found for a request.
pub(super) enum Reply {
    /// A recorded call, by its number.
    Recorded(usize),
    /// An answer that was not recorded.
    Own(String),
}

impl Player {
    pub(super) fn new(script: Arc<Script>) -> Arc<Self> {
        Arc::new(Self { script, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Chooses the reply to a request; each call counts as one repetition.
    pub(super) fn choose(&self, request: &Message) -> Reply {
        let id = request.id().unwrap_or("null");
        let method = request.method();
        let found = match self.script.find(request) {
            Ok(found) => found.0,
            Err(_) if method == "ping" => return Reply::Own(result(id, "{}")),
            Err(unknown) => return Reply::Own(self.refusal(id, method, &unknown)),
        };
        let turn = {
            let mut state = self.state();
            let count = state.answered.entry(found.clone()).or_default();
            *count += 1;
            (*count - 1).min(found.len() - 1)
        };
        let call = &self.script.calls[found[turn]];
        if call.answer.is_none() && !call.is_cancelled && !stays_open(call) {
            let what = format!("the recording of `{method}` ends before its answer");
            return Reply::Own(error(id, INTERNAL, &what, &Value::Null));
        }
        Reply::Recorded(found[turn])
    }

    /// Whether a call is more than its answer on the stream of the request. Without another stream, everything is sent on
    /// that one.
    pub(super) fn needs_stream(&self, call: usize, has_other: bool) -> bool {
        let call = &self.script.calls[call];
        let is_sent = |step: &TimedAction| {
            matches!(step.action, Action::Send(_)) && !(step.apart && has_other)
        };
        call.answer.is_none() || call.before.iter().any(is_sent)
    }

    /// Plays what comes before the answer, and returns the answer. None if the server never answered.
    pub(super) async fn play(&self, number: usize, request: &Message, out: &Out) -> Option<String> {
        let call = &self.script.calls[number];
        let id = request.id().unwrap_or_default();
        self.state().playing.insert(id.to_owned());
        let mut asked = HashMap::new();
        let mut gaps = call.gaps();
        for step in &call.before {
            pause(gaps.next()).await;
            self.perform(step, Some((request, call)), &mut asked, out).await;
        }
        let answer = call.answer.as_ref()?;
        if !call.before.is_empty() {
            pause(gaps.next()).await;
        }
        self.state().playing.remove(id);
        if self.state().cancelled.remove(request.id().unwrap_or_default()) {
            return None;
        }
        let (_, place) = answer.message.id.as_ref()?;
        let text = answer.message.with(vec![(place, request.id().unwrap_or("null"))]);
        Some(if request.method() == "initialize" { negotiated(text, request) } else { text })
    }

    /// Plays what followed the answer.
    pub(super) async fn follow(&self, number: usize, request: &Message, out: &Out) {
        let call = &self.script.calls[number];
        let mut asked = HashMap::new();
        for step in &call.after {
            self.perform(step, Some((request, call)), &mut asked, out).await;
        }
    }

    /// Plays what the server sent before any request.
    pub(super) async fn open(&self, out: &Out) {
        let mut asked = HashMap::new();
        for step in &self.script.opening {
            self.perform(step, None, &mut asked, out).await;
        }
    }

    /// Plays what the server sent after the same notification.
    pub(super) async fn react(&self, notification: &Message, out: &Out) {
        let method = notification.method();
        if let ("notifications/cancelled", Some((id, _))) = (method, &notification.about) {
            let mut state = self.state();
            if state.playing.contains(id) {
                state.cancelled.insert(id.clone());
            }
            return;
        }
        let turn = {
            let mut state = self.state();
            let count = state.notified.entry(method.to_owned()).or_default();
            *count += 1;
            *count - 1
        };
        let reactions = self.script.reactions.iter();
        let Some(reaction) = reactions.filter(|reaction| reaction.method == method).nth(turn)
        else {
            return;
        };
        let mut asked = HashMap::new();
        for step in &reaction.steps {
            self.perform(step, None, &mut asked, out).await;
        }
    }

    /// Takes the client's response to a request of the server.
    pub(super) fn answered(&self, response: &Message) {
        let sender = response.id().and_then(|id| self.state().waiting.remove(id));
        if let Some(sender) = sender {
            let _ = sender.send(());
        }
    }

    /// The client is gone and answers nothing any more.
    pub(super) fn stop_waiting(&self) {
        self.state().waiting.clear();
    }

    async fn perform(
        &self,
        step: &TimedAction,
        of: Option<(&Message, &RecordedCall)>,
        asked: &mut HashMap<String, oneshot::Receiver<()>>,
        out: &Out,
    ) {
        let (text, is_message) = match &step.action {
            Action::Wait(id) => {
                if let Some(answered) = asked.remove(id) {
                    let _ = tokio::time::timeout(PATIENCE, answered).await;
                }
                return;
            }
            Action::Text(text) => (text.clone(), false),
            Action::Send(message) => match self.renewed(message, of, asked) {
                Some(text) => (text, true),
                None => return,
            },
        };
        out(Sent { text, apart: step.apart, is_message });
    }

    /// A recorded message with the ids and tokens of this session. None if it reports progress that nobody asked for.
    fn renewed(
        &self,
        message: &Message,
        of: Option<(&Message, &RecordedCall)>,
        asked: &mut HashMap<String, oneshot::Receiver<()>>,
    ) -> Option<String> {
        let mut edits: Vec<(&std::ops::Range<usize>, &str)> = Vec::new();
        let token =
            message.token.as_ref().filter(|_| matches!(message.kind, MessageKind::Notification(_)));
        if let (Some((token, place)), Some((request, call))) = (token, of) {
            let is_own = call.request.token.as_ref().is_some_and(|(own, _)| own == token);
            if is_own {
                let (new, _) = request.token.as_ref()?;
                edits.push((place, new));
            }
        }
        if let (Some((id, place)), Some((request, call))) = (&message.subscription, of)
            && call.request.id() == Some(id)
        {
            edits.push((place, request.id()?));
        }
        let mut state = self.state();
        let renamed;
        if let Some((about, place)) = &message.about
            && let Some(new) = state.renamed.get(about)
        {
            renamed = new.clone();
            edits.push((place, &renamed));
        }
        let fresh;
        if let (MessageKind::Request(_), Some((id, place))) = (&message.kind, &message.id) {
            fresh = state.fresh_id(id);
            let (answer, answered) = oneshot::channel();
            state.waiting.insert(fresh.clone(), answer);
            state.renamed.insert(id.clone(), fresh.clone());
            asked.insert(id.clone(), answered);
            edits.push((place, &fresh));
        }
        Some(message.with(edits))
    }

    fn refusal(&self, id: &str, method: &str, unknown: &Unknown) -> String {
        let calls = &self.script.calls;
        match unknown {
            Unknown::Method => {
                let what = format!("`{method}` is not in the recording");
                error(id, METHOD_NOT_FOUND, &what, &json!({"recorded": self.script.methods()}))
            }
            Unknown::Params(known) => {
                let params = |at: &usize| calls[*at].request.params.clone();
                let mut recorded: Vec<String> = known.iter().filter_map(params).collect();
                recorded.dedup();
                let count = recorded.len();
                recorded.truncate(SHOWN);
                let what = format!("`{method}` was not recorded with these parameters");
                let data = json!({"method": method, "recorded": recorded, "count": count});
                error(id, INVALID_PARAMS, &what, &data)
            }
        }
    }
}

impl State {
    /// The recorded id, or another one if it was used in this session.
    fn fresh_id(&mut self, id: &str) -> String {
        let mut fresh = id.to_owned();
        while !self.used.insert(fresh.clone()) {
            self.next += 1;
            fresh = if id.starts_with('"') {
                quoted(&format!("{}-{}", id.trim_matches('"'), self.next))
            } else {
                (1_000_000 + self.next).to_string()
            };
        }
        fresh
    }
}

/// A request that is answered by a stream, which ends with the connection.
fn stays_open(call: &RecordedCall) -> bool {
    call.method == "subscriptions/listen"
}

async fn pause(gap: Option<f64>) {
    let gap = gap.unwrap_or_default();
    if gap >= SHORTEST_PAUSE {
        tokio::time::sleep(Duration::from_secs_f64(gap.min(LONGEST_PAUSE))).await;
    }
}

fn result(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// A JSON-RPC error of the replay itself.
pub(super) fn error(id: &str, code: i64, what: &str, data: &Value) -> String {
    let mut error = json!({"code": code, "message": what});
    if !data.is_null() {
        error["data"] = data.clone();
    }
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// The answer to a handshake with a version that the client understands: a server that speaks a version is taken to speak
/// the older ones, too.
fn negotiated(text: String, request: &Message) -> String {
    #[derive(Deserialize)]
    struct Hello<'a> {
        #[serde(borrow)]
        result: Option<Inner<'a>>,
    }
    #[derive(Deserialize)]
    struct Inner<'a> {
        #[serde(borrow, rename = "protocolVersion")]
        version: Option<&'a RawValue>,
    }
    let Some(wanted) = version_of(request.params.as_deref()) else { return text };
    let hello: Option<Hello<'_>> = serde_json::from_str(&text).ok();
    let version = hello.and_then(|hello| hello.result?.version);
    let Some(place) = version.and_then(|version| place_of(version.get(), &text)) else {
        return text;
    };
    let recorded = Version::find(text[place.clone()].trim_matches('"'));
    match recorded {
        Some(recorded) if wanted < recorded => edited(&text, &[(place, quoted(wanted.name()))]),
        _ => text,
    }
}
