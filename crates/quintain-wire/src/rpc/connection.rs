//! One connection to a target: requests wait for responses, everything else becomes a notice.

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

/// Maximum number of requests of a target that are answered in parallel.
const ANSWERS_AT_ONCE: usize = 64;
/// Number of bytes to keep of a frame that is not a message.
const EXCERPT: usize = 200;
/// Number of abandoned requests to remember.
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
    /// Recently abandoned requests; a response to one of them is late, not stray.
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

/// One connection. Dropping it ends the transport.
pub struct Connection {
    shared: Arc<Shared>,
    transport: Arc<dyn Transport>,
    next_id: AtomicI64,
    cancels_by_notice: AtomicBool,
}

impl Connection {
    /// Opens a transport with `open`, which receives the sink for incoming messages.
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
        // The tasks of the transport own the sink; a weak reference back prevents a cycle.
        let _ = shared.transport.set(Arc::downgrade(&transport));
        Ok(Self {
            shared,
            transport,
            next_id: AtomicI64::new(1),
            cancels_by_notice: AtomicBool::new(true),
        })
    }

    /// Sends a request with a new id and waits for its response.
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

    /// Sends a notification and waits until the target has received it.
    ///
    /// # Errors
    /// When the target does not receive it in time.
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

    /// Sends any bytes; `expects` is the id whose response the caller waits for, if any.
    pub(crate) fn send_bytes(&self, bytes: Bytes, expects: Option<Id>, headers: Headers) {
        self.transport_send(Outgoing { bytes, expects, headers, ..Outgoing::default() });
    }

    /// Waits for a response to `id`, which is sent separately.
    pub(crate) fn expect(&self, id: Id, cancel: bool) -> InFlight<'_> {
        let (tx, rx) = oneshot::channel();
        let waiter = Waiter { tx, progressed: Instant::now(), notices: Vec::new() };
        // Checked under the same lock as in `end`, so that no waiter is added after `end`.
        let mut waiting = self.shared.waiting();
        match self.shared.ended.get() {
            Some(error) => waiter.settle(Bytes::new(), Err(error.clone().into())),
            None => drop(waiting.insert(id.clone(), waiter)),
        }
        drop(waiting);
        InFlight { connection: self, id: Some(id), rx, cancel }
    }

    /// Sets the headers of all following messages.
    pub fn set_ambient_headers(&self, headers: Headers) {
        *self.shared.ambient.write().unwrap_or_else(PoisonError::into_inner) = headers;
    }

    /// Whether abandoning a request sends a notification; over modern HTTP, closing the stream cancels it.
    pub fn set_cancels_by_notice(&self, yes: bool) {
        self.cancels_by_notice.store(yes, Ordering::Relaxed);
    }

    /// The transport of the connection.
    pub fn transport(&self) -> &dyn Transport {
        &*self.transport
    }

    /// Opens the stream for messages that are not responses.
    pub async fn listen(&self) {
        self.transport.listen(self.ambient()).await;
    }

    /// Answers requests of the target.
    pub fn responder(&self) -> &dyn Responder {
        &*self.shared.responder
    }

    /// The limits of this connection.
    pub fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    /// The notices since the last call, and the number of dropped ones.
    pub fn take_notices(&self) -> (Vec<Notice>, usize) {
        self.shared.notices.take()
    }

    /// The error that ended the connection, if it has ended.
    pub fn ended(&self) -> Option<&TransportError> {
        self.shared.ended.get()
    }

    /// Ends the connection.
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
            // HTTP transports record by themselves, because only they know the headers.
            self.shared.recording.record(Direction::Sent, &outgoing.bytes, None);
        }
        self.transport.send(outgoing);
    }
}

/// A request that waits for its response; dropping it cancels the request.
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
                    // Progress only stores a time; the deadline is recomputed when it is reached.
                    let later = deadline.end(started, self.progressed().unwrap_or(started));
                    if later <= end {
                        return Err(CallError::TimedOut { after: started.elapsed() });
                    }
                    end = later;
                }
            }
        }
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
        // The caller may no longer wait; then the result is dropped.
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

    /// Whether this is the first response to an abandoned request.
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
            None if self.was_abandoned(id) => tracing::debug!(%id, "late response"),
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

    /// A function that sends the response to a request of the target.
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
        // Scripted answers are ready at once and are sent without a task.
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
                // Masked before it is cut, since the redactor does not recognise half a secret.
                let masked = self.recording.redactor().bytes(&frame);
                let excerpt = masked.slice(..masked.len().min(EXCERPT));
                self.notices.push(Notice::Garbled { why, excerpt });
            }
        });
    }

    /// Only the call fails that a skipped message answers. A message without an id can be the response to the only call in
    /// flight, which then fails at once. With several calls in flight it cannot be assigned: none of them fails, and the
    /// one without a response reaches its deadline.
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
        // An HTTP error may contain the JSON-RPC error that explains it, sometimes without an id.
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
