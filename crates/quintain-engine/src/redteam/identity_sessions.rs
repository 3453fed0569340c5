//! The sessions of each identity. Everything is sent through the gate.

use std::sync::Arc;
use std::time::Duration;

use quintain_evidence::connection::{Launch, McpTarget};
use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_evidence::probe::Step;
use quintain_evidence::surface::Surface;
use quintain_redteam::attack::{Attempt, Identity};
use quintain_redteam::orders::IdentityOrder;
use quintain_wire::session::Session;
use secrecy::SecretString;
use serde_json::{Map, Value};

use super::gate::Gate;
use super::raw::RawConnection;
use super::shims::ShimFolder;
use crate::sessions::{Link, OpenError, Sessions};
use crate::world::World;

/// Time limit of a call. A longer wait proves nothing more.
pub(super) const CALL_TIME: Duration = Duration::from_secs(8);
/// Time limit of a call to a tool that probably does not answer.
pub(super) const LEAST_TIME: Duration = Duration::from_secs(1);

/// An identity with its sessions.
pub(super) struct IdentitySessions {
    pub(super) identity: Identity,
    sessions: Guarded,
    /// The target with the credentials of this identity, for opening separate sessions.
    target: McpTarget,
    /// Where to add stand-ins for programs that the target does not find.
    shim_folder: Option<ShimFolder>,
}

impl IdentitySessions {
    pub(super) async fn open(
        target: &McpTarget,
        order: &IdentityOrder,
        world: &World,
        shim_folder: Option<ShimFolder>,
        gate: &Arc<Gate>,
    ) -> Result<Self, OpenError> {
        let target = as_identity(target, order);
        let sessions = Guarded::open(&target, world, gate).await?;
        let tools = sessions.all.links().iter().flat_map(Link::tool_names).collect();
        let identity = Identity {
            name: order.name.clone(),
            role: order.role.clone(),
            tools,
            default_args: order.default_args.clone(),
        };
        Ok(Self { identity, sessions, target, shim_folder })
    }

    /// The raw HTTP connection of this identity.
    pub(super) fn raw_connection(&self) -> Option<RawConnection> {
        RawConnection::of(&self.target)
    }

    /// Everything that the target lists for this identity.
    pub(super) async fn survey(&self) -> Vec<(String, Surface)> {
        let listed = self.sessions.all.survey().await.into_iter();
        listed.map(|(name, surface, problems)| (name, Surface { problems, ..surface })).collect()
    }

    /// Opens separate sessions that an attempt may break.
    pub(super) async fn alone(&self, world: &World) -> Result<Guarded, OpenError> {
        Guarded::open(&self.target, world, &self.sessions.gate).await
    }

    /// Whether an attempt may be sent.
    pub(super) fn may(&self, attempt: &Attempt) -> bool {
        self.sessions.gate.allows(attempt, &self.target.default_args)
    }

    /// Whether a step may be sent.
    pub(super) fn allows(&self, step: &Step) -> bool {
        self.sessions.gate.check(step, &self.target.default_args).is_ok()
    }

    pub(super) async fn close(&self) {
        self.sessions.close().await;
    }

    /// Sends one step.
    pub(super) async fn step(&self, step: &Step) -> Exchange {
        self.step_within(step, CALL_TIME).await
    }

    /// Sends one step with a time limit.
    pub(super) async fn step_within(&self, step: &Step, limit: Duration) -> Exchange {
        let exchange = self.sessions.send_within(step, limit).await;
        if let Some(shim_folder) = &self.shim_folder {
            shim_folder.stand_in(&exchange.outcome.said());
        }
        exchange
    }
}

/// Sessions that send everything through the gate.
pub(super) struct Guarded {
    all: Sessions,
    default_args: Map<String, Value>,
    gate: Arc<Gate>,
}

impl Guarded {
    async fn open(target: &McpTarget, world: &World, gate: &Arc<Gate>) -> Result<Self, OpenError> {
        let all = Sessions::open(target, world).await?;
        Ok(Self { all, default_args: target.default_args.clone(), gate: gate.clone() })
    }

    /// Sends one step with a time limit.
    pub(super) async fn send_within(&self, step: &Step, limit: Duration) -> Exchange {
        if let Err(why) = self.gate.check(step, &self.default_args) {
            return Exchange::of_step(step, Outcome::Refused { why });
        }
        match tokio::time::timeout(limit, self.all.step_of_any_tool(step)).await {
            Ok(Ok(exchange)) => exchange,
            Ok(Err(error)) => Exchange::of_step(step, Outcome::Refused { why: error.to_string() }),
            Err(_) => Exchange::of_step(step, Outcome::TimedOut { after: limit }).within(limit),
        }
    }

    /// Sends raw bytes and returns the session, so that the caller can check whether the server is alive.
    pub(super) async fn send_raw(&self, bytes: &[u8]) -> Option<Arc<Session>> {
        self.gate.check_raw(bytes).ok()?;
        let session = self.all.link(None).ok()?.session().await.ok()?;
        session.send_bytes(bytes.to_vec());
        Some(session)
    }

    pub(super) async fn close(&self) {
        self.all.close().await;
    }
}

/// The target with the credentials of an identity instead of its own.
fn as_identity(target: &McpTarget, order: &IdentityOrder) -> McpTarget {
    let mut target = target.clone();
    target.default_args.extend(order.default_args.clone());
    for server in &mut target.servers {
        match &mut server.launch {
            Launch::Command { env, .. } | Launch::Path { env, .. } => {
                env.extend(order.env.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            Launch::Url { headers, .. } => {
                let own = |name: &str| {
                    order.headers.iter().any(|(new, _)| new.eq_ignore_ascii_case(name))
                };
                headers.retain(|(name, _)| !own(name));
                headers.extend(order.headers.iter().cloned());
            }
        }
    }
    target
}

/// Adds variables to the environment of every server that is started.
pub(super) fn with_env(target: &mut McpTarget, variables: &[(String, String)]) {
    for server in &mut target.servers {
        if let Launch::Command { env, .. } | Launch::Path { env, .. } = &mut server.launch {
            for (name, value) in variables {
                env.entry(name.clone()).or_insert_with(|| SecretString::from(value.clone()));
            }
        }
    }
}
