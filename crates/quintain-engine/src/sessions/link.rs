//! One server of a target: its current session, its tools, and a new session when the old one is gone.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use quintain_core::surface::{Prompt, Resource, ResourceTemplate, Surface, Tool};
use quintain_wire::connect::{Address, ConnectError, Options, connect};
use quintain_wire::rpc::{CallError, Notice, Reply};
use quintain_wire::session::{Listable, Session};
use quintain_wire::transport::TransportError;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::sleep;

use super::OpenError;

/// Reconnections in a row that lead to no answer before a server is given up.
const RECONNECTIONS: u32 = 5;
/// The first pause between two of them; each further one is twice as long.
const BACK_OFF: Duration = Duration::from_millis(50);

/// One server of a target.
pub struct Link {
    name: String,
    address: Address,
    options: Options,
    session: RwLock<Option<Arc<Session>>>,
    /// Held while connecting, so that concurrent callers share one new session.
    connecting: Mutex<()>,
    fruitless: AtomicU32,
    /// The tools it listed, by name, as they came.
    tools: RwLock<HashMap<String, Tool>>,
}

impl Link {
    pub(super) fn new(name: String, address: Address, options: Options) -> Self {
        Self {
            name,
            address,
            options,
            session: RwLock::default(),
            connecting: Mutex::default(),
            fruitless: AtomicU32::new(0),
            tools: RwLock::default(),
        }
    }

    /// The key of the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) async fn start(&self, ping: bool) -> Result<(), OpenError> {
        let session = self.connect().await.map_err(|error| OpenError::Connect {
            server: self.name.clone(),
            error: Box::new(error),
        })?;
        tracing::info!(server = self.name, version = %session.agreement().version, "connected");
        let silent = |why| OpenError::Silent { server: self.name.clone(), why };
        if ping {
            session.ping().await.map_err(|error| silent(format!("ping: {error}")))?;
        }
        match session.list(Listable::Tools).await {
            Ok(listing) => self.learn(listing.items),
            // A server without tools need not know how to list them.
            Err(CallError::Rpc { .. }) => {}
            Err(error) => return Err(silent(format!("tools/list: {error}"))),
        }
        Ok(())
    }

    fn learn(&self, tools: Vec<Value>) {
        let tools = tools.into_iter().map(Tool);
        let named = tools.filter_map(|tool| Some((tool.name()?.to_owned(), tool)));
        let tools: HashMap<String, Tool> = named.collect();
        let mut names: Vec<&str> = tools.keys().map(String::as_str).collect();
        names.sort_unstable();
        tracing::info!(server = self.name, tools = tools.len(), "tools listed");
        tracing::debug!(server = self.name, tools = ?names, "tools");
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = tools;
    }

    /// Whether the server lists a tool of that name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).contains_key(name)
    }

    /// The names of its tools, unfiltered.
    pub fn tool_names(&self) -> Vec<String> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    /// The input schema of a tool, if the server lists it with one.
    pub fn input_schema(&self, tool: &str) -> Option<Value> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.get(tool)?.input_schema().cloned()
    }

    /// The session, a new one if the old one is gone.
    ///
    /// # Errors
    /// When the server does not come up again.
    pub async fn session(&self) -> Result<Arc<Session>, ConnectError> {
        match self.current() {
            Some(session) => Ok(session),
            None => self.connect().await,
        }
    }

    fn current(&self) -> Option<Arc<Session>> {
        let session = self.session.read().unwrap_or_else(PoisonError::into_inner);
        session.as_ref().filter(|session| session.connection().ended().is_none()).cloned()
    }

    fn replace(&self, session: Option<Arc<Session>>) -> Option<Arc<Session>> {
        std::mem::replace(
            &mut self.session.write().unwrap_or_else(PoisonError::into_inner),
            session,
        )
    }

    async fn connect(&self) -> Result<Arc<Session>, ConnectError> {
        let _connecting = self.connecting.lock().await;
        if let Some(session) = self.current() {
            return Ok(session);
        }
        let again = self.replace(None).is_some();
        let fruitless = self.fruitless.load(Ordering::Relaxed);
        if again {
            if fruitless >= RECONNECTIONS {
                return Err(TransportError::GivenUp { tries: fruitless }.into());
            }
            self.fruitless.fetch_add(1, Ordering::Relaxed);
            tracing::info!(server = self.name, "reconnecting");
            sleep(BACK_OFF * 2u32.pow(fruitless)).await;
        }
        let session = Arc::new(connect(&self.address, &self.options).await.inspect_err(|_| {
            self.fruitless.fetch_add(1, Ordering::Relaxed);
        })?);
        self.replace(Some(session.clone()));
        Ok(session)
    }

    /// Sends a request; a session that the server forgot is replaced and the request sent again,
    /// since it cannot have been processed.
    ///
    /// # Errors
    /// When there is no result: see [`CallError`].
    pub async fn request(
        &self,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<Reply, CallError> {
        let session = self.session().await.map_err(into_call_error)?;
        let mut reply = session.request(method, params.clone()).await;
        if matches!(reply, Err(CallError::Transport(TransportError::SessionLost))) {
            self.forget(&session);
            let session = self.session().await.map_err(into_call_error)?;
            reply = session.request(method, params).await;
        }
        if matches!(reply, Ok(_) | Err(CallError::Rpc { .. })) {
            self.fruitless.store(0, Ordering::Relaxed);
        }
        reply
    }

    /// Drops the session, unless somebody replaced it already.
    fn forget(&self, lost: &Arc<Session>) {
        let mut session = self.session.write().unwrap_or_else(PoisonError::into_inner);
        if session.as_ref().is_some_and(|current| Arc::ptr_eq(current, lost)) {
            *session = None;
        }
    }

    /// Lists everything; what could not be listed is said in words.
    pub async fn survey(&self) -> (Surface, Vec<String>) {
        let mut surface = Surface::default();
        let session = match self.session().await {
            Ok(session) => session,
            Err(error) => return (surface, vec![error.to_string()]),
        };
        let agreement = session.agreement();
        surface.server_info = agreement.server.clone();
        surface.instructions.clone_from(&agreement.instructions);
        surface.protocol_version = Some(agreement.version.to_string());
        surface.capabilities = agreement.capabilities.clone();
        let mut problems = Vec::new();
        let tools = list(&session, Listable::Tools, true, &mut problems).await;
        let has = |name: &str| agreement.capabilities.get(name).is_some();
        let resources = has("resources");
        surface.tools = tools.into_iter().map(Tool).collect();
        let items = list(&session, Listable::Resources, resources, &mut problems).await;
        surface.resources = items.into_iter().map(Resource).collect();
        let items = list(&session, Listable::Templates, resources, &mut problems).await;
        surface.templates = items.into_iter().map(ResourceTemplate).collect();
        let items = list(&session, Listable::Prompts, has("prompts"), &mut problems).await;
        surface.prompts = items.into_iter().map(Prompt).collect();
        (surface, problems)
    }

    /// What the server said unasked since the last look.
    pub fn take_notices(&self) -> Vec<Notice> {
        self.current().map(|session| session.connection().take_notices().0).unwrap_or_default()
    }

    /// Ends the session.
    pub async fn close(&self) {
        if let Some(session) = self.replace(None) {
            session.close().await;
        }
    }
}

async fn list(
    session: &Session,
    what: Listable,
    declared: bool,
    problems: &mut Vec<String>,
) -> Vec<Value> {
    if !declared {
        return Vec::new();
    }
    match session.list(what).await {
        Ok(listing) => {
            problems.extend(
                listing
                    .refused
                    .iter()
                    .map(|(tool, why)| format!("tool `{tool}` must not be used over HTTP: {why}")),
            );
            listing.items
        }
        // "Method not found" is how a server says that it has none of these.
        Err(CallError::Rpc { error, .. }) if error.code == -32601 => Vec::new(),
        Err(error) => {
            problems.push(format!("{}: {error}", what.wire().0));
            Vec::new()
        }
    }
}

fn into_call_error(error: ConnectError) -> CallError {
    TransportError::Broken(format!("the session could not be renewed: {error}")).into()
}
