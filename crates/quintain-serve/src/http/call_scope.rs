//! Whether the token of a request suffices for the tool that it calls.

use serde_json::Value;

use super::state::HttpState;
use crate::principal::Principal;

/// The scope that a call needs and the principal lacks.
pub(super) fn missing_scope(
    state: &HttpState,
    principal: &Principal,
    message: &Value,
) -> Option<String> {
    let method = message.get("method").and_then(Value::as_str)?;
    if !method.ends_with("tools/call") {
        return None;
    }
    let name = message.pointer("/params/name").and_then(Value::as_str)?;
    let scope = state.server.catalogue.tool(name)?.tool.meta().scope;
    (!principal.may(scope)).then(|| scope.to_string())
}
