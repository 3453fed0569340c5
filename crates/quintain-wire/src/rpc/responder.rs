//! Answers to requests of a server: roots, sampling, elicitation.
//!
//! Only declared capabilities are answered: other requests get "method not found", as from a client without that
//! capability.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use crate::message::RpcError;

/// Answers a target's requests.
pub trait Responder: Send + Sync {
    /// The client capabilities that this responder declares.
    fn capabilities(&self) -> Map<String, Value>;

    /// Answers one request.
    fn answer<'a>(
        &'a self,
        method: &'a str,
        params: &'a Value,
    ) -> BoxFuture<'a, Result<Value, RpcError>>;
}

/// How to answer an elicitation.
#[derive(Debug, Clone, PartialEq)]
pub enum Elicited {
    /// Accept with the defaults of the requested schema.
    Defaults,
    /// `accept`, `decline` or `cancel`, with content for the first.
    Reply {
        /// The action.
        action: String,
        /// The content of an acceptance.
        content: Option<Value>,
    },
}

/// Scripted answers. Each list is used in order; its last entry repeats.
#[derive(Debug, Default)]
pub struct Script {
    roots: Option<Vec<Value>>,
    sampling: Option<Mutex<VecDeque<Value>>>,
    elicitation: Option<Mutex<VecDeque<Elicited>>>,
    /// Additional capabilities to declare, such as extensions.
    extra: Map<String, Value>,
}

impl Script {
    /// Declares roots.
    pub fn with_roots(mut self, roots: Vec<Value>) -> Self {
        self.roots = Some(roots);
        self
    }

    /// Declares sampling; each entry is a text or a whole result.
    pub fn with_sampling(mut self, replies: Vec<Value>) -> Self {
        self.sampling = Some(Mutex::new(replies.into()));
        self
    }

    /// Declares elicitation.
    pub fn with_elicitation(mut self, replies: Vec<Elicited>) -> Self {
        self.elicitation = Some(Mutex::new(replies.into()));
        self
    }

    /// Declares a capability that needs no answers.
    pub fn with_capability(mut self, name: &str, value: Value) -> Self {
        self.extra.insert(name.to_owned(), value);
        self
    }

    fn reply(&self, method: &str, params: &Value) -> Result<Value, RpcError> {
        match method {
            "roots/list" => {
                if let Some(roots) = &self.roots {
                    return Ok(json!({"roots": roots}));
                }
            }
            "sampling/createMessage" => {
                if let Some(reply) = self.sampling.as_ref().and_then(next) {
                    return Ok(sampled(reply));
                }
            }
            "elicitation/create" => {
                if let Some(reply) = self.elicitation.as_ref().and_then(next) {
                    return Ok(elicited(reply, params));
                }
            }
            _ => {}
        }
        Err(RpcError::new(-32601, format!("Method not found: {method} is not declared")))
    }
}

impl Responder for Script {
    fn capabilities(&self) -> Map<String, Value> {
        let mut declared = self.extra.clone();
        if self.roots.is_some() {
            declared.insert("roots".into(), json!({}));
        }
        if self.sampling.is_some() {
            declared.insert("sampling".into(), json!({}));
        }
        if self.elicitation.is_some() {
            declared.insert("elicitation".into(), json!({"form": {"applyDefaults": true}}));
        }
        declared
    }

    fn answer<'a>(
        &'a self,
        method: &'a str,
        params: &'a Value,
    ) -> BoxFuture<'a, Result<Value, RpcError>> {
        Box::pin(async move { self.reply(method, params) })
    }
}

fn next<T: Clone>(replies: &Mutex<VecDeque<T>>) -> Option<T> {
    let mut replies = replies.lock().unwrap_or_else(PoisonError::into_inner);
    if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() }
}

fn sampled(reply: Value) -> Value {
    match reply {
        Value::String(text) => json!({
            "role": "assistant",
            "content": {"type": "text", "text": text},
            "model": "scripted",
            "stopReason": "endTurn",
        }),
        whole => whole,
    }
}

fn elicited(reply: Elicited, params: &Value) -> Value {
    match reply {
        Elicited::Defaults => json!({"action": "accept", "content": defaults(params)}),
        Elicited::Reply { action, content } => match content {
            Some(content) => json!({"action": action, "content": content}),
            None => json!({"action": action}),
        },
    }
}

fn defaults(params: &Value) -> Value {
    let properties = params.pointer("/requestedSchema/properties").and_then(Value::as_object);
    let content = properties.into_iter().flatten().filter_map(|(name, schema)| {
        schema.get("default").map(|value| (name.clone(), value.clone()))
    });
    Value::Object(content.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_declared_is_not_answered() {
        let script = Script::default();
        assert!(script.capabilities().is_empty());
        let error = script.reply("sampling/createMessage", &Value::Null).unwrap_err();
        assert_eq!(error.code, -32601);
    }

    #[test]
    fn scripted_replies_play_in_order_and_the_last_repeats() {
        let script = Script::default().with_sampling(vec![json!("one"), json!("two")]);
        let texts: Vec<Value> = (0..3)
            .map(|_| script.reply("sampling/createMessage", &Value::Null).unwrap())
            .map(|reply| reply["content"]["text"].clone())
            .collect();
        assert_eq!(texts, ["one", "two", "two"]);
    }

    #[test]
    fn defaults_come_from_the_requested_schema() {
        let script = Script::default().with_elicitation(vec![Elicited::Defaults]);
        let params = json!({"requestedSchema": {"properties": {
            "name": {"type": "string", "default": "ada"}, "age": {"type": "integer"}}}});
        let reply = script.reply("elicitation/create", &params).unwrap();
        assert_eq!(reply, json!({"action": "accept", "content": {"name": "ada"}}));
    }
}
