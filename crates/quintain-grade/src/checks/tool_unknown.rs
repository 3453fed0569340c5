//! A call of a tool that its server does not offer.

use quintain_content::registry::Meta;
use quintain_content::text::short::shortened;
use quintain_evidence::graded::{Layer, Level};
use quintain_evidence::trace::CallKind;

use super::{Checked, Fault, TraceCheck};
use crate::policy::CallPolicy;
use crate::view::{CallView, Offer, View};

pub(super) struct ToolUnknown;

static META: Meta = Meta {
    id: "tool.unknown",
    aliases: &[],
    summary: "a tool is called that no server offers",
    docs: "\
# What it does
Compares the name of each called tool with the tools that its server listed at the time of the call. Hosts that put the
server in front of the name (`mcp__github__get_issue`) are understood.

# Why it matters
A model that invents tools does not know what it can do; the call is lost at best.

# What counts as proof
The tools of the servers are recorded, and none of them has the name.

# Severity
Error, in the layer *call*.

# When it does not apply
No tool is called, or the tools of the servers are not recorded.

# Example
```json
{\"name\": \"get_wheather\"}
```
",
    since: "0.2.0",
};

impl TraceCheck for ToolUnknown {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn layer(&self) -> Layer {
        Layer::Call
    }

    fn check(&self, view: &View<'_>, _: &CallPolicy) -> Checked {
        let mut tools =
            view.calls.iter().filter(|call| call.call.kind == CallKind::Tool).peekable();
        if tools.peek().is_none() {
            return Checked::NotApplicable("no tool is called");
        }
        if view.trace.servers.iter().all(|server| server.tools_at(usize::MAX).is_none()) {
            return Checked::NotApplicable("the tools of the servers are not recorded");
        }
        let unknown = tools.filter(|call| matches!(call.offer, Offer::NotOffered));
        Checked::Findings(unknown.map(|call| fault(view, call)).collect())
    }
}

fn fault(view: &View<'_>, call: &CallView<'_>) -> Fault {
    let name = &call.call.name;
    let shown = shortened(name, 200);
    let servers = || view.trace.servers.iter();
    let called = call.call.server.as_deref().filter(|name| view.trace.server(name).is_some());
    let owner = servers().find(|server| {
        let tools = server.tools_at(call.step).unwrap_or_default();
        tools.iter().any(|tool| tool.name() == Some(name))
    });
    let owner = owner.and_then(|server| server.name.as_deref());
    let names = servers().filter_map(|server| server.tools_at(call.step)).flatten();
    let hint = match owner {
        Some(owner) => format!("server `{owner}` offers it"),
        None => match crate::nearest::nearest(name, names.filter_map(|tool| tool.name())) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "call a tool that is listed".to_owned(),
        },
    };
    Fault {
        severity: Level::Error,
        call: Some(call.position),
        pointer: String::new(),
        message: match called {
            Some(server) => format!("server `{server}` does not offer a tool `{shown}`"),
            None => format!("no server offers a tool `{shown}`"),
        },
        evidence: shown.into_owned(),
        hint,
    }
}

#[cfg(test)]
mod tests {
    use quintain_evidence::surface::Tool;
    use quintain_evidence::trace::{Call, Listing, Trace, TraceServer};
    use serde_json::json;

    use super::super::testing::{faults, found_at, server};
    use super::*;

    fn called(servers: Vec<TraceServer>, names: &[&str]) -> Trace {
        let mut trace = Trace { servers, ..Trace::default() };
        for name in names {
            trace.call(Call::tool(*name, json!({})));
        }
        trace
    }

    #[test]
    fn invented_names_are_found_and_listed_ones_are_not() {
        let servers = vec![
            server("a", vec![json!({"name": "get_weather"})]),
            server("b", vec![json!({"name": "pay"})]),
        ];
        let trace = called(servers, &["get_weather", "get_wheather", "pay", "GET_WEATHER"]);
        assert_eq!(found_at(&ToolUnknown, &trace), [1, 3]);
        assert_eq!(faults(&ToolUnknown, &trace)[0].hint, "did you mean `get_weather`?");
    }

    #[test]
    fn the_named_server_must_offer_the_tool() {
        let servers = vec![
            server("a", vec![json!({"name": "read"})]),
            server("b", vec![json!({"name": "pay"})]),
        ];
        let mut trace = called(servers, &[]);
        for name in ["a", "b", "c"] {
            trace.call(Call { server: Some(name.into()), ..Call::tool("pay", json!({})) });
        }
        assert_eq!(found_at(&ToolUnknown, &trace), [0]);
        assert_eq!(faults(&ToolUnknown, &trace)[0].hint, "server `b` offers it");
    }

    #[test]
    fn lists_change_and_unknown_lists_prove_nothing() {
        let mut server = server("a", vec![json!({"name": "old"})]);
        let tools = Some(vec![Tool(json!({"name": "new"}))]);
        server.listings.push(Listing { from: 2, tools, ..Listing::default() });
        let trace = called(vec![server], &["old", "new", "old", "new"]);
        assert_eq!(found_at(&ToolUnknown, &trace), [1, 2]);
        let unknown = TraceServer::default();
        assert_eq!(found_at(&ToolUnknown, &called(vec![unknown], &["x"])), [0; 0]);
        assert_eq!(found_at(&ToolUnknown, &called(vec![], &["x"])), [0; 0]);
    }
}
