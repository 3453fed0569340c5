//! HTTP requests of attacks on the transport, and their responses.

use quintain_evidence::evidence::Outcome;
use quintain_evidence::probe::Step;
use serde_json::{Map, Value, json};

use super::tool_access;
use crate::attack::{Action, Attempt, Brief, HttpRequest, TargetView, Tried};
use crate::knowledge::Baseline;

/// The header with the session id.
pub(super) const SESSION: &str = "Mcp-Session-Id";

fn post(method: &str, params: &Value) -> HttpRequest {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers = vec![
        header("Content-Type", "application/json"),
        header("Accept", "application/json, text/event-stream"),
    ];
    HttpRequest { method: "POST".to_owned(), headers, body, ..HttpRequest::default() }
}

/// The first request of a session.
pub(super) fn initialize() -> HttpRequest {
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "quintain", "version": "1"}});
    let mut request = post("initialize", &params);
    request.headers.push((SESSION.to_owned(), String::new()));
    request
}

pub(super) fn list() -> HttpRequest {
    post("tools/list", &json!({}))
}

pub(super) fn call(tool: &str, args: &Map<String, Value>) -> HttpRequest {
    post("tools/call", &json!({"name": tool, "arguments": args}))
}

/// A harmless call that works, preferably one with a response that depends on the caller. Without such a call, the
/// list of tools.
pub(super) fn harmless(view: &TargetView<'_>, server: &str) -> HttpRequest {
    let mut calls: Vec<&Baseline> =
        tool_access::readers(view, server).filter(|baseline| baseline.server == server).collect();
    calls.sort_by_key(|baseline| !tool_access::is_personal_call(view, baseline));
    match calls.first().map(|baseline| &baseline.step) {
        Some(Step::Call(known)) => call(&known.tool, &known.args),
        _ => list(),
    }
}

pub(super) fn attempt(
    brief: &Brief<'_>,
    (set, form, role): (usize, &str, &str),
    request: HttpRequest,
) -> Attempt {
    Attempt {
        form: form.to_owned(),
        set,
        role: role.to_owned(),
        action: Action::Http(request),
        nonce: brief.nonce(),
        payload: None,
    }
}

/// The attempt with this role.
pub(super) fn of_role<'t>(tried: &[&'t Tried], role: &str) -> Option<&'t Tried> {
    tried.iter().copied().find(|one| one.attempt.role == role)
}

/// The response to an HTTP request.
pub(super) struct HttpReply<'t> {
    pub(super) status: u64,
    headers: Option<&'t Value>,
    body: &'t str,
}

impl<'t> HttpReply<'t> {
    /// None if nothing was sent or no response came back.
    pub(super) fn of(tried: &'t Tried) -> Option<Self> {
        let Outcome::Reply(reply) = &tried.last()?.outcome else { return None };
        Some(Self {
            status: reply.get("status")?.as_u64()?,
            headers: reply.get("headers"),
            body: reply.get("body").and_then(Value::as_str).unwrap_or_default(),
        })
    }

    pub(super) fn header(&self, name: &str) -> Option<&'t str> {
        let entries = self.headers?.as_object()?;
        let found = entries.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found?.1.as_str()
    }

    /// The result of the JSON-RPC response, plain or in an event. None if it is an error.
    pub(super) fn result(&self) -> Option<Value> {
        let result = |text: &str| {
            let value: Value = serde_json::from_str(text).ok()?;
            value.get("result").cloned()
        };
        result(self.body).or_else(|| {
            let mut data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
            data.find_map(|text| result(text.trim()))
        })
    }

    /// The result of a request that was served: a 2xx status with a result that is not an error.
    pub(super) fn served(&self) -> Option<Value> {
        if !(200..300).contains(&self.status) {
            return None;
        }
        let result = self.result()?;
        let outcome = Outcome::of_tool_result(result);
        match outcome {
            Outcome::Reply(result) if !tool_access::refuses(&Outcome::Reply(result.clone())) => {
                Some(result)
            }
            _ => None,
        }
    }
}

/// The result of an attempt that was served.
pub(super) fn served(tried: &Tried) -> Option<Value> {
    HttpReply::of(tried)?.served()
}

#[cfg(test)]
pub(super) mod testing {
    use quintain_evidence::evidence::Evidence;

    use super::*;
    use crate::attacks::testing::comes;

    /// A response with this status and this JSON-RPC message.
    pub(crate) fn replies(status: u64, body: &Value) -> Evidence {
        comes(Outcome::Reply(json!({"status": status, "headers": {}, "body": body.to_string()})))
    }

    /// A result of `tools/list` that names one tool.
    pub(crate) fn lists() -> Evidence {
        replies(200, &json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "a"}]}}))
    }

    pub(crate) fn unauthorized() -> Evidence {
        replies(401, &json!({"error": "invalid_token"}))
    }

    pub(crate) fn request(attempt: &Attempt) -> HttpRequest {
        match &attempt.action {
            Action::Http(request) => request.clone(),
            other => panic!("{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::replies;
    use super::*;
    use crate::attack::MarkKey;

    fn tried(status: u64, body: &str) -> Tried {
        let mut evidence = replies(status, &Value::Null);
        evidence.exchanges[0].outcome = Outcome::Reply(
            json!({"status": status, "headers": {"MCP-Session-Id": "s"}, "body": body}),
        );
        let attempt = Attempt {
            form: String::new(),
            set: 0,
            role: String::new(),
            action: Action::Http(list()),
            nonce: MarkKey::of_seed(1).marks("test").mark(),
            payload: None,
        };
        Tried { attempt, evidence }
    }

    #[test]
    fn results_are_found_plain_and_in_events() {
        let plain = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#;
        assert!(served(&tried(200, plain)).is_some());
        assert!(served(&tried(200, &format!("event: message\ndata: {plain}\n\n"))).is_some());
        assert!(served(&tried(401, plain)).is_none());
        assert_eq!(HttpReply::of(&tried(200, plain)).unwrap().header(SESSION), Some("s"));
    }

    #[test]
    fn errors_in_a_200_are_no_service() {
        for body in [
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}"#,
            r#"{"result":{"isError":true,"content":[]}}"#,
            r#"{"result":{"content":[{"type":"text","text":"Access denied: log in"}]}}"#,
            "",
            "<html>",
        ] {
            assert!(served(&tried(200, body)).is_none(), "{body}");
        }
    }
}
