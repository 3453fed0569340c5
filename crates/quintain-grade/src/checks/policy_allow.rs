//! Calls of tools that the policy of the grade does not permit.

use quintain_content::glob;
use quintain_content::registry::Meta;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::CallKind;

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::view::{CallView, View};

pub(super) struct PolicyAllow;

static META: Meta = Meta {
    id: "policy.allow",
    aliases: &[],
    summary: "a tool is called that the policy does not permit",
    docs: "\
# What it does
Compares each called tool with the lists `allow` and `deny`. Patterns are `tool` or `server/tool`; `*` matches anything. A
tool is permitted if no pattern of `deny` matches, and a pattern of `allow` matches or `allow` is empty.

# Why it matters
Least privilege: an agent that may answer questions about orders need not be able to refund them.

# What counts as proof
The name of the recorded call. If the server of a call is not known, a pattern with a server permits the tool and does
not deny it.

# Severity
Error, in the layer *call*.

# When it does not apply
Neither `allow` nor `deny` lists a tool.

# Example
```yaml
allow: [\"orders/get_*\"]
deny: [\"*/delete_*\"]
```
",
    since: "0.2.0",
};

impl TraceCheck for PolicyAllow {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, policy: &CallPolicy) -> Checked {
        if policy.allow.is_empty() && policy.deny.is_empty() {
            return Checked::NotApplicable("the policy lists no tools");
        }
        let tools = view.calls.iter().filter(|call| call.call.kind == CallKind::Tool);
        Checked::Findings(tools.filter_map(|call| fault(call, policy)).collect())
    }
}

fn fault(call: &CallView<'_>, policy: &CallPolicy) -> Option<Fault> {
    let name = &call.call.name;
    let denied = policy.deny.iter().find(|pattern| matches(pattern, call) == Some(true));
    let is_allowed = policy.allow.is_empty()
        || policy.allow.iter().any(|pattern| matches(pattern, call) != Some(false));
    let message = match denied {
        Some(pattern) => format!("tool `{name}` is denied by `{pattern}`"),
        None if !is_allowed => format!("tool `{name}` is not in the list of permitted tools"),
        None => return None,
    };
    Some(Fault {
        severity: Level::Error,
        call: Some(call.position),
        pointer: String::new(),
        message,
        evidence: call.server().map_or_else(|| name.clone(), |server| format!("{server}/{name}")),
        hint: "do not offer the tool to the model, or permit it".to_owned(),
    })
}

/// Whether a pattern means the tool of a call; none if that depends on the server, which is not known.
fn matches(pattern: &str, call: &CallView<'_>) -> Option<bool> {
    // The name that the server lists, without what hosts put in front of it.
    let listed = call.tool().and_then(|tool| tool.name()).unwrap_or(&call.call.name);
    let is_tool =
        |pattern: &str| glob::matches(pattern, listed) || glob::matches(pattern, &call.call.name);
    let Some((server, tool)) = pattern.split_once('/') else { return Some(is_tool(pattern)) };
    // Some names of tools contain a slash.
    if glob::matches(pattern, &call.call.name) {
        return Some(true);
    }
    match call.server() {
        Some(name) => Some(glob::matches(server, name) && is_tool(tool)),
        None if !is_tool(tool) => Some(false),
        None if server == "*" => Some(true),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, Trace};
    use serde_json::json;

    use super::super::testing::server;
    use super::*;

    fn found(allow: &[&str], deny: &[&str]) -> Vec<usize> {
        let texts = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect();
        let policy = CallPolicy { allow: texts(allow), deny: texts(deny), ..CallPolicy::default() };
        let mut trace = Trace {
            servers: vec![server("shop", vec![json!({"name": "get_order"})])],
            ..Trace::default()
        };
        trace.call(Call::tool("get_order", json!({})));
        trace.call(Call { server: Some("bank".into()), ..Call::tool("pay", json!({})) });
        trace.call(Call::tool("refund", json!({})));
        let Checked::Findings(faults) = PolicyAllow.check(&View::new(&trace), &policy) else {
            return Vec::new();
        };
        faults.into_iter().filter_map(|fault| fault.call).collect()
    }

    #[test]
    fn patterns_permit_and_deny() {
        assert_eq!(found(&["get_*"], &[]), [1, 2]);
        assert_eq!(
            found(&["shop/*", "bank/pay"], &[]),
            [0; 0],
            "the server of the last is not known"
        );
        assert_eq!(found(&["shop/get_*"], &[]), [1, 2]);
        assert_eq!(found(&[], &["pay"]), [1]);
        assert_eq!(found(&[], &["bank/*"]), [1]);
        assert_eq!(found(&["*"], &["shop/*"]), [0], "a denial needs a known server");
        assert_eq!(found(&[], &["*/refund"]), [2]);
        assert_eq!(found(&[], &[]), [0; 0]);
    }
}
