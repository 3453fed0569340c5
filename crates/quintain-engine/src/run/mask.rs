//! Masks secrets in a result before anybody sees or keeps it.

use quintain_core::evidence::{Exchange, Outcome};
use quintain_core::response::Response;
use quintain_core::result::CaseResult;
use quintain_wire::redact::{MASK, Redactor};
use serde_json::{Map, Value};

/// Names of variables whose values are nobody's business, without case, dashes and underscores.
const PRIVATE: [&str; 16] = [
    "accesstoken",
    "apikey",
    "apisecret",
    "auth",
    "authorization",
    "bearer",
    "clientsecret",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "refreshtoken",
    "secret",
    "token",
];

/// Replaces the values of variables that are named like secrets, and every known secret wherever it
/// stands.
pub(crate) fn mask(result: &mut CaseResult, redactor: &Redactor) {
    hide(&mut result.vars);
    if let Some(Value::Object(vars)) = result.test.get_mut("vars") {
        hide(vars);
    }
    if redactor.is_empty() {
        return;
    }
    text(&mut result.prompt.raw, redactor);
    text(&mut result.prompt.label, redactor);
    map(&mut result.vars, redactor);
    value(&mut result.test, redactor);
    value(&mut result.response.output, redactor);
    map(&mut result.response.metadata, redactor);
    let Response { raw, untransformed, log_probs, guardrails, .. } = &mut result.response;
    for part in [raw, untransformed, log_probs, guardrails].into_iter().flatten() {
        value(part, redactor);
    }
    for part in [&mut result.response.error, &mut result.error, &mut result.description] {
        part.iter_mut().for_each(|part| text(part, redactor));
    }
    let extra = result.evidence.extra.iter_mut().map(|extra| &mut extra.exchange);
    for part in result.evidence.exchanges.iter_mut().chain(extra) {
        exchange(part, redactor);
    }
    if let Some(grade) = &mut result.grade {
        text(&mut grade.reason, redactor);
        for component in &mut grade.components {
            value(&mut component.assertion, redactor);
            text(&mut component.verdict.reason, redactor);
            if let Some(part) = &mut component.verdict.metadata {
                value(part, redactor);
            }
            for part in &mut component.verdict.components {
                text(&mut part.reason, redactor);
            }
        }
    }
}

fn hide(entries: &mut Map<String, Value>) {
    for (name, value) in entries {
        let plain = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
        match value {
            Value::String(text) if PRIVATE.contains(&plain(name).as_str()) => {
                text.clear();
                text.push_str(MASK);
            }
            Value::Object(inner) => hide(inner),
            Value::Array(items) => {
                items.iter_mut().filter_map(Value::as_object_mut).for_each(hide);
            }
            _ => {}
        }
    }
}

fn exchange(exchange: &mut Exchange, redactor: &Redactor) {
    value(&mut exchange.sent, redactor);
    exchange.notices.iter_mut().for_each(|notice| value(notice, redactor));
    match &mut exchange.outcome {
        Outcome::Reply(result) | Outcome::ToolError(result) => value(result, redactor),
        Outcome::RpcError { message, data, .. } => {
            text(message, redactor);
            data.iter_mut().for_each(|data| value(data, redactor));
        }
        Outcome::Closed { why } | Outcome::Refused { why } => text(why, redactor),
        Outcome::Garbled { why, bytes } => {
            text(why, redactor);
            *bytes = redactor.bytes(&std::mem::take(bytes).into()).into();
        }
        Outcome::TimedOut { .. } => {}
    }
}

fn text(text: &mut String, redactor: &Redactor) {
    if let std::borrow::Cow::Owned(masked) = redactor.text(text) {
        *text = masked;
    }
}

fn map(entries: &mut Map<String, Value>, redactor: &Redactor) {
    entries.values_mut().for_each(|entry| value(entry, redactor));
}

fn value(part: &mut Value, redactor: &Redactor) {
    match part {
        Value::String(part) => text(part, redactor),
        Value::Array(items) => items.iter_mut().for_each(|item| value(item, redactor)),
        Value::Object(entries) => {
            // A hostile answer may carry a secret as a key.
            if entries.keys().any(|key| matches!(redactor.text(key), std::borrow::Cow::Owned(_))) {
                let masked = std::mem::take(entries)
                    .into_iter()
                    .map(|(key, value)| (redactor.text(&key).into_owned(), value));
                *entries = masked.collect();
            }
            map(entries, redactor);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
