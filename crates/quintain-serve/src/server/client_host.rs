//! The client of one call, as tools see it. A legacy client is asked directly; a modern one gets the question as result of
//! its request, and answers with the next one.

#![expect(deprecated, reason = "clients in the field still offer sampling")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use quintain_engine::Sampler;
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, CreateMessageRequest, CreateMessageRequestParams, ElicitRequest,
    ElicitRequestParams, ElicitationSchema, InputRequest, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::Peer;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::host::{Decision, Host, Progress, Question, SamplingRequest};
use crate::settings::Settings;
use crate::updates::Updates;

/// Reports of a tool that follow each other faster are combined.
const SHORTEST_GAP: Duration = Duration::from_millis(100);
/// How much a heartbeat adds: the protocol requires every report to be above the last one.
const HEARTBEAT: f64 = 0.001;

/// How often a run may ask the client's model.
const MOST_SAMPLES: u32 = 1_000;

/// A question that the client must answer before the call can continue.
pub(super) struct InputNeeded {
    pub(super) request: InputRequest,
    pub(super) answer: oneshot::Sender<Value>,
}

pub(super) struct ClientHost {
    attached: Mutex<Attached>,
    progress: Mutex<Reported>,
    capabilities: ClientCapabilities,
    pub(super) cancel: CancellationToken,
    /// Where questions go if the client cannot be asked directly.
    inputs: Option<mpsc::Sender<InputNeeded>>,
    updates: Updates,
    owner: String,
    sampling: SamplingLimits,
    is_task: bool,
}

/// The request that is under way: a retry has a new one.
struct Attached {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
}

struct Reported {
    last: Option<Progress>,
    sent: f64,
    at: Option<Instant>,
}

#[derive(Clone, Copy)]
struct SamplingLimits {
    enabled: bool,
    most_tokens: u32,
    temperature: f64,
}

/// What a host is made of.
pub(super) struct ClientParts<'a> {
    pub(super) peer: Peer<RoleServer>,
    pub(super) token: Option<ProgressToken>,
    pub(super) capabilities: ClientCapabilities,
    pub(super) inputs: Option<mpsc::Sender<InputNeeded>>,
    pub(super) updates: Updates,
    pub(super) owner: &'a str,
    pub(super) settings: &'a Settings,
    pub(super) is_task: bool,
}

impl ClientHost {
    pub(super) fn new(parts: ClientParts<'_>) -> Self {
        let settings = parts.settings;
        Self {
            attached: Mutex::new(Attached { peer: parts.peer, token: parts.token }),
            progress: Mutex::new(Reported { last: None, sent: -1.0, at: None }),
            capabilities: parts.capabilities,
            cancel: CancellationToken::new(),
            inputs: parts.inputs,
            updates: parts.updates,
            owner: parts.owner.to_owned(),
            is_task: parts.is_task,
            sampling: SamplingLimits {
                enabled: settings.enable_sampling,
                most_tokens: settings.sampling_max_tokens,
                temperature: settings.sampling_default_temperature,
            },
        }
    }

    fn attached(&self) -> MutexGuard<'_, Attached> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reported(&self) -> MutexGuard<'_, Reported> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Continues with another request of the same client.
    pub(super) fn attach(&self, peer: Peer<RoleServer>, token: Option<ProgressToken>) {
        *self.attached() = Attached { peer, token };
        self.reported().sent = -1.0;
    }

    fn peer(&self) -> Peer<RoleServer> {
        self.attached().peer.clone()
    }

    /// The last message of the tool about its progress.
    pub(super) fn last_message(&self) -> Option<String> {
        self.reported().last.as_ref().map(|progress| progress.message.clone())
    }

    /// Reports that the call is alive, if the client asked for progress and heard nothing for a while.
    pub(super) async fn heartbeat(&self) {
        let recently =
            self.reported().at.is_some_and(|at| at.elapsed() < Duration::from_millis(900));
        if !recently {
            self.send_progress().await;
        }
    }

    async fn send_progress(&self) {
        let (peer, token) = {
            let attached = self.attached();
            let Some(token) = attached.token.clone() else { return };
            (attached.peer.clone(), token)
        };
        let report = {
            let mut reported = self.reported();
            let last = reported.last.clone();
            let done = last.as_ref().map_or(0.0, |progress| progress.done);
            let value = if done > reported.sent { done } else { reported.sent + HEARTBEAT };
            reported.sent = value;
            reported.at = Some(Instant::now());
            let mut report = ProgressNotificationParam::new(token, value);
            if let Some(total) = last.as_ref().and_then(|progress| progress.total) {
                report = report.with_total(total);
            }
            report.with_message(
                last.map_or_else(|| "working".to_owned(), |progress| progress.message),
            )
        };
        let _ = peer.notify_progress(report).await;
    }

    async fn ask(&self, request: InputRequest) -> Option<Value> {
        ask(&self.peer(), self.inputs.as_ref(), request).await
    }

    fn can_elicit(&self) -> bool {
        // An empty capability means forms, as before 2025-11-25.
        let elicitation = self.capabilities.elicitation.as_ref();
        elicitation.is_some_and(|modes| modes.form.is_some() || modes.url.is_none())
    }
}

/// Asks a client: a modern one through the result of its request, an earlier one directly.
async fn ask(
    peer: &Peer<RoleServer>,
    inputs: Option<&mpsc::Sender<InputNeeded>>,
    request: InputRequest,
) -> Option<Value> {
    if let Some(inputs) = inputs {
        let (answer, answered) = oneshot::channel();
        inputs.send(InputNeeded { request, answer }).await.ok()?;
        return answered.await.ok();
    }
    match request {
        InputRequest::Elicitation(request) => {
            let result = peer.create_elicitation(request.params).await;
            result.ok().and_then(|result| serde_json::to_value(result).ok())
        }
        InputRequest::CreateMessage(request) => match peer.create_message(request.params).await {
            Ok(result) => serde_json::to_value(result).ok(),
            Err(error) => Some(json!({"error": error.to_string()})),
        },
        _ => None,
    }
}

/// The client's model for one run: within the limits of the settings, and `MOST_SAMPLES` times at most.
struct ClientSampler {
    peer: Peer<RoleServer>,
    inputs: Option<mpsc::Sender<InputNeeded>>,
    limits: SamplingLimits,
    left: AtomicU32,
}

impl Sampler for ClientSampler {
    fn sample(&self, params: Value) -> BoxFuture<'_, Result<Value, String>> {
        Box::pin(async move {
            let one_less = |left: u32| left.checked_sub(1);
            let is_left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
            if is_left.is_err() {
                return Err(format!("the client was asked {MOST_SAMPLES} times by this run"));
            }
            let mut params: CreateMessageRequestParams = serde_json::from_value(params)
                .map_err(|error| format!("invalid sampling request: {error}"))?;
            params.max_tokens = params.max_tokens.min(self.limits.most_tokens);
            params.temperature.get_or_insert(self.limits.temperature as f32);
            let request = InputRequest::CreateMessage(CreateMessageRequest::new(params));
            let answer = ask(&self.peer, self.inputs.as_ref(), request).await;
            let answer = answer.ok_or("the client did not answer")?;
            match answer.get("error").and_then(Value::as_str) {
                Some(error) => Err(error.to_owned()),
                None => Ok(answer),
            }
        })
    }
}

impl Host for ClientHost {
    fn progress(&self, progress: Progress) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let is_due = {
                let mut reported = self.reported();
                reported.last = Some(progress);
                reported.at.is_none_or(|at| at.elapsed() >= SHORTEST_GAP)
            };
            if is_due {
                self.send_progress().await;
            }
        })
    }

    fn cancelled(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.cancel.cancelled())
    }

    fn elicit(&self, question: Question) -> BoxFuture<'_, Option<Decision>> {
        Box::pin(async move {
            if !self.can_elicit() {
                return None;
            }
            let params = ElicitRequestParams::FormElicitationParams {
                meta: None,
                message: question.message,
                requested_schema: ElicitationSchema::new(std::collections::BTreeMap::new()),
            };
            let answer = self.ask(InputRequest::Elicitation(ElicitRequest::new(params))).await?;
            let is_accepted = answer.get("action").and_then(Value::as_str) == Some("accept")
                && answer.pointer("/content/confirm").and_then(Value::as_bool) != Some(false);
            Some(if is_accepted { Decision::Accepted } else { Decision::Declined })
        })
    }

    fn sample(&self, request: SamplingRequest) -> BoxFuture<'_, Option<Result<Value, String>>> {
        Box::pin(async move {
            if !self.offers_sampling() {
                return None;
            }
            let messages = match serde_json::from_value(request.messages) {
                Ok(messages) => messages,
                Err(error) => return Some(Err(format!("invalid messages: {error}"))),
            };
            let most_tokens = request.max_tokens.min(self.sampling.most_tokens);
            let mut params = CreateMessageRequestParams::new(messages, most_tokens);
            params.system_prompt = request.system_prompt;
            params.temperature =
                Some(request.temperature.unwrap_or(self.sampling.temperature) as f32);
            let answer =
                self.ask(InputRequest::CreateMessage(CreateMessageRequest::new(params))).await;
            Some(match answer {
                None => Err("the client did not answer".to_owned()),
                Some(answer) => match answer.get("error").and_then(Value::as_str) {
                    Some(error) => Err(error.to_owned()),
                    None => Ok(answer),
                },
            })
        })
    }

    fn sampler(&self) -> Option<Arc<dyn Sampler>> {
        self.offers_sampling().then(|| {
            let sampler = ClientSampler {
                peer: self.peer(),
                inputs: self.inputs.clone(),
                limits: self.sampling,
                left: AtomicU32::new(MOST_SAMPLES),
            };
            Arc::new(sampler) as Arc<dyn Sampler>
        })
    }

    fn offers_sampling(&self) -> bool {
        self.sampling.enabled && self.capabilities.sampling.is_some()
    }

    fn is_task(&self) -> bool {
        self.is_task
    }

    fn resource_updated(&self, uri: String) -> BoxFuture<'_, ()> {
        let path = uri.split_once("://").map_or(uri.as_str(), |(_, path)| path);
        self.updates.announce(&self.owner, path);
        Box::pin(std::future::ready(()))
    }
}
