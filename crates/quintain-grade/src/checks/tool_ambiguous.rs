//! A call of a tool that several servers offer, without the name of a server.

use quintain_content::registry::Meta;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::CallKind;

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::view::{CallView, Offer, View};

pub(super) struct ToolAmbiguous;

static META: Meta = Meta {
    id: "tool.ambiguous",
    aliases: &[],
    summary: "a tool is called that several servers offer",
    docs: "\
# What it does
Reports calls that name no server although two or more servers list a tool of that name.

# Why it matters
Which server answers then depends on the host. A server can shadow a tool of another server by its name.

# What counts as proof
The lists of at least two servers contain the name at the time of the call, and the call names none of them.

# Severity
Warning, in the layer *call*.

# When it does not apply
Fewer than two servers are recorded.

# Example
```json
{\"name\": \"search\"}
```
with servers `docs` and `web`, which both list `search`
",
    since: "0.2.0",
};

impl TraceCheck for ToolAmbiguous {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        if view.trace.servers.len() < 2 {
            return Checked::NotApplicable("fewer than two servers are recorded");
        }
        let tools = view.calls.iter().filter(|call| call.call.kind == CallKind::Tool);
        let ambiguous = tools
            .filter(|call| matches!(call.offer, Offer::Ambiguous) && call.call.server.is_none());
        Checked::Findings(ambiguous.map(|call| fault(view, call)).collect())
    }
}

fn fault(view: &View<'_>, call: &CallView<'_>) -> Fault {
    let name = &call.call.name;
    let servers = view.trace.servers.iter().filter(|server| {
        let tools = server.tools_at(call.step).unwrap_or_default();
        tools.iter().any(|tool| tool.name() == Some(name))
    });
    let owners: Vec<&str> = servers.map(|server| server.name.as_deref().unwrap_or("?")).collect();
    Fault {
        severity: Level::Warning,
        call: Some(call.position),
        pointer: String::new(),
        message: format!("tool `{name}` is ambiguous: {}", owners.join(", ")),
        evidence: name.clone(),
        hint: "record the server of each call, or give the tools different names".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::trace::{Call, Trace};
    use serde_json::json;

    use super::super::testing::{found_at, server};
    use super::*;

    #[test]
    fn a_name_on_two_servers_needs_a_server() {
        let search = || vec![json!({"name": "search"})];
        let servers = vec![server("docs", search()), server("web", search()), server("c", vec![])];
        let mut trace = Trace { servers, ..Trace::default() };
        trace.call(Call::tool("search", json!({})));
        trace.call(Call { server: Some("web".into()), ..Call::tool("search", json!({})) });
        trace.call(Call::tool("find", json!({})));
        assert_eq!(found_at(&ToolAmbiguous, &trace), [0]);
        trace.servers.remove(0);
        assert_eq!(found_at(&ToolAmbiguous, &trace), [0; 0]);
    }
}
