//! One conversation with a target: requests wait for responses, everything else becomes a notice.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use tokio::time::timeout_at;

use super::call::{CallError, Deadline, Reply, Request};
use super::encode;
use super::notices::{Notice, Notices};
use super::responder::Responder;
use crate::frame::{Direction, Recording};
use crate::limits::Limits;
use crate::message::{self, Id, Message, Oversized, Part, RpcError};
use crate::transport::{self, Headers, Outgoing, Sink, Transport, TransportError};

/// Answers to a target's own requests that may be in the making at once.
const ANSWERS_AT_ONCE: usize = 64;
/// How much of a frame that is no message is kept.
const EXCERPT: usize = 200;
/// Requests that are remembered after nobody waits for them any more.
const ABANDONED: usize = 64;

struct Settled {
    frame: Bytes,
    outcome: Result<Bytes, CallError>,
    at: Instant,
    notices: Vec<Notice>,
}

struct Waiter {
    tx: oneshot::Sender<Settled>,
    progressed: Instant,
    notices: Vec<Notice>,
}

struct Shared {
    waiting: Mutex<HashMap<Id, Waiter>>,
    /// Requests that were given up lately; an answer to one of them is late, not stray.
    abandoned: Mutex<VecDeque<Id>>,
    notices: Notices,
    responder: Arc<dyn Responder>,
    answering: Arc<AtomicUsize>,
    recording: Recording,
    limits: Limits,
    transport: OnceLock<Weak<dyn Transport>>,
    ambient: RwLock<Headers>,
    ended: OnceLock<TransportError>,
}

/// One conversation. Dropping it ends the transport.
pub struct Connection {
    shared: Arc<Shared>,
    transport: Arc<dyn Transport>,
    next_id: AtomicI64,
    cancels_by_notice: AtomicBool,
}

impl Connection {
    /// Opens a transport with `open`, which is handed the sink for what it reads.
    ///
    /// # Errors
    /// When the transport cannot be opened.
    pub async fn open<T, F>(
        open: impl FnOnce(Arc<dyn Sink>) -> F,
        responder: Arc<dyn Responder>,
        recording: Recording,
        limits: Limits,
    ) -> Result<Self, TransportError>
    where
        T: Transport + 'static,
        F: Future<Output = Result<T, TransportError>>,
    {
        let shared = Arc::new(Shared {
            waiting: Mutex::default(),
            abandoned: Mutex::default(),
            notices: Notices::new(limits.notices),
            responder,
            answering: Arc::default(),
            recording,
            limits,
            transport: OnceLock::new(),
            ambient: RwLock::default(),
            ended: OnceLock::new(),
        });
        let transport: Arc<dyn Transport> = Arc::new(open(shared.clone()).await?);
        // The transport's tasks hold the sink; a weak reference back keeps the two from owning
        // each other.
        let _ = shared.transport.set(Arc::downgrade(&transport));
        Ok(Self {
            shared,
            transport,
            next_id: AtomicI64::new(1),
            cancels_by_notice: AtomicBool::new(true),
        })
    }

    /// Sends a request with an id of ours and waits for its response.
    ///
    /// # Errors
    /// When there is no result: see [`CallError`].
    pub async fn request(&self, request: Request<'_>) -> Result<Reply, CallError> {
        self.request_as(Id::Number(self.fresh_id()), request).await
    }

    /// Sends a request with any id and waits for its response.
    ///
    /// # Errors
    /// When there is no result: see [`CallError`].
    pub async fn request_as(&self, id: Id, request: Request<'_>) -> Result<Reply, CallError> {
        let bytes = encode::request(&id, request.method, &request.params);
        let mut in_flight = self.expect(id.clone(), request.cancellable);
        let started = Instant::now();
        self.transport_send(Outgoing {
            bytes,
            expects: Some(id),
            headers: request.headers,
            opens_session: request.opens_session,
            delivered: None,
        });
        let settled = in_flight.settled(request.deadline, started).await?;
        let result = settled.outcome?;
        Ok(Reply {
            frame: settled.frame,
            result,
            took: settled.at.duration_since(started),
            notices: settled.notices,
            parts_limit: self.shared.limits.parts,
        })
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: &Map<String, Value>) {
        self.transport_send(Outgoing {
            bytes: encode::notification(method, params),
            ..Outgoing::default()
        });
    }

    /// Sends a notification and waits until the target has taken it.
    ///
    /// # Errors
    /// When it does not take it in time.
    pub async fn notify_delivered(
        &self,
        method: &str,
        params: &Map<String, Value>,
        within: Duration,
    ) -> Result<(), TransportError> {
        let (delivered, taken) = oneshot::channel();
        self.transport_send(Outgoing {
            bytes: encode::notification(method, params),
            delivered: Some(delivered),
            ..Outgoing::default()
        });
        match tokio::time::timeout(within, taken).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(TransportError::Closed),
            Err(_) => Err(TransportError::TimedOut { after: within }),
        }
    }

    /// Sends any bytes at all; `expects` names the id whose response is awaited, if one is.
    pub(crate) fn send_bytes(&self, bytes: Bytes, expects: Option<Id>, headers: Headers) {
        self.transport_send(Outgoing { bytes, expects, headers, ..Outgoing::default() });
    }

    /// Waits for a response to `id`, which something else sends.
    pub(crate) fn expect(&self, id: Id, cancel: bool) -> InFlight<'_> {
        let (tx, rx) = oneshot::channel();
        let waiter = Waiter { tx, progressed: Instant::now(), notices: Vec::new() };
        // Looked at under the lock that `end` drains under, so that no waiter slips in between.
        let mut waiting = self.shared.waiting();
        match self.shared.ended.get() {
            Some(error) => waiter.settle(Bytes::new(), Err(error.clone().into())),
            None => drop(waiting.insert(id.clone(), waiter)),
        }
        drop(waiting);
        InFlight { connection: self, id: Some(id), rx, cancel }
    }

    /// Headers that go with every message from now on.
    pub fn set_ambient_headers(&self, headers: Headers) {
        *self.shared.ambient.write().unwrap_or_else(PoisonError::into_inner) = headers;
    }

    /// Whether an abandoned request is announced; over modern HTTP, closing its stream says it.
    pub fn set_cancels_by_notice(&self, yes: bool) {
        self.cancels_by_notice.store(yes, Ordering::Relaxed);
    }

    /// The transport below.
    pub fn transport(&self) -> &dyn Transport {
        &*self.transport
    }

    /// Opens the stream for messages that answer no request.
    pub async fn listen(&self) {
        self.transport.listen(self.ambient()).await;
    }

    /// What the client declares to be able to answer.
    pub fn responder(&self) -> &dyn Responder {
        &*self.shared.responder
    }

    /// The caps of this connection.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The notices since the last call, and how many were dropped from a flood.
    pub fn take_notices(&self) -> (Vec<Notice>, usize) {
        self.shared.notices.take()
    }

    /// Why the conversation is over, if it is.
    pub fn ended(&self) -> Option<&TransportError> {
        self.shared.ended.get()
    }

    /// Ends the conversation.
    pub async fn close(&self) {
        self.shared.end(TransportError::Closed);
        self.transport.close(self.ambient()).await;
    }

    fn fresh_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn ambient(&self) -> Headers {
        self.shared.ambient.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn transport_send(&self, mut outgoing: Outgoing) {
        if self.transport.is_http() {
            outgoing.headers.extend(self.ambient());
        } else {
            // HTTP transports record by themselves, since only they know the headers.
            self.shared.recording.record(Direction::Sent, &outgoing.bytes, None);
        }
        self.transport.send(outgoing);
    }
}

/// A request whose response is awaited; dropping it cancels the request.
pub(crate) struct InFlight<'a> {
    connection: &'a Connection,
    id: Option<Id>,
    rx: oneshot::Receiver<Settled>,
    cancel: bool,
}

impl InFlight<'_> {
    async fn settled(
        &mut self,
        deadline: Deadline,
        started: Instant,
    ) -> Result<Settled, CallError> {
        let mut end = deadline.end(started, started);
        loop {
            match timeout_at(end.into(), &mut self.rx).await {
                Ok(Ok(settled)) => {
                    self.id = None;
                    return Ok(settled);
                }
                Ok(Err(_)) => return Err(TransportError::Closed.into()),
                Err(_) => {
                    // Progress only moves a mark; whether it buys time is asked when time is up.
                    let later = deadline.end(started, self.progressed().unwrap_or(started));
                    if later <= end {
                        return Err(CallError::TimedOut { after: started.elapsed() });
                    }
                    end = later;
                }
            }
        }
    }

    /// Waits for the response, whatever it is.
    pub(crate) async fn outcome(
        mut self,
        deadline: Deadline,
        started: Instant,
    ) -> Result<(Bytes, Result<Bytes, CallError>), CallError> {
        let settled = self.settled(deadline, started).await?;
        Ok((settled.frame, settled.outcome))
    }

    fn progressed(&self) -> Option<Instant> {
        let waiting = self.connection.shared.waiting();
        self.id.as_ref().and_then(|id| waiting.get(id)).map(|waiter| waiter.progressed)
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let connection = self.connection;
        if connection.shared.waiting().remove(&id).is_none() {
            return;
        }
        connection.shared.abandon(id.clone());
        if self.cancel && connection.cancels_by_notice.load(Ordering::Relaxed) {
            let mut params = Map::new();
            let wire_id = serde_json::from_str(&id.to_string()).unwrap_or(Value::Null);
            params.insert("requestId".into(), wire_id);
            params.insert("reason".into(), "the client no longer waits".into());
            connection.notify("notifications/cancelled", &params);
        }
        connection.transport.abandon(&id);
    }
}

impl Waiter {
    fn settle(self, frame: Bytes, outcome: Result<Bytes, CallError>) {
        let settled = Settled { frame, outcome, at: Instant::now(), notices: self.notices };
        // The caller may be gone; then nobody misses the answer.
        let _ = self.tx.send(settled);
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, HashMap<Id, Waiter>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn abandon(&self, id: Id) {
        let mut abandoned = self.abandoned.lock().unwrap_or_else(PoisonError::into_inner);
        if abandoned.len() == ABANDONED {
            abandoned.pop_front();
        }
        abandoned.push_back(id);
    }

    /// Whether this is the first answer to a request that nobody waits for any more.
    fn was_abandoned(&self, id: &Id) -> bool {
        let mut abandoned = self.abandoned.lock().unwrap_or_else(PoisonError::into_inner);
        let at = abandoned.iter().position(|known| known == id);
        at.and_then(|at| abandoned.remove(at)).is_some()
    }

    fn end(&self, error: TransportError) {
        let _ = self.ended.set(error);
        let Some(error) = self.ended.get() else { return };
        let waiters: Vec<Waiter> = self.waiting().drain().map(|(_, waiter)| waiter).collect();
        for waiter in waiters {
            waiter.settle(Bytes::new(), Err(error.clone().into()));
        }
    }

    fn settle(&self, id: &Id, frame: &Bytes, outcome: Result<Bytes, CallError>) {
        let waiter = self.waiting().remove(id);
        match waiter {
            Some(waiter) => waiter.settle(frame.clone(), outcome),
            None if self.was_abandoned(id) => tracing::debug!(%id, "a late answer"),
            None => self.notices.push(Notice::Stray { id: id.to_string() }),
        }
    }

    fn notified(&self, method: String, params: Bytes) {
        let notice = Notice::Notification { method, params };
        if let Notice::Notification { method, .. } = &notice
            && method == "notifications/progress"
        {
            let token = notice.params().get("progressToken").map(ToString::to_string);
            let mut waiting = self.waiting();
            if let Some(waiter) = token.and_then(|token| waiting.get_mut(&Id::from_json(&token))) {
                waiter.progressed = Instant::now();
                if waiter.notices.len() < self.limits.notices {
                    waiter.notices.push(notice);
                }
                return;
            }
        }
        self.notices.push(notice);
    }

    /// What sends the answer to a request of the target, once there is one.
    fn reply_to(&self, id: Id) -> Option<impl FnOnce(Result<Value, RpcError>) + Send + 'static> {
        let transport = self.transport.get().and_then(Weak::upgrade)?;
        let recording = self.recording.clone();
        let headers = self.ambient.read().unwrap_or_else(PoisonError::into_inner).clone();
        Some(move |outcome: Result<Value, RpcError>| {
            let bytes = encode::response(&id, outcome);
            if !transport.is_http() {
                recording.record(Direction::Sent, &bytes, None);
            }
            transport.send(Outgoing { bytes, headers, ..Outgoing::default() });
        })
    }

    fn asked(&self, id: Id, method: String, params: &Bytes) {
        let Some(reply) = self.reply_to(id) else { return };
        if method == "ping" {
            return reply(Ok(Value::Object(Map::new())));
        }
        if self.answering.fetch_add(1, Ordering::Relaxed) >= ANSWERS_AT_ONCE {
            self.answering.fetch_sub(1, Ordering::Relaxed);
            return reply(Err(RpcError::new(-32603, "too many requests at once")));
        }
        let params = serde_json::from_slice(params).unwrap_or(Value::Null);
        let responder = self.responder.clone();
        // Answered inline where the answer is ready at once, as scripted ones are.
        let mut answer = Box::pin(async move {
            let outcome = responder.answer(&method, &params).await;
            (method, outcome)
        });
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        if let std::task::Poll::Ready((method, outcome)) = answer.as_mut().poll(&mut context) {
            self.answering.fetch_sub(1, Ordering::Relaxed);
            self.notices.push(Notice::Asked { method, answered: outcome.is_ok() });
            return reply(outcome);
        }
        let answering = self.answering.clone();
        tokio::spawn(async move {
            let (_, outcome) = answer.await;
            answering.fetch_sub(1, Ordering::Relaxed);
            reply(outcome);
        });
    }
}

impl Sink for Shared {
    fn received(&self, frame: Bytes) {
        self.recording.record(Direction::Received, &frame, None);
        message::read(&frame, |message| match message {
            Message::Response { id, body } => {
                let outcome = body.map_err(|error| CallError::Rpc { error, status: None });
                self.settle(&id, &frame, outcome);
            }
            Message::Notification { method, params } => self.notified(method, params),
            Message::Request { id, method, params } => self.asked(id, method, &params),
            Message::Garbled { why } => {
                let excerpt = frame.slice(..frame.len().min(EXCERPT));
                self.notices.push(Notice::Garbled { why, excerpt });
            }
        });
    }

    /// Only the call that a skipped message answers fails. One that names no request can be the
    /// answer to the only call in flight, which then fails at once; with several in flight nothing
    /// tells whose it was, so none is failed and the one that gets no answer reaches its deadline.
    fn oversized(&self, message: Oversized) {
        let limit = self.limits.message_bytes;
        let too_large = || TransportError::TooLarge { limit };
        let mut is_unsolicited = message.parts.is_empty();
        for part in message.parts {
            match part {
                Part::Response(id) => self.settle(&id, &Bytes::new(), Err(too_large().into())),
                Part::Request(id) => {
                    if let Some(reply) = self.reply_to(id) {
                        reply(Err(RpcError::new(-32600, "the request is too large")));
                    }
                    is_unsolicited = true;
                }
                Part::Nameless => {
                    let only = match &*self.waiting().keys().collect::<Vec<_>>() {
                        [id] => Some(Id::clone(id)),
                        _ => None,
                    };
                    match only {
                        Some(id) => self.failed(&id, too_large()),
                        None => is_unsolicited = true,
                    }
                }
                Part::Notification => is_unsolicited = true,
            }
        }
        if is_unsolicited {
            let why = format!("longer than {}", transport::size(limit));
            self.notices.push(Notice::Garbled { why, excerpt: message.head });
        }
    }

    fn failed(&self, id: &Id, error: TransportError) {
        let waiter = self.waiting().remove(id);
        let Some(waiter) = waiter else { return };
        // An HTTP error may carry the JSON-RPC error that explains it; some carry no id.
        let explained = match &error {
            TransportError::Status { status, body, .. } => error_in(body)
                .map(|error| (body.clone(), CallError::Rpc { error, status: Some(*status) })),
            _ => None,
        };
        let (frame, error) = explained.unwrap_or_else(|| (Bytes::new(), error.into()));
        waiter.settle(frame, Err(error));
    }

    fn awaits(&self, id: &Id) -> bool {
        self.waiting().contains_key(id)
    }

    fn closed(&self, error: TransportError) {
        self.end(error);
    }
}

fn error_in(body: &Bytes) -> Option<RpcError> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let error = value.get("error").filter(|error| error.is_object())?;
    error.get("code")?.as_i64()?;
    Some(RpcError::from_json(error.to_string().as_bytes()))
}
