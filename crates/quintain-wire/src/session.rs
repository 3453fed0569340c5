//! A session with one server in its era: typed helpers over raw requests.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::era::{Agreement, Era, mirror, modern};
use crate::rpc::{CallError, Connection, Deadline, Reply, Request};
use crate::transport::Headers;

/// Maximum number of rounds in which a server asks for input before it responds.
const INPUT_ROUNDS: usize = 16;
/// Interval between polls of a task if the server names none.
const TASK_POLL: Duration = Duration::from_millis(500);
/// The shortest interval that a server can make us poll at.
const TASK_POLL_FLOOR: Duration = Duration::from_millis(10);

/// Kinds of items that can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listable {
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    Templates,
    /// `prompts/list`
    Prompts,
    /// `skills/list`, if the server has that extension
    Skills,
}

impl Listable {
    /// The method, and the member of its result that contains the items.
    pub fn wire(self) -> (&'static str, &'static str) {
        match self {
            Self::Tools => ("tools/list", "tools"),
            Self::Resources => ("resources/list", "resources"),
            Self::Templates => ("resources/templates/list", "resourceTemplates"),
            Self::Prompts => ("prompts/list", "prompts"),
            Self::Skills => ("skills/list", "skills"),
        }
    }
}

/// All pages of a listing.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The items as the server sent them.
    pub items: Vec<Value>,
    /// Tools that must not be used over HTTP, with the reasons.
    pub refused: Vec<(String, String)>,
    /// Number of pages.
    pub pages: usize,
    /// A page without a list of items, for example `"tools": "none"`.
    pub malformed: bool,
}

/// A session with one server.
pub struct Session {
    connection: Connection,
    agreement: Agreement,
    deadline: Deadline,
    mirrors: Mutex<HashMap<String, Vec<mirror::Mirror>>>,
    /// The level of log messages that modern requests ask for.
    log_level: Mutex<Option<String>>,
}

impl Listing {
    /// What is wrong with the listing.
    pub fn problem(&self, what: Listable) -> Option<String> {
        let (method, member) = what.wire();
        self.malformed.then(|| format!("{method}: expected a list in `{member}`"))
    }
}

impl Session {
    /// A session over a connection on which client and server agreed on a version.
    pub fn new(connection: Connection, agreement: Agreement, deadline: Deadline) -> Self {
        Self {
            connection,
            agreement,
            deadline,
            mirrors: Mutex::default(),
            log_level: Mutex::default(),
        }
    }

    /// What client and server agreed on.
    pub fn agreement(&self) -> &Agreement {
        &self.agreement
    }

    /// The connection of the session.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Sends any bytes as one message, without waiting for a response: for tests of the protocol itself.
    pub fn send_bytes(&self, bytes: impl Into<Bytes>) {
        self.connection.send_bytes(bytes.into(), None, Vec::new());
    }

    /// Ends the session.
    pub async fn close(&self) {
        self.connection.close().await;
    }

    /// Sends any request with the metadata of the era, and answers the server's requests for input.
    ///
    /// # Errors
    /// When there is no result: see [`CallError`].
    pub async fn request(
        &self,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<Reply, CallError> {
        let deadline = self.deadline;
        if self.agreement.era() == Era::Legacy {
            return self.connection.request(Request::new(method, params, deadline)).await;
        }
        let mut sent = params.clone();
        let mut relisted = false;
        for _ in 0..INPUT_ROUNDS {
            let reply = match self.send_modern(method, sent.clone(), deadline).await {
                // The header annotations of a tool may have changed since it was listed, or it was never listed.
                Err(CallError::Rpc { error, .. })
                    if error.code == modern::HEADER_MISMATCH
                        && method == "tools/call"
                        && !std::mem::replace(&mut relisted, true) =>
                {
                    Box::pin(self.list(Listable::Tools)).await?;
                    continue;
                }
                sent => sent?,
            };
            let Some(required) = input_required(&reply)? else { return Ok(reply) };
            sent.clone_from(&params);
            self.answer(&required, &mut sent).await?;
        }
        Err(CallError::Endless {
            method: method.to_owned(),
            why: format!("the server asked for input {INPUT_ROUNDS} times"),
        })
    }

    async fn send_modern(
        &self,
        method: &str,
        mut params: Map<String, Value>,
        deadline: Deadline,
    ) -> Result<Reply, CallError> {
        modern::decorate(&mut params, self.agreement.version, &self.connection);
        if let Some(level) = &*self.log_level.lock().unwrap_or_else(PoisonError::into_inner) {
            modern::ask_for_logs(&mut params, level);
        }
        let mut request = Request::new(method, params, deadline);
        if self.connection.transport().is_http() {
            request.headers = modern::headers(method, &request.params);
            request.headers.extend(self.mirrored(method, &request.params));
        }
        self.connection.request(request).await
    }

    fn mirrored(&self, method: &str, params: &Map<String, Value>) -> Headers {
        let name = params.get("name").and_then(Value::as_str).filter(|_| method == "tools/call");
        let mirrors = self.mirrors.lock().unwrap_or_else(PoisonError::into_inner);
        match (name.and_then(|name| mirrors.get(name)), params.get("arguments")) {
            (Some(mirrors), Some(arguments)) => mirror::headers(mirrors, arguments),
            _ => Vec::new(),
        }
    }

    /// Adds the requested input to the parameters of the next round.
    async fn answer(
        &self,
        required: &Value,
        params: &mut Map<String, Value>,
    ) -> Result<(), CallError> {
        if let Some(state) = required.get("requestState") {
            params.insert("requestState".into(), state.clone());
        }
        let Some(asked) = required.get("inputRequests").and_then(Value::as_object) else {
            return Ok(());
        };
        let mut responses = Map::new();
        for (key, request) in asked {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let inner = request.get("params").unwrap_or(&Value::Null);
            let answer = self.connection.responder().answer(method, inner).await;
            let answer = answer.map_err(|error| CallError::Rpc { error, status: None })?;
            responses.insert(key.clone(), answer);
        }
        params.insert("inputResponses".into(), responses.into());
        Ok(())
    }

    /// Lists all items of a kind, page by page.
    ///
    /// # Errors
    /// When a page is missing, or the pages do not end.
    pub async fn list(&self, what: Listable) -> Result<Listing, CallError> {
        let (method, member) = what.wire();
        let limits = *self.connection.limits();
        let endless = |why| CallError::Endless { method: method.to_owned(), why };
        let started = Instant::now();
        let mut listing = Listing::default();
        let mut cursors: Vec<Value> = Vec::new();
        let mut bytes = 0;
        loop {
            let mut params = Map::new();
            if let Some(cursor) = cursors.last() {
                params.insert("cursor".into(), cursor.clone());
            }
            let reply = self.request(method, params).await?;
            bytes += reply.result.len();
            let mut page = reply.value()?;
            listing.pages += 1;
            match page.get_mut(member).map(Value::take) {
                Some(Value::Array(items)) => listing.items.extend(items),
                _ => listing.malformed = true,
            }
            let Some(cursor) = page.get("nextCursor").filter(|cursor| !cursor.is_null()) else {
                break;
            };
            if cursors.contains(cursor) {
                return Err(endless(format!("the cursor {cursor} repeats")));
            }
            if listing.pages >= limits.pages || bytes > limits.message_bytes {
                return Err(endless(format!("there are more than {} pages", listing.pages)));
            }
            if started.elapsed() > self.deadline.request {
                return Err(CallError::TimedOut { after: started.elapsed() });
            }
            cursors.push(cursor.clone());
        }
        if what == Listable::Tools {
            self.learn_mirrors(&mut listing);
        }
        Ok(listing)
    }

    /// Stores which arguments are mirrored into headers, and drops tools that break the rules.
    fn learn_mirrors(&self, listing: &mut Listing) {
        if self.agreement.era() == Era::Legacy || !self.connection.transport().is_http() {
            return;
        }
        let mut learned = HashMap::new();
        listing.items.retain(|tool| {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            match mirror::mirrors(tool.get("inputSchema").unwrap_or(&Value::Null)) {
                Ok(mirrors) => {
                    if !mirrors.is_empty() {
                        learned.insert(name.to_owned(), mirrors);
                    }
                    true
                }
                Err(why) => {
                    tracing::warn!(tool = name, %why, "a tool breaks the rules for mirrored headers");
                    listing.refused.push((name.to_owned(), why));
                    false
                }
            }
        });
        *self.mirrors.lock().unwrap_or_else(PoisonError::into_inner) = learned;
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// When there is no result: see [`CallError`].
    pub async fn call_tool(&self, name: &str, arguments: Value) -> Result<Reply, CallError> {
        let mut params = Map::new();
        params.insert("name".into(), name.into());
        params.insert("arguments".into(), arguments);
        self.request("tools/call", params).await
    }

    /// Sets the level of log messages: immediately in the legacy era, with each following request in the modern era.
    ///
    /// # Errors
    /// When a legacy server refuses.
    pub async fn set_log_level(&self, level: &str) -> Result<(), CallError> {
        match self.agreement.era() {
            Era::Legacy => {
                self.request("logging/setLevel", object(json!({"level": level}))).await.map(drop)
            }
            Era::Modern => {
                let mut kept = self.log_level.lock().unwrap_or_else(PoisonError::into_inner);
                *kept = Some(level.to_owned());
                Ok(())
            }
        }
    }

    /// Whether the server responds. The modern era has no ping, so discovery replaces it.
    ///
    /// # Errors
    /// When there is no result: see [`CallError`].
    pub async fn ping(&self) -> Result<Reply, CallError> {
        let method = match self.agreement.era() {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        self.request(method, Map::new()).await
    }

    /// Calls a tool as a task and waits for the result. A server may also respond immediately.
    ///
    /// # Errors
    /// When there is no result before the session's deadline; the task is then cancelled.
    pub async fn call_as_task(&self, mut params: Map<String, Value>) -> Result<Reply, CallError> {
        if self.agreement.era() == Era::Legacy {
            params.insert("task".into(), json!({}));
        }
        let reply = self.request("tools/call", params).await?;
        match task_id(&reply.value()?) {
            Some(id) => self.await_task(&id).await,
            None => Ok(reply),
        }
    }

    async fn await_task(&self, id: &str) -> Result<Reply, CallError> {
        let named = || object(json!({"taskId": id}));
        let started = Instant::now();
        loop {
            let reply = self.request("tasks/get", named()).await?;
            let state = reply.value()?;
            match (state.get("status").and_then(Value::as_str), self.agreement.era()) {
                // A legacy server asks for input while we wait for the result.
                (Some("completed" | "failed" | "cancelled" | "input_required"), Era::Legacy) => {
                    return self.request("tasks/result", named()).await;
                }
                (Some("completed" | "failed" | "cancelled"), Era::Modern) => {
                    return reply.of_task();
                }
                (Some("input_required"), Era::Modern) => {
                    let mut params = named();
                    self.answer(&state, &mut params).await?;
                    self.request("tasks/update", params).await?;
                }
                _ => {}
            }
            let total = self.deadline.max_total.unwrap_or(self.deadline.request);
            if started.elapsed() > total {
                // The result does not matter: the caller no longer waits.
                let _ = self.request("tasks/cancel", named()).await;
                return Err(CallError::TimedOut { after: started.elapsed() });
            }
            let interval = state.get("pollIntervalMs").or_else(|| state.get("pollInterval"));
            let interval =
                interval.and_then(Value::as_u64).map_or(TASK_POLL, Duration::from_millis);
            tokio::time::sleep(interval.clamp(TASK_POLL_FLOOR, total.max(TASK_POLL_FLOOR))).await;
        }
    }
}

/// The id of the task in a result, if the result is a task.
fn task_id(result: &Value) -> Option<String> {
    let is_task = result.get("resultType").and_then(Value::as_str) == Some("task");
    let modern = result.get("taskId").filter(|_| is_task);
    let id = modern.or_else(|| result.pointer("/task/taskId"))?;
    id.as_str().map(str::to_owned)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// The result, if it asks for input.
fn input_required(reply: &Reply) -> Result<Option<Value>, CallError> {
    const MARK: &[u8] = b"\"input_required\"";
    // Few responses ask for input: only those that contain the word are parsed.
    if memchr::memmem::find(&reply.result, MARK).is_none() {
        return Ok(None);
    }
    let value = reply.value()?;
    let asks = value.get("resultType").and_then(Value::as_str) == Some("input_required");
    Ok(asks.then_some(value))
}
