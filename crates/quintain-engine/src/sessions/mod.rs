//! The sessions of one target: combines several servers, routes calls, applies filters and default arguments, and
//! reconnects.

mod address;
mod credentials;
mod link;
mod responder;
mod route;
mod survey;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use quintain_content::text::short::shortened;
use quintain_evidence::connection::{McpTarget, ProtocolChoice, Server, ToolFilter};
use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::probe::Step;
use quintain_evidence::surface::Surface;
use quintain_evidence::tool_call::ToolCall;
use quintain_source::visible;
use quintain_wire::auth::AuthError;
use quintain_wire::connect::{ConnectError, Options};
use quintain_wire::era::{Choice, Era};
use quintain_wire::rpc::Deadline;
use serde_json::{Map, Value};

pub use link::Link;
pub use route::RouteError;

use crate::exchange::{exchange, notice};
use crate::policy::Denied;
use crate::world::World;

/// Default request timeout, the same as in the official SDKs.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(1);

const TOOLS_CALL: &str = "tools/call";
/// Maximum characters of a message in a log line.
const EXCERPT: usize = 1_000;

/// Why a target cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The connection to a server failed.
    #[error("MCP Provider error: Failed to connect to MCP server {server}: {error}")]
    Connect {
        /// The server's name in the suite.
        server: String,
        /// Why.
        error: Box<ConnectError>,
    },
    /// A server's address is invalid.
    #[error("the server `{server}` cannot be used: {why}")]
    Address {
        /// The server's name in the suite.
        server: String,
        /// What is wrong.
        why: String,
    },
    /// The policy does not allow what a server needs.
    #[error("the server `{server}` cannot be used: {denied}")]
    Denied {
        /// The server's name in the suite.
        server: String,
        /// What it needs.
        denied: Denied,
    },
    /// The credentials for a server cannot be used.
    #[error("MCP Provider error: Failed to connect to MCP server {server}: {error}")]
    Auth {
        /// The server's name in the suite.
        server: String,
        /// Why.
        error: Box<AuthError>,
    },
    /// A server connected but does not answer a ping or `tools/list`.
    #[error("MCP Provider error: Failed to connect to MCP server {server}: {why}")]
    NoAnswer {
        /// The server's name in the suite.
        server: String,
        /// Which request failed, and why.
        why: String,
    },
    /// The target has no server to connect to.
    #[error("the target has no MCP server: it is disabled or names none")]
    NoServers,
}

impl OpenError {
    /// Whether a login would help.
    pub fn needs_auth(&self) -> bool {
        match self {
            Self::Connect { error, .. } => error.needs_auth(),
            Self::Auth { .. } => true,
            _ => false,
        }
    }
}

/// All servers of one target, connected.
pub struct Sessions {
    links: Vec<Link>,
    filter: ToolFilter,
    default_args: Map<String, Value>,
}

impl Sessions {
    /// Connects to all servers of a target concurrently and lists their tools.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub async fn open(target: &McpTarget, world: &World) -> Result<Self, OpenError> {
        if target.servers.is_empty() {
            return Err(OpenError::NoServers);
        }
        let opening = target.servers.iter().map(|server| Link::open(server, target, world));
        let mut links = Vec::with_capacity(target.servers.len());
        let mut failure = None;
        for opened in join_all(opening).await {
            match opened {
                Ok(link) => links.push(link),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        let sessions = Self {
            links,
            filter: target.filter.clone(),
            default_args: target.default_args.clone(),
        };
        match failure {
            Some(error) => {
                sessions.close().await;
                Err(error)
            }
            None => Ok(sessions),
        }
    }

    /// The servers, in the order of the suite.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The tools that may be called.
    pub fn tool_names(&self) -> Vec<String> {
        let names = self.links.iter().flat_map(Link::tool_names);
        names.filter(|name| self.filter.allows(name)).collect()
    }

    /// The server for a request without a tool name.
    ///
    /// # Errors
    /// When `server` is unknown, or `None` although the target has several servers.
    pub fn link(&self, server: Option<&str>) -> Result<&Link, RouteError> {
        route::server(&self.links, server)
    }

    /// Calls a tool on the server that has it. Missing arguments get the target's defaults.
    ///
    /// # Errors
    /// When no server or more than one has the tool. An error answer of the server is evidence, not an `Err`.
    pub async fn call(&self, call: &ToolCall) -> Result<Exchange, RouteError> {
        Ok(self.route(call)?.exchange(TOOLS_CALL, self.params(call)).await)
    }

    /// Like [`Self::call`], but requests a task and waits until it ends.
    ///
    /// # Errors
    /// As [`Self::call`].
    pub async fn call_as_task(&self, call: &ToolCall) -> Result<Exchange, RouteError> {
        Ok(self.route(call)?.exchange_as_task(self.params(call)).await)
    }

    fn params(&self, call: &ToolCall) -> Map<String, Value> {
        let name = ("name".to_owned(), call.tool.clone().into());
        Map::from_iter([name, ("arguments".to_owned(), self.arguments(call).into())])
    }

    /// The server that has the tool.
    ///
    /// # Errors
    /// When no server or more than one has the tool.
    pub fn route(&self, call: &ToolCall) -> Result<&Link, RouteError> {
        route::tool(&self.links, &self.filter, &call.tool, call.server.as_deref())
    }

    /// The arguments of a call, with the target's defaults for missing ones.
    pub fn arguments(&self, call: &ToolCall) -> Map<String, Value> {
        let mut arguments = self.default_args.clone();
        arguments.extend(call.args.clone());
        arguments
    }

    /// The tools that the servers listed at connection, or everything they list.
    pub async fn surfaces(&self, everything: bool) -> Vec<(String, Surface)> {
        if everything {
            let surveyed = self.survey().await.into_iter();
            let surfaces =
                surveyed.map(|(name, surface, problems)| (name, Surface { problems, ..surface }));
            return surfaces.collect();
        }
        let links = self.links.iter();
        links.map(|link| (link.name().to_owned(), link.tools(&self.filter))).collect()
    }

    /// Everything that the servers list, without the filtered tools.
    pub async fn survey(&self) -> Vec<(String, Surface, Vec<String>)> {
        join_all(self.links.iter().map(|link| async {
            let (mut surface, problems) = link.survey().await;
            surface.tools.retain(|tool| self.filter.allows(tool.name().unwrap_or_default()));
            (link.name().to_owned(), surface, problems)
        }))
        .await
    }

    /// Sends a step.
    ///
    /// # Errors
    /// When no server takes it.
    pub async fn step(&self, step: &Step) -> Result<Exchange, RouteError> {
        match step {
            Step::Call(call) => self.call(call).await,
            Step::Request { method, params, server } => {
                Ok(self.link(server.as_deref())?.exchange(method, params.clone()).await)
            }
        }
    }

    /// The same also for calls of tools that no server lists, which an attack may make.
    ///
    /// # Errors
    /// When there is no such server.
    pub async fn step_of_any_tool(&self, step: &Step) -> Result<Exchange, RouteError> {
        match (self.step(step).await, step) {
            (Err(_), Step::Call(call)) => {
                let mut params = Map::new();
                params.insert("name".to_owned(), call.tool.clone().into());
                params.insert("arguments".to_owned(), call.args.clone().into());
                Ok(self.link(call.server.as_deref())?.exchange(TOOLS_CALL, params).await)
            }
            (sent, _) => sent,
        }
    }

    /// Ends all sessions.
    pub async fn close(&self) {
        join_all(self.links.iter().map(Link::close)).await;
    }
}

/// The connection options of a target's servers. A timeout of the suite overrides the environment's.
fn options(target: &McpTarget, world: &World) -> Options {
    let request = target.timeouts.request.or(world.request_timeout).unwrap_or(DEFAULT_TIMEOUT);
    Options {
        protocol: choice(&target.protocol),
        deadline: Deadline {
            request,
            reset_on_progress: target.timeouts.reset_on_progress,
            max_total: target.timeouts.max_total,
        },
        responder: Arc::new(responder::script(&target.respond, world.tasks)),
        recording: world.recording(),
        limits: world.limits,
    }
}

fn outcome_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Reply(result) | Outcome::ToolError(result) => result.to_string(),
        Outcome::RpcError { code, message, .. } => format!("MCP error {code}: {message}"),
        Outcome::TimedOut { .. } => "timed out".to_owned(),
        Outcome::Closed { why } | Outcome::Refused { why } | Outcome::Garbled { why, .. } => {
            why.clone()
        }
    }
}

fn choice(choice: &ProtocolChoice) -> Choice {
    match choice {
        ProtocolChoice::Auto => Choice::Auto,
        ProtocolChoice::Legacy => Choice::Newest(Era::Legacy),
        ProtocolChoice::Modern => Choice::Newest(Era::Modern),
        // The suite accepts only known versions, so the default is never used.
        ProtocolChoice::Exact(version) => Choice::find(version).unwrap_or_default(),
    }
}

impl Link {
    async fn open(server: &Server, target: &McpTarget, world: &World) -> Result<Self, OpenError> {
        let address = address::address(server, &options(target, world).deadline, world)?;
        let link = Self::new(server.name.clone(), address, options(target, world));
        link.start(target.ping_on_connect).await?;
        Ok(link)
    }

    /// The start of a text for a log line, safe for a terminal. Masked before it is cut, since the redactor does not
    /// recognise half a secret.
    fn excerpt(&self, text: &str) -> String {
        visible(&shortened(&self.redactor().text(text), EXCERPT)).into_owned()
    }

    /// Sends any request and returns the exchange.
    pub async fn exchange(&self, method: &str, params: Map<String, Value>) -> Exchange {
        let (reply, waited) = self.timed(method, params.clone()).await;
        self.with_notices(exchange(self.name(), method, params, reply, waited))
    }

    async fn exchange_as_task(&self, params: Map<String, Value>) -> Exchange {
        let started = Instant::now();
        let reply = self.task(params.clone()).await;
        let mut exchange = exchange(self.name(), TOOLS_CALL, params, reply, started.elapsed());
        // The whole task, not only the last poll.
        exchange.took = started.elapsed();
        self.with_notices(exchange)
    }

    /// Adds notices to an unanswered exchange and logs it.
    fn with_notices(&self, mut exchange: Exchange) -> Exchange {
        if !exchange.outcome.is_answer() {
            // Notices may explain why there is no answer.
            exchange.notices.extend(self.take_notices().iter().map(notice));
        }
        tracing::debug!(
            server = self.name(),
            method = exchange.method.as_str(),
            took_ms = exchange.took.as_secs_f64() * 1e3,
            answered = exchange.outcome.is_answer(),
            sent = %self.excerpt(&exchange.sent.to_string()),
            outcome = %self.excerpt(&outcome_words(&exchange.outcome)),
            "exchange"
        );
        exchange
    }
}
