//! One server of a target: its current session, its tools, and reconnection when the session is lost.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use quintain_evidence::connection::ToolFilter;
use quintain_evidence::surface::Surface;
use quintain_source::visible;
use quintain_wire::connect::{Address, ConnectError, Options, connect};
use quintain_wire::redact::Redactor;
use quintain_wire::rpc::{CallError, Notice, Reply};
use quintain_wire::session::Session;
use quintain_wire::transport::TransportError;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::sleep;

use super::OpenError;
use super::survey::{ToolList, survey};

/// Maximum number of consecutive reconnections without an answer.
const RECONNECTIONS: u32 = 5;
/// First pause between two reconnections. Doubles each time.
const BACK_OFF: Duration = Duration::from_millis(50);

/// One server of a target.
pub struct Link {
    name: String,
    address: Address,
    options: Options,
    session: RwLock<Option<Arc<Session>>>,
    /// Locked while connecting, so that concurrent callers share one new session.
    connecting: Mutex<()>,
    /// Connections since the last answer.
    unanswered_connections: AtomicU32,
    /// The tools that the server listed when it was first connected.
    catalogue: RwLock<Arc<ToolList>>,
}

impl Link {
    pub(super) fn redactor(&self) -> &Redactor {
        self.options.recording.redactor()
    }

    pub(super) fn new(name: String, address: Address, options: Options) -> Self {
        Self {
            name,
            address,
            options,
            session: RwLock::default(),
            connecting: Mutex::default(),
            unanswered_connections: AtomicU32::new(0),
            catalogue: RwLock::default(),
        }
    }

    /// The name of the server in the suite.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) async fn start(&self, ping: bool) -> Result<(), OpenError> {
        let session = self.connect().await.map_err(|error| OpenError::Connect {
            server: self.name.clone(),
            error: Box::new(error),
        })?;
        tracing::info!(server = self.name, version = %session.agreement().version, "connected");
        let silent = |why| OpenError::NoAnswer { server: self.name.clone(), why };
        if ping {
            session.ping().await.map_err(|error| silent(format!("ping: {error}")))?;
        }
        let catalogue = ToolList::of(&session).await;
        let catalogue = catalogue.map_err(|error| silent(format!("tools/list: {error}")))?;
        let names = catalogue.names();
        tracing::info!(server = self.name, tools = names.len(), "tools listed");
        tracing::debug!(server = self.name, names = %visible(&names.join(", ")), "tools");
        *self.catalogue.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalogue);
        Ok(())
    }

    fn catalogue(&self) -> Arc<ToolList> {
        self.catalogue.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the server lists a tool of that name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.catalogue().tool(name).is_some()
    }

    /// The error response to `tools/list`, if the server did not list its tools.
    pub(super) fn refused_list(&self) -> Option<String> {
        self.catalogue().refused().map(str::to_owned)
    }

    /// The names of its tools, unfiltered.
    pub fn tool_names(&self) -> Vec<String> {
        self.catalogue().names().into_iter().map(str::to_owned).collect()
    }

    /// A surface that contains only the allowed tools, as listed at connection.
    pub(super) fn tools(&self, filter: &ToolFilter) -> Surface {
        let catalogue = self.catalogue();
        let tools = catalogue.tools().iter();
        let allowed = tools.filter(|tool| filter.allows(tool.name().unwrap_or_default()));
        Surface { tools: allowed.cloned().collect(), ..Surface::default() }
    }

    /// The input schema of a tool, if the server lists it with one.
    pub fn input_schema(&self, tool: &str) -> Option<Value> {
        self.catalogue().tool(tool)?.input_schema().cloned()
    }

    /// The session. Reconnects if it is lost.
    ///
    /// # Errors
    /// When the reconnection fails.
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
        if self.replace(None).is_some() {
            tracing::info!(server = self.name, "reconnecting");
        }
        // Connections since the last answer, without this one.
        let tries = self.unanswered_connections.load(Ordering::Relaxed);
        if tries > RECONNECTIONS {
            return Err(TransportError::GivenUp { tries }.into());
        }
        self.unanswered_connections.fetch_add(1, Ordering::Relaxed);
        if tries > 0 {
            sleep(BACK_OFF * 2u32.pow(tries - 1)).await;
        }
        let session = Arc::new(connect(&self.address, &self.options).await?);
        self.replace(Some(session.clone()));
        Ok(session)
    }

    /// Sends a request; also returns the time that it took, without the time to connect. If the server no longer knows
    /// the session, reconnects and sends the request again, since the server cannot have processed it.
    pub(super) async fn timed(
        &self,
        method: &str,
        params: Map<String, Value>,
    ) -> (Result<Reply, CallError>, Duration) {
        let (session, mut reply, mut waited) = match self.session().await {
            Ok(session) => {
                let started = Instant::now();
                let reply = session.request(method, params.clone()).await;
                (session, reply, started.elapsed())
            }
            Err(error) => return (Err(into_call_error(error)), Duration::ZERO),
        };
        if matches!(reply, Err(CallError::Transport(TransportError::SessionLost))) {
            self.forget(&session);
            let session = match self.session().await {
                Ok(session) => session,
                Err(error) => return (Err(into_call_error(error)), waited),
            };
            let started = Instant::now();
            reply = session.request(method, params).await;
            waited = started.elapsed();
        }
        if matches!(reply, Ok(_) | Err(CallError::Rpc { .. })) {
            self.unanswered_connections.store(0, Ordering::Relaxed);
        }
        (reply, waited)
    }

    pub(super) async fn task(&self, params: Map<String, Value>) -> Result<Reply, CallError> {
        self.session().await.map_err(into_call_error)?.call_as_task(params).await
    }

    /// Asks the server for log messages of this level and above.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn set_log_level(&self, level: &str) -> Result<(), CallError> {
        self.session().await.map_err(into_call_error)?.set_log_level(level).await
    }

    /// Drops the session, unless another caller replaced it already.
    fn forget(&self, lost: &Arc<Session>) {
        let mut session = self.session.write().unwrap_or_else(PoisonError::into_inner);
        if session.as_ref().is_some_and(|current| Arc::ptr_eq(current, lost)) {
            *session = None;
        }
    }

    /// Everything that the server lists, and messages about what could not be listed.
    pub async fn survey(&self) -> (Surface, Vec<String>) {
        match self.session().await {
            Ok(session) => survey(&session, &self.catalogue()).await,
            Err(error) => (Surface::default(), vec![error.to_string()]),
        }
    }

    /// Takes the notices that the server sent since the last call.
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

fn into_call_error(error: ConnectError) -> CallError {
    TransportError::Broken(format!("the reconnection failed: {error}")).into()
}
