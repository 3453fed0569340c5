//! Sends one attempt over the connection that it needs.

use std::time::Duration;

use quintain_evidence::evidence::{Evidence, Exchange, Observation, Outcome};
use quintain_evidence::probe::Step;
use quintain_redteam::attack::{Action, Attempt, HttpRequest};
use quintain_wire::rpc::CallError;
use serde_json::json;

use super::executor::Executor;
use super::files::Files;
use super::learn::ping;

/// Number of steps before a slow one that are sent again for comparison.
const COMPARED: usize = 6;
/// Number of unanswered requests in a session after which only its last step is sent.
const MAX_UNANSWERED: usize = 1;
/// Time limit of a ping after a malformed message. Generous, since a busy machine is not a weakness of the server.
const PING_TIMEOUT: Duration = Duration::from_secs(10);

impl Executor<'_> {
    pub(super) async fn make(&self, attempt: &Attempt) -> Evidence {
        let mut evidence = Evidence::default();
        // Series of growing inputs contain no names that could become files.
        if !matches!(attempt.action, Action::Until { .. }) {
            let sent = serde_json::to_value(attempt.action.steps()).unwrap_or_default();
            let drawn = self.trial_plan.drawn.with(&attempt.nonce);
            self.observer.with_planted(|planted| planted.sent(&attempt.nonce, &drawn, &sent));
        }
        match &attempt.action {
            Action::Steps { steps, identity } => {
                let Some(identity_sessions) = self.sessions_by_identity.get(*identity) else {
                    return evidence;
                };
                for step in steps {
                    let exchange = identity_sessions
                        .step_within(step, self.silent_tools.time_limit(step))
                        .await;
                    let lost = matches!(exchange.outcome, Outcome::Closed { .. });
                    if lost {
                        // Another attempt may have killed the server, so repeat this one in separate sessions.
                        identity_sessions.step(&ping()).await;
                        return self.alone(steps, *identity).await;
                    }
                    evidence.exchanges.push(exchange);
                }
            }
            Action::Alone { steps, identity } => {
                return self.alone(steps, *identity).await;
            }
            Action::Watched { steps, identity } => {
                return self.watched(steps, *identity).await;
            }
            Action::Until { steps, identity, slow_after } => {
                return self.until(steps, *identity, *slow_after).await;
            }
            Action::Frame { bytes } => return self.frame(bytes).await,
            Action::Http(request) => evidence.exchanges.push(self.http(request).await),
            Action::Chat(chat) => return self.converse(chat, attempt).await,
            Action::Talk { chat, strategy } => return self.talk(chat, *strategy, attempt).await,
        }
        evidence
    }

    /// Sends steps over separate sessions.
    pub(super) async fn alone(&self, steps: &[Step], identity: usize) -> Evidence {
        let mut evidence = Evidence::default();
        let Some(identity_sessions) = self.sessions_by_identity.get(identity) else {
            return evidence;
        };
        let Ok(sessions) = identity_sessions.alone(self.world).await else { return evidence };
        let mut unanswered = 0;
        for (at, step) in steps.iter().enumerate() {
            // The last step checks whether the server is alive, so skip the others.
            if unanswered >= MAX_UNANSWERED && at + 1 < steps.len() {
                continue;
            }
            let exchange = sessions.send_within(step, self.silent_tools.time_limit(step)).await;
            unanswered += usize::from(matches!(exchange.outcome, Outcome::TimedOut { .. }));
            let lost = lost(&exchange);
            evidence.exchanges.push(exchange);
            if let Some(exit) = lost {
                evidence.observations.push(exit);
                break;
            }
        }
        sessions.close().await;
        evidence
    }

    /// Like [`Self::alone`], but checks the files of the target after each step and stops at the first unanswered one.
    async fn watched(&self, steps: &[Step], identity: usize) -> Evidence {
        let mut evidence = Evidence::default();
        let Some(identity_sessions) = self.sessions_by_identity.get(identity) else {
            return evidence;
        };
        let Ok(sessions) = identity_sessions.alone(self.world).await else { return evidence };
        // Take the first snapshot after the target has started, since its start may change files.
        let is_here = self.trial_plan.canaries.is_some();
        let mut files = is_here.then(|| Files::of(&self.trial_plan.roots));
        for (number, step) in steps.iter().enumerate() {
            let exchange = sessions.send_within(step, self.silent_tools.time_limit(step)).await;
            let answered = exchange.outcome.is_answer();
            evidence.observations.extend(lost(&exchange));
            evidence.exchanges.push(exchange);
            let changed = files.as_mut().map(Files::look).unwrap_or_default();
            let at = |(path, gone)| Observation::Changed { path, step: number, gone };
            evidence.observations.extend(changed.into_iter().map(at));
            if !answered {
                break;
            }
        }
        sessions.close().await;
        evidence
    }

    /// Sends steps over separate sessions until one takes longer than `slow_after`. Since a busy machine can slow down any
    /// step, sends a slow step again, and also the steps that it is compared with.
    async fn until(&self, steps: &[Step], identity: usize, slow_after: Duration) -> Evidence {
        let mut evidence = Evidence::default();
        let Some(identity_sessions) = self.sessions_by_identity.get(identity) else {
            return evidence;
        };
        let Ok(sessions) = identity_sessions.alone(self.world).await else { return evidence };
        let ask = |step| sessions.send_within(step, self.silent_tools.time_limit(step));
        for (number, step) in steps.iter().enumerate() {
            // A target that is already slow at the first step would take too long for the whole series.
            let limit = if number == 0 { slow_after / 8 } else { slow_after };
            let mut exchange = ask(step).await;
            let tries = if number == 0 { 2 } else { u8::from(exchange.took < slow_after * 4) };
            for _ in 0..tries {
                if exchange.took > limit && exchange.outcome.is_answer() {
                    keep_faster(&mut exchange, ask(step).await);
                }
            }
            let lost = lost(&exchange);
            let slow = exchange.took > limit;
            let answered = exchange.outcome.is_answer();
            evidence.exchanges.push(exchange);
            evidence.observations.extend(lost.clone());
            if slow && answered {
                let first = number.saturating_sub(COMPARED);
                for (step, kept) in
                    steps.iter().zip(&mut evidence.exchanges).take(number).skip(first)
                {
                    keep_faster(kept, ask(step).await);
                }
            }
            if slow || lost.is_some() {
                break;
            }
        }
        sessions.close().await;
        evidence
    }

    /// Sends raw bytes over a separate session, then checks whether the server is alive.
    async fn frame(&self, bytes: &[u8]) -> Evidence {
        let mut evidence = Evidence::default();
        let Some(identity_sessions) = self.sessions_by_identity.first() else { return evidence };
        let Ok(sessions) = identity_sessions.alone(self.world).await else { return evidence };
        if let Some(session) = sessions.send_raw(bytes).await {
            let asked = tokio::time::timeout(PING_TIMEOUT, session.ping()).await;
            let outcome = match asked {
                Ok(Ok(_)) => Outcome::Reply(json!({})),
                Ok(Err(error)) => match session.connection().ended() {
                    Some(ended) => {
                        evidence.observations.push(Observation::Exit { why: ended.to_string() });
                        Outcome::Closed { why: error.to_string() }
                    }
                    // A server that does not know this request is alive.
                    None => match error {
                        CallError::Rpc { .. } => Outcome::Reply(json!({})),
                        error => Outcome::Refused { why: error.to_string() },
                    },
                },
                Err(_) => Outcome::TimedOut { after: PING_TIMEOUT },
            };
            let sent = json!({"bytes": String::from_utf8_lossy(&bytes[..bytes.len().min(4096)])});
            evidence.exchanges.push(Exchange::new("", "frame, then ping", sent, outcome));
        }
        sessions.close().await;
        evidence
    }

    async fn http(&self, request: &HttpRequest) -> Exchange {
        let sent = serde_json::to_value(request).unwrap_or_default();
        Exchange::new("", "HTTP", sent, self.raw_connections.send(request).await)
    }
}

/// An exit observation if the connection closed.
fn lost(exchange: &Exchange) -> Option<Observation> {
    match &exchange.outcome {
        Outcome::Closed { why } => Some(Observation::Exit { why: why.clone() }),
        _ => None,
    }
}

/// Keeps the faster answer.
fn keep_faster(kept: &mut Exchange, other: Exchange) {
    if other.outcome.is_answer() && other.took < kept.took {
        *kept = other;
    }
}
