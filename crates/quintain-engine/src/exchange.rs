//! Turns frames into evidence: the outcome of a request, independent of the transport.

use std::time::Duration;

use quintain_evidence::evidence::{Exchange, Outcome};
use quintain_wire::rpc::{CallError, Notice, Reply};
use quintain_wire::transport::TransportError;
use serde_json::{Map, Value, json};

/// The exchange of a request and its reply. `waited` is the duration if the request failed.
pub fn exchange(
    server: &str,
    method: &str,
    params: Map<String, Value>,
    reply: Result<Reply, CallError>,
    waited: Duration,
) -> Exchange {
    let (outcome, took, notices) = match reply {
        Ok(reply) => {
            let outcome = match reply.value() {
                Ok(result) if method == "tools/call" => Outcome::of_tool_result(result),
                Ok(result) => Outcome::Reply(result),
                Err(error) => outcome(error),
            };
            (outcome, reply.took, reply.notices.iter().map(notice).collect())
        }
        Err(error) => {
            let took = match &error {
                CallError::TimedOut { after } => *after,
                _ => waited,
            };
            (outcome(error), took, Vec::new())
        }
    };
    Exchange {
        server: server.to_owned(),
        method: method.to_owned(),
        sent: Value::Object(params),
        outcome,
        took,
        notices,
    }
}

fn outcome(error: CallError) -> Outcome {
    match error {
        CallError::Rpc { error, .. } => {
            Outcome::RpcError { code: error.code, message: error.message, data: error.data }
        }
        CallError::TimedOut { after } => Outcome::TimedOut { after },
        CallError::Unreadable { ref frame, .. } => {
            Outcome::Garbled { why: error.to_string(), bytes: frame.to_vec() }
        }
        endless @ CallError::Endless { .. } => Outcome::Refused { why: endless.to_string() },
        CallError::Transport(error) => match error {
            TransportError::Status { .. }
            | TransportError::Auth(_)
            | TransportError::Redirected { .. }
            | TransportError::RedirectLoop { .. } => Outcome::Refused { why: error.to_string() },
            TransportError::NotMcp { ref body, .. } => {
                Outcome::Garbled { why: error.to_string(), bytes: body.to_vec() }
            }
            // The connection survives a message that is too large, so this is not `Closed`.
            TransportError::TooLarge { .. } => {
                Outcome::Garbled { why: error.to_string(), bytes: Vec::new() }
            }
            error => Outcome::Closed { why: error.to_string() },
        },
    }
}

/// A notice in the form that evidence stores.
pub fn notice(notice: &Notice) -> Value {
    match notice {
        Notice::Notification { method, .. } => {
            json!({"method": method, "params": notice.params()})
        }
        Notice::Garbled { why, excerpt } => {
            json!({"garbled": String::from_utf8_lossy(excerpt), "why": why})
        }
        Notice::Stray { id } => json!({"stray": id}),
        Notice::Asked { method, answered } => json!({"asked": method, "answered": answered}),
    }
}
